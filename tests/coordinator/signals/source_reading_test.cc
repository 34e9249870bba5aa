// Several targets as one source.
#include "coordinator/signals/source_reading.h"

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Mapping Map() {
  return MappingFrom(R"(
kind: test
signals:
  ttft: {histogram: [ttft]}
  token_gap: {histogram: [gap]}
  running: {gauge: [run]}
  kv_fill: {gauge: [kv]}
  requests: {counter: [req]}
absent: {cancelled: nobody counts them}
)");
}

std::string Histogram(const char* name, const char* edge, int under, int n) {
  return fmt::format("{0}_bucket{{le=\"{1}\"}} {2}\n{0}_bucket{{le=\"+Inf\"}} {3}\n", name, edge,
                     under, n);
}

TEST(SourceReading, TargetsAreSummedMergedAndTheFullestCounts) {
  const std::vector<TargetReading> targets = {
      ReadingOf(Map(), {Histogram("ttft", "5", 0, 0) + "run 1\nkv 0.2\nreq 1\n",
                        Histogram("ttft", "5", 8, 10) + "run 3\nkv 0.4\nreq 11\n"}),
      ReadingOf(Map(), {Histogram("ttft", "5.0", 1, 1) + "run 2\nkv 0.9\nreq 100\n",
                        Histogram("ttft", "5.0", 4, 6) + "run 5\nkv 0.3\nreq 105\n"})};
  const SourceReading source = CombineTargets(targets);
  EXPECT_EQ(source.Of(Signal::kRequests).reading.increase, 15);
  ASSERT_EQ(source.Of(Signal::kTtft).reading.histograms.size(), 1u);
  EXPECT_EQ(source.Of(Signal::kTtft).reading.histograms[0].n, 15u);
  EXPECT_EQ(source.Of(Signal::kTtft).reading.histograms[0].at_most[0], 11u);
  EXPECT_EQ(source.Of(Signal::kRunning).reading.gauge.last, 8);
  EXPECT_EQ(source.Of(Signal::kKvFill).reading.gauge.max, 0.9);
  EXPECT_EQ(source.Of(Signal::kKvFill).reading.gauge.last, 0.4);
  EXPECT_TRUE(source.Of(Signal::kRequests).complete());
  EXPECT_EQ(source.continuity, Continuity::kWhole);
  EXPECT_THAT(source.broken, IsEmpty());
}

TEST(SourceReading, GaugesReadAtDifferentTimesStandUntilTheNextPage) {
  const Mapping mapping = Map();
  TargetReader a(std::make_shared<const Mapping>(mapping), {});
  TargetReader b(std::make_shared<const Mapping>(mapping), {});
  const auto page = [](int value) { return PageFrom(fmt::format("run {}\n", value)); };
  const TargetSample of_a[] = {a.Read(page(1), MonoTime(), 1ms),
                               a.Read(page(10), MonoTime() + 10s, 1ms)};
  const TargetSample of_b[] = {b.Read(page(5), MonoTime() + 4s, 1ms),
                               b.Read(page(2), MonoTime() + 8s, 1ms)};
  const TargetReading targets[] = {ReadTarget(mapping, of_a), ReadTarget(mapping, of_b)};
  const GaugeReading gauge = CombineTargets(targets).Of(Signal::kRunning).reading.gauge;
  ASSERT_EQ(gauge.track.size(), 3u);  // 4 s: 1 + 5; 8 s: 1 + 2; 10 s: 10 + 2.
  EXPECT_EQ(gauge.track[0].value, 6);
  EXPECT_EQ(gauge.track[1].value, 3);
  EXPECT_EQ(gauge.track[2].value, 12);
}

TEST(SourceReading, ATargetThatIsGoneIsNotCarriedOn) {
  const Mapping mapping = Map();
  TargetReader a(std::make_shared<const Mapping>(mapping), {});
  TargetReader b(std::make_shared<const Mapping>(mapping), {});
  const auto samples = [](TargetReader& reader, int value, int from, int to, bool fails) {
    std::vector<TargetSample> some;
    for (int second = 0; second < 60; second += 2) {
      const MonoTime at = MonoTime() + std::chrono::seconds(second);
      if (second >= from && second < to) {
        some.push_back(reader.Read(PageFrom(fmt::format("kv {}\n", value)), at, 1ms));
      } else if (fails) {
        some.push_back(TargetReader::Unreadable(absl::UnavailableError("gone"), at, 1ms));
      }
    }
    return some;
  };
  const auto gauge = [&](const std::vector<TargetSample>& one,
                         const std::vector<TargetSample>& other) {
    const TargetReading targets[] = {ReadTarget(mapping, one), ReadTarget(mapping, other)};
    return CombineTargets(targets).Of(Signal::kKvFill);
  };
  for (const bool fails : {true, false}) {
    const SourceSignal full = gauge(samples(a, 97, 0, 10, fails), samples(b, 40, 0, 60, true));
    EXPECT_TRUE(full.reading.here());
    // Seen until 8 s, taken to stand for two pages more where they fail.
    EXPECT_LE(LongestAtLeast(full.reading.gauge, 90), 12s) << fails;
    EXPECT_EQ(full.reading.gauge.max, 97);
  }
  const SourceSignal apart = gauge(samples(a, 97, 0, 10, true), samples(b, 40, 30, 60, true));
  EXPECT_FALSE(apart.reading.here());
  EXPECT_EQ(apart.lacking.size(), 2u);
}

TEST(SourceReading, OneOfTwoMissingIsNoWholeAndIsListed) {
  const std::string page = Histogram("ttft", "5", 1, 2) + "req 5\n";
  const std::vector<TargetReading> targets = {ReadingOf(Map(), {page, page + "run 1\n"}),
                                              ReadingOf(Map(), {page, ""})};
  const SourceReading source = CombineTargets(targets);
  const SourceSignal& requests = source.Of(Signal::kRequests);
  EXPECT_TRUE(requests.reading.here());
  EXPECT_FALSE(requests.complete());
  const std::string names[] = {"engine-0", "engine-1"};
  const Signal wanted[] = {Signal::kTtft, Signal::kRequests, Signal::kRunning, Signal::kCancelled};
  EXPECT_THAT(
      NotGot(source, "engines", names, wanted),
      ElementsAre("engines: TTFT of engine-0: nothing was observed",
                  "engines: TTFT of engine-1: the page could not be read (no answer)",
                  "engines: requests of engine-1: the page could not be read (no answer)",
                  "engines: running of engine-1: the name is not on the page (looked for run)",
                  "engines: cancellations of engine-0: this kind of server has none (nobody counts "
                  "them)",
                  "engines: cancellations of engine-1: this kind of server has none (nobody counts "
                  "them)"));
}

TEST(SourceReading, UnequalBucketsStayApart) {
  const std::vector<TargetReading> targets = {
      ReadingOf(Map(), {Histogram("ttft", "5", 0, 0), Histogram("ttft", "5", 8, 10)}),
      ReadingOf(Map(), {Histogram("ttft", "6", 0, 0), Histogram("ttft", "6", 8, 10)})};
  EXPECT_EQ(CombineTargets(targets).Of(Signal::kTtft).reading.histograms.size(), 2u);
}

TEST(SourceReading, ARestartOfOneIsSaidOfTheSource) {
  const std::vector<TargetReading> targets = {
      ReadingOf(Map(), {"req 5\n", "req 6\n"}),
      ReadingOf(Map(), {"req 5\nprocess_start_time_seconds 100\n",
                        "req 6\nprocess_start_time_seconds 200\n"})};
  const SourceReading source = CombineTargets(targets);
  EXPECT_EQ(source.continuity, Continuity::kRestarted);
  EXPECT_EQ(source.continuity_why, "its start time moved");
  ASSERT_EQ(source.broken.size(), 1u);
  EXPECT_EQ(source.broken[0].target, 1u);
}

TEST(SourceReading, EachTargetThatIsBrokenHasItsOwnReason) {
  const SourceReading source = CombineTargets(
      std::vector<TargetReading>{ReadingOf(Map(), {"req 5\n", "req 6\n"}),
                                 ReadingOf(Map(), {"req 500\nrun 1\n", "req 100\nrun 1\n"}),
                                 ReadingOf(Map(), {"req 5\nprocess_start_time_seconds 100\n",
                                                   "req 6\nprocess_start_time_seconds 200\n"})});
  ASSERT_EQ(source.broken.size(), 2u);
  EXPECT_EQ(source.Broken(0), nullptr);
  ASSERT_NE(source.Broken(1), nullptr);
  EXPECT_EQ(source.Broken(1)->continuity, Continuity::kReset);
  EXPECT_EQ(source.Broken(1)->why, "req fell from 500 to 100");
  ASSERT_NE(source.Broken(2), nullptr);
  EXPECT_EQ(source.Broken(2)->why, "its start time moved");
  EXPECT_EQ(source.continuity, Continuity::kRestarted);
}

TEST(SourceReading, InteractivityIsPerGapWhereNothingElseIs) {
  const SourceReading gaps =
      SourceOf(ReadingOf(Map(), {Histogram("gap", "0.1", 0, 0), Histogram("gap", "0.1", 8, 10)}));
  EXPECT_EQ(InteractivityOf(gaps).signal, &gaps.Of(Signal::kTokenGap));
  EXPECT_FALSE(InteractivityOf(gaps).per_request);
  const SourceReading none = SourceOf(ReadingOf(Map(), {"req 1\n", "req 1\n"}));
  EXPECT_EQ(InteractivityOf(none).signal, nullptr);
}

}  // namespace
}  // namespace plimsoll
