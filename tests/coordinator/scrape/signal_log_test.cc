// Samples in memory: what Between gives, and that two hours of many targets stay within the bound.
#include "coordinator/scrape/signal_log.h"

#include "tests/coordinator/scrape/scrape_rig.h"

namespace plimsoll {
namespace {

MonoTime At(double seconds) {
  return MonoTime(FromSeconds(seconds));
}

std::vector<double> TimesOf(const std::vector<TargetSample>& samples) {
  std::vector<double> times;
  times.reserve(samples.size());
  for (const TargetSample& sample : samples) {
    times.push_back(ToSeconds(sample.at.time_since_epoch()));
  }
  return times;
}

TargetSample Failed(double at) {
  return TargetReader::Unreadable(absl::UnavailableError("down"), At(at), 1ms);
}

using ::testing::ElementsAre;

TEST(SignalLog, GivesTheSamplesAroundATime) {
  SignalLog log;
  const std::size_t target = log.AddTarget("engines", "a", SharedMapping("vllm"));
  for (const double at : {1.0, 2.0, 3.0, 4.0, 5.0}) log.Add(target, Failed(at));
  const auto between = [&](double from, double to) {
    return TimesOf(log.Between(At(from), At(to)).targets.at(0).samples);
  };
  EXPECT_THAT(between(2.5, 3.5), ElementsAre(2, 3, 4));
  EXPECT_THAT(between(2, 3), ElementsAre(2, 3)) << "edges that are samples are enough";
  EXPECT_THAT(between(0, 9), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(between(7, 9), ElementsAre(5)) << "the last one before it";
  EXPECT_THAT(between(0, 0.5), ElementsAre(1));
}

TEST(SignalLog, GroupsTargetsBySourceAndLeavesRetiredOnesOut) {
  SignalLog log;
  const auto mapping = SharedMapping("vllm");
  (void)log.AddTarget("production", "p", mapping);
  (void)log.AddTarget("engines", "e1", mapping);
  const std::size_t stand_in = log.AddTarget("gateway", "stand-in", mapping);
  (void)log.AddTarget("gateway", "g", mapping);
  (void)log.AddTarget("engines", "e2", mapping);
  log.Retire(stand_in);
  std::vector<std::string> names;
  for (const TargetSeries& series : log.Between(At(0), At(1)).targets) {
    names.push_back(series.name);
    EXPECT_NE(series.mapping, nullptr);
  }
  EXPECT_THAT(names, ElementsAre("g", "e1", "e2", "p"));
}

TEST(SignalLog, DropsWhatIsNotLaterThanTheLast) {
  SignalLog log;
  const std::size_t target = log.AddTarget("engines", "a", SharedMapping("vllm"));
  for (const double at : {2.0, 1.0, 2.0, 3.0}) log.Add(target, Failed(at));
  EXPECT_THAT(TimesOf(log.Between(At(0), At(9)).targets[0].samples), ElementsAre(2, 3));
}

TEST(SignalLog, WaitsForWhoWasNeverAsked) {
  SignalLog log;
  const std::size_t a = log.AddAsker();
  const std::size_t b = log.AddAsker();
  log.Asked(a, At(5), false);
  EXPECT_FALSE(log.AskedSince(At(1)));
  log.Asked(b, At(2), true);
  EXPECT_TRUE(log.AskedSince(At(5))) << "one that fails is not waited for";
  log.Asked(b, At(3), false);
  EXPECT_FALSE(log.AskedSince(At(5)));
  EXPECT_TRUE(log.AskedSince(At(3)));
}

// Two hours of 64 targets read each second, with a bound scaled down with the samples.
TEST(SignalLog, StaysWithinItsBoundAndKeepsRecentTimeWhole) {
  constexpr std::size_t kTargets = 8;
  constexpr std::size_t kBound = std::size_t{4} << 20;
  SignalLog log(kBound);
  const auto mapping = SharedMapping("vllm");
  PageParser parser;
  TargetReader reader(mapping, {});
  const StatusOr<Page> page = parser.Parse(VllmPage(1, 1), PageSyntax::kText);
  ASSERT_TRUE(page.ok());
  for (std::size_t i = 0; i < kTargets; ++i) {
    (void)log.AddTarget("engines", std::to_string(i), mapping);
  }
  for (int second = 1; second <= 7200; ++second) {
    for (std::size_t i = 0; i < kTargets; ++i) log.Add(i, reader.Read(*page, At(second), 1ms));
    if (second % 600 == 0) {
      EXPECT_LE(log.bytes(), kBound) << second;
    }
  }
  const std::vector<TargetSample> all = log.Between(At(0), At(7200)).targets[0].samples;
  EXPECT_EQ(all.front().at, At(1)) << "the baseline is never given up";
  EXPECT_EQ(all.back().at, At(7200));
  EXPECT_GE(log.Between(At(6900), At(7200)).targets[0].samples.size(), 300u);
  EXPECT_LT(all.size(), 7200u) << "the bound was reached, or this test shows nothing";
  EXPECT_EQ(all.front().selection, all.back().selection) << "samples share what is alike";
}

TEST(SignalLog, ATargetOfHugeSamplesKeepsAFew) {
  SignalLog log(1000);
  const std::size_t target = log.AddTarget("engines", "a", SharedMapping("vllm"));
  for (int i = 1; i <= 100; ++i) {
    TargetSample sample = Failed(i);
    sample.values.assign(10'000, 1.0);
    log.Add(target, std::move(sample));
  }
  const auto samples = log.Between(At(0), At(100)).targets[0].samples;
  EXPECT_LE(samples.size(), 8u);
  EXPECT_EQ(samples.back().at, At(100));
}

}  // namespace
}  // namespace plimsoll
