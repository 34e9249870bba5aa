// Two pages and more of one target: differences, resets, restarts, and the ways to be missing.
#include "coordinator/signals/target_reading.h"

#include <cmath>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char kMapping[] = R"(
kind: test
model_label: model
same: [pid]
signals:
  ttft: {histogram: [ttft_seconds, old_ttft], moves: first_token}
  duration: {histogram: [dur_ms], unit: ms}
  running: {gauge: [run]}
  kv_fill: {gauge: [kv], unit: percent, combine: max}
  awake: {ratio: {of: [num], to: [den]}, combine: mean}
  mean_running: {lifetime_mean: {mean: [busy], weight: [steps]}}
  requests: {counter: [req_total, old_req_total]}
  errors: {counter: [{name: req_total, where: {code: {prefix: ["4", "5"]}}}], lazy: true}
  finished: {counter: [{name: req_total, where: {code: {in: ["200"]}}}]}
  waiting: {gauge: [{name: wait, plus: [wait_more]}]}
absent:
  cancelled: nobody counts them
)";

Mapping Map() {
  return MappingFrom(kMapping);
}

std::string Ttft(int a, int b, int n, const std::string& labels = "") {
  return fmt::format(
      "ttft_seconds_bucket{{{0}le=\"1\"}} {1}\nttft_seconds_bucket{{{0}le=\"5.0\"}} {2}\n"
      "ttft_seconds_bucket{{{0}le=\"+Inf\"}} {3}\nttft_seconds_count{{{0}}} {3}\n"
      "ttft_seconds_sum{{{0}}} {3}\n",
      labels, a, b, n);
}

TEST(TargetReading, CountersAreDifferencesOverAllOfTheirSeries) {
  const TargetReading reading = ReadingOf(
      Map(),
      {"req_total{code=\"200\"} 10\nreq_total{code=\"429\"} 1\n",
       "req_total{code=\"200\"} 25\nreq_total{code=\"429\"} 4\nreq_total{code=\"500\"} 2\n"});
  EXPECT_EQ(reading.continuity, Continuity::kWhole);
  EXPECT_EQ(reading.Of(Signal::kRequests).increase, 20);  // A new series began at 0.
  EXPECT_EQ(reading.Of(Signal::kErrors).increase, 5);
  EXPECT_EQ(reading.Of(Signal::kFinished).increase, 15);
  EXPECT_EQ(reading.Of(Signal::kRequests).name, "req_total");
}

TEST(TargetReading, TheFourWaysToBeMissingAndTheReason) {
  const TargetReading reading =
      ReadingOf(Map(),
                {Ttft(1, 2, 3) + "req_total{code=\"200\"} 1\nrun{model=\"b\"} 4\nkv NaN\n",
                 Ttft(1, 2, 3) + "req_total{code=\"200\"} 1\nrun{model=\"b\"} 4\nkv NaN\n"},
                {.model = "a"});
  EXPECT_EQ(reading.Of(Signal::kDuration).missing, Missing::kNoName);
  EXPECT_THAT(reading.Of(Signal::kDuration).why, HasSubstr("looked for dur_ms"));
  EXPECT_EQ(reading.Of(Signal::kRunning).missing, Missing::kNoSeries);  // Another model's.
  EXPECT_EQ(reading.Of(Signal::kTtft).missing, Missing::kNothing);
  EXPECT_EQ(reading.Of(Signal::kKvFill).missing, Missing::kNothing);  // NaN is not 0.
  EXPECT_EQ(reading.Of(Signal::kCancelled).missing, Missing::kByDesign);
  EXPECT_EQ(reading.Of(Signal::kCancelled).why, "nobody counts them");
  EXPECT_EQ(reading.Of(Signal::kRefused).missing, Missing::kNotMapped);
  // No series of errors where there are others means none happened.
  EXPECT_TRUE(reading.Of(Signal::kErrors).here());
  EXPECT_EQ(reading.Of(Signal::kErrors).increase, 0);
}

TEST(TargetReading, APageThatCouldNotBeReadAtAnEndMakesDifferencesMissing) {
  const std::string page = "req_total{code=\"200\"} 5\nrun 3\n";
  for (const std::vector<std::string>& pages :
       {std::vector<std::string>{"", page, page}, {page, page, ""}}) {
    const TargetReading reading = ReadingOf(Map(), pages);
    EXPECT_EQ(reading.Of(Signal::kRequests).missing, Missing::kNoPage);
    EXPECT_EQ(reading.Of(Signal::kRequests).why, "no answer");
    EXPECT_TRUE(reading.Of(Signal::kRunning).here());
    EXPECT_EQ(reading.unreadable, 1u);
  }
  EXPECT_TRUE(ReadingOf(Map(), {page, "", page}).Of(Signal::kRequests).here());
  const TargetReading none = ReadingOf(Map(), {"", ""});
  EXPECT_EQ(none.Of(Signal::kRunning).missing, Missing::kNoPage);
  EXPECT_EQ(none.pages, 0u);
  EXPECT_EQ(ReadTarget(Map(), {}).Of(Signal::kRunning).missing, Missing::kNoPage);
  EXPECT_EQ(ReadingOf(Map(), {page}).Of(Signal::kRequests).missing, Missing::kNothing);
}

TEST(TargetReading, HistogramsMergeWhereTheirEdgesAreEqual) {
  const TargetReading reading =
      ReadingOf(Map(), {Ttft(1, 2, 3, "e=\"0\",") + Ttft(0, 0, 0, "e=\"1\","),
                        Ttft(11, 22, 33, "e=\"0\",") + Ttft(1, 1, 2, "e=\"1\",") +
                            "ttft_seconds_bucket{e=\"2\",le=\"2\"} 4\n"
                            "ttft_seconds_bucket{e=\"2\",le=\"+Inf\"} 5\n"});
  const SignalReading& ttft = reading.Of(Signal::kTtft);
  ASSERT_EQ(ttft.histograms.size(), 2u);
  EXPECT_EQ(ttft.histograms[0], (BucketCounts{{1, 5}, {11, 21}, 32, 32, false}));
  EXPECT_EQ(ttft.histograms[1].edges, std::vector<double>{2});
  EXPECT_EQ(ttft.histograms[1].n, 5u);
  EXPECT_TRUE(std::isnan(ttft.histograms[1].sum));
}

TEST(TargetReading, EdgesAreScaledAndComparedAsNumbers) {
  const auto page = [](int n, const char* edge) {
    return fmt::format("dur_ms_bucket{{le=\"{}\"}} {}\ndur_ms_bucket{{le=\"+Inf\"}} {}\n", edge, n,
                       n);
  };
  const TargetReading reading = ReadingOf(Map(), {page(1, "6.7108864e+07"), page(4, "67108864.0")});
  const SignalReading& duration = reading.Of(Signal::kDuration);
  ASSERT_EQ(duration.histograms.size(), 1u);
  EXPECT_DOUBLE_EQ(duration.histograms[0].edges[0], 67108.864);
  EXPECT_EQ(duration.histograms[0].n, 3u);
  EXPECT_EQ(reading.continuity, Continuity::kWhole);
}

TEST(TargetReading, BucketsThatFallInsideAPageAreRaisedAndSaid) {
  const TargetReading reading =
      ReadingOf(Map(), {Ttft(0, 0, 0),
                        "ttft_seconds_bucket{le=\"1\"} 5\nttft_seconds_bucket{le=\"5.0\"} 3\n"
                        "ttft_seconds_bucket{le=\"+Inf\"} 6\n"});
  const BucketCounts& counts = reading.Of(Signal::kTtft).histograms.at(0);
  EXPECT_EQ(counts.at_most, (std::vector<std::uint64_t>{5, 5}));
  EXPECT_TRUE(counts.repaired);
  const TargetReading no_infinity =
      ReadingOf(Map(), {"ttft_seconds_bucket{le=\"1\"} 5\n", "ttft_seconds_bucket{le=\"1\"} 6\n"});
  EXPECT_EQ(no_infinity.Of(Signal::kTtft).missing, Missing::kNoSeries);
  EXPECT_THAT(no_infinity.Of(Signal::kTtft).why, HasSubstr("+Inf"));
}

TEST(TargetReading, ACounterThatFellIsAReset) {
  const TargetReading reading =
      ReadingOf(Map(), {"req_total{code=\"200\"} 100\nreq_total{code=\"429\"} 7\n",
                        "req_total{code=\"200\"} 30\nreq_total{code=\"429\"} 9\n",
                        "req_total{code=\"200\"} 35\nreq_total{code=\"429\"} 9\n"});
  EXPECT_EQ(reading.continuity, Continuity::kReset);
  EXPECT_EQ(reading.continuity_why, "req_total{code=\"200\"} fell from 100 to 30");
  EXPECT_EQ(reading.Of(Signal::kFinished).increase, 35);
  EXPECT_EQ(reading.Of(Signal::kErrors).increase, 2);
}

TEST(TargetReading, AResetOfAHistogramIsDecidedForAllOfItsBuckets) {
  // The bucket "1" did not fall, and yet its 3 are all new.
  const TargetReading reading = ReadingOf(Map(), {Ttft(2, 50, 60), Ttft(3, 4, 5)});
  EXPECT_EQ(reading.continuity, Continuity::kReset);
  EXPECT_EQ(reading.Of(Signal::kTtft).histograms.at(0),
            (BucketCounts{{1, 5}, {3, 4}, 5, 5, false}));
}

TEST(TargetReading, WhereEveryCounterFellItIsARestart) {
  const TargetReading reading = ReadingOf(Map(), {Ttft(2, 50, 60) + "req_total{code=\"200\"} 100\n",
                                                  Ttft(0, 1, 1) + "req_total{code=\"200\"} 2\n"});
  EXPECT_EQ(reading.continuity, Continuity::kRestarted);
  EXPECT_EQ(reading.Of(Signal::kRequests).increase, 2);
  // A series that is gone has fallen, too.
  const TargetReading gone =
      ReadingOf(Map(), {"req_total{code=\"200\"} 9\n" + Ttft(1, 1, 1), "run 1\n" + Ttft(1, 1, 1)});
  EXPECT_EQ(gone.continuity, Continuity::kReset);
  EXPECT_EQ(gone.continuity_why, "req_total{code=\"200\"} is gone");
}

TEST(TargetReading, AStartTimeThatMovedIsARestartThoughCountersAreHigher) {
  const TargetReading reading =
      ReadingOf(Map(), {"process_start_time_seconds 1.7e9\nreq_total{code=\"200\"} 10\n",
                        "process_start_time_seconds 1700000090.5\nreq_total{code=\"200\"} 25\n"});
  EXPECT_EQ(reading.continuity, Continuity::kRestarted);
  EXPECT_EQ(reading.continuity_why, "its start time moved");
  EXPECT_EQ(reading.Of(Signal::kRequests).increase, 25);
  // The head of an answer stands in where the page does not say it.
  TargetReader reader(std::make_shared<const Mapping>(Map()), {});
  const Page page = PageFrom("req_total 1\n");
  const TargetSample samples[] = {reader.Read(page, MonoTime(), 1ms, 100.0),
                                  reader.Read(page, MonoTime() + 1s, 1ms, 100.3),
                                  reader.Read(page, MonoTime() + 2s, 1ms, 200.0)};
  EXPECT_EQ(ReadTarget(Map(), std::span(samples).first(2)).continuity, Continuity::kWhole);
  EXPECT_EQ(ReadTarget(Map(), samples).continuity, Continuity::kRestarted);
}

TEST(TargetReading, SeveralServersBehindOneAddressAreSeen) {
  const auto page = [](int count) { return fmt::format("req_total{{code=\"200\"}} {}\n", count); };
  const TargetReading reading =
      ReadingOf(Map(), {page(100), page(20), page(110), page(25), page(120)});
  EXPECT_EQ(reading.continuity, Continuity::kAlternates);
  EXPECT_THAT(reading.continuity_why, HasSubstr("fall, come back and fall again"));
  const auto started = [&page](int count, int start) {
    return page(count) + fmt::format("process_start_time_seconds {}\n", start);
  };
  EXPECT_EQ(ReadingOf(Map(), {started(5, 100), started(6, 200), started(7, 100)}).continuity,
            Continuity::kAlternates);
  // Two restarts are two restarts.
  EXPECT_EQ(ReadingOf(Map(), {started(50, 100), started(6, 200), started(7, 300)}).continuity,
            Continuity::kRestarted);
  // Also where it had counted as much again in between.
  const TargetReading twice =
      ReadingOf(Map(), {started(50, 100), started(6, 200), started(60, 200), started(5, 300)});
  EXPECT_EQ(twice.continuity, Continuity::kRestarted);
  EXPECT_EQ(twice.continuity_why, "its start time moved");
}

TEST(TargetReading, TheFirstAlternativeOnThePageCountsAndIsNeverSummed) {
  const std::string both_before = "req_total 10\nold_req_total 100\n";
  const std::string both_after = "req_total 15\nold_req_total 205\n";
  EXPECT_EQ(ReadingOf(Map(), {both_before, both_after}).Of(Signal::kRequests).increase, 5);
  const TargetReading old = ReadingOf(Map(), {"old_req_total 1\n", "old_req_total 4\n"});
  EXPECT_EQ(old.Of(Signal::kRequests).increase, 3);
  EXPECT_EQ(old.Of(Signal::kRequests).name, "old_req_total");
  // An alternative that was read from stays, though a better one comes.
  EXPECT_EQ(ReadingOf(Map(), {"old_req_total 1\n", "req_total 500\nold_req_total 4\n"})
                .Of(Signal::kRequests)
                .increase,
            3);
  // Where it goes, nothing is known of the other one before.
  const TargetReading renamed =
      ReadingOf(Map(), {"old_req_total 1\n", "req_total 500\n", "req_total 501\n"});
  EXPECT_EQ(renamed.Of(Signal::kRequests).increase, 1);
  EXPECT_EQ(ReadingOf(Map(), {"old_req_total 1\n", "run 1\n", "req_total 500\n", "req_total 501\n"})
                .Of(Signal::kRequests)
                .increase,
            1);
  EXPECT_NE(renamed.continuity, Continuity::kWhole);
}

TEST(TargetReading, CopiesOfOneEventAreOneTheirRanksAreSummed) {
  const auto page = [](int a, int b, int c) {
    return fmt::format(
        "req_total{{dp=\"0\",pid=\"1\"}} {}\nreq_total{{dp=\"0\",pid=\"2\"}} {}\n"
        "req_total{{dp=\"1\",pid=\"3\"}} {}\n"
        "kv{{pid=\"1\"}} {}\nkv{{pid=\"2\"}} {}\n",
        a, b, c, a, b);
  };
  const TargetReading reading = ReadingOf(Map(), {page(1, 1, 5), page(11, 12, 25)});
  EXPECT_EQ(reading.Of(Signal::kRequests).increase, 11 + 20);
  EXPECT_DOUBLE_EQ(reading.Of(Signal::kKvFill).gauge.last, 0.12);  // Percent.
}

TEST(TargetReading, GaugesHaveAMaximumAndAMeanOverTime) {
  TargetReader reader(std::make_shared<const Mapping>(Map()), {});
  std::vector<TargetSample> samples;
  const std::pair<int, int> points[] = {{0, 10}, {10, 20}, {30, 5}, {40, 7}};
  for (const auto& [second, value] : points) {
    const Page page =
        PageFrom(fmt::format("run{{r=\"0\"}} {}\nrun{{r=\"1\"}} 1\nkv{{r=\"0\"}} {}\n"
                             "kv{{r=\"1\"}} 50\nnum 6\nden{{x=\"1\"}} 4\n"
                             "den{{x=\"2\"}} 8\nwait 2\n",
                             value, value * 10));
    samples.push_back(reader.Read(page, MonoTime() + std::chrono::seconds(second), 1ms));
  }
  const TargetReading reading = ReadTarget(Map(), samples);
  const GaugeReading& run = reading.Of(Signal::kRunning).gauge;
  EXPECT_EQ(run.track.size(), 4u);
  EXPECT_EQ(run.last, 8);
  EXPECT_EQ(run.min, 6);
  EXPECT_EQ(run.max, 21);
  EXPECT_DOUBLE_EQ(run.mean, (11 * 10 + 21 * 20 + 6 * 10) / 40.0);
  const GaugeReading& kv = reading.Of(Signal::kKvFill).gauge;
  EXPECT_DOUBLE_EQ(kv.max, 2);  // The fullest rank.
  EXPECT_DOUBLE_EQ(kv.last, 0.7);
  EXPECT_EQ(LongestAtLeast(kv, 0.95), 10s);  // From the first page to the second one.
  EXPECT_EQ(LongestAtLeast(kv, 0.5), 40s);
  EXPECT_EQ(LongestAtLeast(kv, 1.5), 0s);                 // One page shows no time.
  EXPECT_EQ(reading.Of(Signal::kAwake).gauge.last, 0.5);  // 6 of 4 + 8.
  EXPECT_EQ(reading.Of(Signal::kWaiting).gauge.last, 2);  // What is added may be absent.
}

TEST(TargetReading, NamesThatAreAddedAreSummed) {
  const TargetReading reading = ReadingOf(Map(), {"wait 2\nwait_more{q=\"x\"} 3\nwait_more 4\n"});
  EXPECT_EQ(reading.Of(Signal::kWaiting).gauge.last, 9);
  EXPECT_EQ(ReadingOf(Map(), {"wait_more 3\n"}).Of(Signal::kWaiting).missing, Missing::kNoName);
}

TEST(TargetReading, AMeanSinceTheStartGivesTheMeanOfTheTimeBetween) {
  const TargetReading reading = ReadingOf(Map(), {"busy 2\nsteps 100\n", "busy 2.5\nsteps 200\n"});
  EXPECT_DOUBLE_EQ(reading.Of(Signal::kMeanRunning).gauge.last, 3);
  // A mean may fall; its weight may not.
  EXPECT_DOUBLE_EQ(ReadingOf(Map(), {"busy 2\nsteps 100\n", "busy 1.5\nsteps 200\n"})
                       .Of(Signal::kMeanRunning)
                       .gauge.last,
                   1);
  EXPECT_EQ(ReadingOf(Map(), {"busy 2\nsteps 100\n", "busy 2\nsteps 100\n"})
                .Of(Signal::kMeanRunning)
                .missing,
            Missing::kNothing);
}

TEST(TargetReading, ASourceMayBeNarrowedByLabelsItHas) {
  const std::string page =
      "req_total{route=\"a/x\"} 1\nreq_total{route=\"b/x\"} 2\nreq_total{other=\"1\"} 4\n";
  const std::string later =
      "req_total{route=\"a/x\"} 11\nreq_total{route=\"b/x\"} 102\nreq_total{other=\"1\"} 1004\n";
  const SourceFilter filter{.model = "", .where = {{"route", LabelTest::Op::kPrefix, {"a/"}}}};
  EXPECT_EQ(ReadingOf(Map(), {page, later}, filter).Of(Signal::kRequests).increase, 10 + 1000);
}

TEST(TargetReading, ABlockIsReadBetweenThePagesNearestToItsEdges) {
  const auto page = [](int count) { return fmt::format("req_total {}\n", count); };
  // At 0, 10, 20, 30 and 40 s.
  const std::vector<TargetSample> samples =
      SamplesOf(Map(), {page(1), page(3), page(7), page(15), page(31)}, {}, 10s);
  const auto increase = [&samples](Duration from, Duration to) {
    const MonoTime begin{};
    return ReadTarget(Map(), SamplesBetween(samples, begin + from, begin + to))
        .Of(Signal::kRequests)
        .increase;
  };
  EXPECT_EQ(increase(0s, 40s), 30);
  EXPECT_EQ(increase(11s, 29s), 12);
  EXPECT_EQ(increase(9s, 19s) + increase(19s, 31s), increase(9s, 31s));
  EXPECT_TRUE(SamplesBetween({}, MonoTime(), MonoTime() + 1s).empty());
  EXPECT_EQ(SamplesBetween(samples, MonoTime() + 35s, MonoTime() + 99s).size(), 1u);
  const TargetReading reading = ReadTarget(Map(), samples);
  EXPECT_EQ(reading.first, MonoTime());
  EXPECT_EQ(reading.last, MonoTime() + 40s);
  EXPECT_EQ(reading.last_uncertainty, 1ms);
}

TEST(TargetReading, ManySeriesAreNoTrouble) {
  std::string before;
  std::string after;
  for (int i = 0; i < 3000; ++i) {
    before += Ttft(0, 1, 2, fmt::format("route=\"{}\",", i));
    after += Ttft(1, 2, 4, fmt::format("route=\"{}\",", i));
  }
  const TargetReading reading = ReadingOf(Map(), {before, after, after});
  ASSERT_EQ(reading.Of(Signal::kTtft).histograms.size(), 1u);
  EXPECT_EQ(reading.Of(Signal::kTtft).histograms[0].n, 6000u);
  EXPECT_EQ(reading.Of(Signal::kTtft).counted, 6000);
}

TEST(TargetReading, PagesMadeToHurtAreReadInTime) {
  // One histogram of very many edges, and very many lists of them.
  std::string edges;
  std::string lists;
  for (int i = 0; i < 8'000; ++i) {
    edges += fmt::format("ttft_seconds_bucket{{le=\"{}\"}} {}\n", i + 1, i);
    lists += fmt::format(
        "ttft_seconds_bucket{{a=\"{0}\",le=\"{0}.5\"}} 1\n"
        "ttft_seconds_bucket{{a=\"{0}\",le=\"+Inf\"}} 1\n",
        i);
  }
  edges += "ttft_seconds_bucket{le=\"+Inf\"} 8000\n";
  const TargetReading one = ReadingOf(Map(), {"run 1\n", edges});
  EXPECT_EQ(one.Of(Signal::kTtft).histograms.at(0).edges.size(), 8'000u);
  // The second time under other names: none of the series stays.
  std::string others = lists;
  for (std::size_t at = 0; (at = others.find("{a=", at)) != std::string::npos; ++at) {
    others[at + 1] = 'b';
  }
  const TargetReading many = ReadingOf(Map(), {"run 1\n", lists, others});
  EXPECT_EQ(many.Of(Signal::kTtft).missing, Missing::kNoSeries);
  EXPECT_EQ(many.Of(Signal::kTtft).why, "its series have more than 16 lists of buckets");
  EXPECT_NE(many.continuity, Continuity::kWhole);
}

TEST(TargetReading, FewDigitsAreAnUncertainty) {
  const Mapping mapping = MappingFrom(
      "kind: x\ndigits: 6\nsignals: {tokens_out: {counter: [t]}, requests: {counter: [r]}}\n");
  const TargetReading reading =
      ReadingOf(mapping, {"t 1.20138e+06\nr 99439\n", "t 1.21956e+06\nr 103427\n"});
  EXPECT_EQ(reading.Of(Signal::kTokensOut).increase, 18180);
  EXPECT_EQ(reading.Of(Signal::kTokensOut).uncertainty, 10);
  EXPECT_EQ(reading.Of(Signal::kRequests).uncertainty, 0);
}

}  // namespace
}  // namespace plimsoll
