// The drain check on servers that count what the test tells them, and on recorded pages.
#include "coordinator/serverjudge/drain_check.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "coordinator/judge/server_words.h"
#include "coordinator/signals/exposition.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/serverjudge/fake_servers.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr MonoTime kEnded{1000s};

// Before the run, at its end, and every second of ten since.
struct Drain {
  FakeEngine engine;
  FakeEnvoy envoy;

  DrainSummary Check() {
    SignalHistory all = HistoryFrom({&engine, &envoy});
    SignalHistory before = all;
    SignalHistory since = all;
    for (TargetSeries& t : before.targets)
      std::erase_if(t.samples, [](const auto& s) { return s.at >= MonoTime{100s}; });
    for (TargetSeries& t : since.targets)
      std::erase_if(t.samples, [](const auto& s) { return s.at < kEnded; });
    return CheckDrain(before, since, kEnded, kEnded + 10s);
  }
  void Read(MonoTime at) {
    engine.Scrape(at);
    envoy.Scrape(at);
  }
  void ReadBefore() {
    Read(MonoTime{10s});
    Read(MonoTime{20s});
  }
};

TEST(DrainCheckTest, IsBackOnceTwoReadsShowTheLevelOfBeforeAndNoCounterMoves) {
  Drain drain;
  drain.ReadBefore();
  drain.engine.running = 3;
  drain.Read(kEnded + 1s);
  EXPECT_EQ(drain.Check().state, DrainState::kUnknown);  // Read once.
  drain.Read(kEnded + 2s);
  EXPECT_EQ(drain.Check().state, DrainState::kNotBack);
  drain.engine.running = 0;
  drain.engine.Answer(0.3);
  drain.Read(kEnded + 3s);
  const DrainSummary falling = drain.Check();
  EXPECT_EQ(falling.state, DrainState::kNotBack);
  EXPECT_THAT(falling.lines, Contains(HasSubstr("still moves")));
  drain.Read(kEnded + 4s);
  const DrainSummary back = drain.Check();
  EXPECT_EQ(back.state, DrainState::kBack) << Words(back);
  EXPECT_EQ(back.took, 10s);
  ASSERT_EQ(back.gauges.size(), 3u);
  EXPECT_TRUE(back.gauges[0].back);
  EXPECT_EQ(back.orphaned, 0);
}

TEST(DrainCheckTest, AFrozenGaugeIsNotBackAndSaidToBePerhapsFrozen) {
  Drain drain;
  drain.ReadBefore();
  drain.engine.running = 106;
  for (int i = 1; i < 5; ++i) drain.Read(kEnded + i * 1s);
  const DrainSummary state = drain.Check();
  EXPECT_EQ(state.state, DrainState::kNotBack);
  EXPECT_THAT(state.lines, Contains(AllOf(HasSubstr("engine-0: running 106, before the run 0"),
                                          HasSubstr("no counter moves"))));
  EXPECT_EQ(state.orphaned, 106);
  EXPECT_THAT(state.lines,
              Contains(::testing::EndsWith("orphaned work, if those gauges are right")));
}

TEST(DrainCheckTest, WorkThatNobodyWaitsForIsOrphaned) {
  Drain drain;
  drain.ReadBefore();
  drain.engine.running = 2;
  drain.envoy.open = 1;
  for (int i = 1; i < 4; ++i) {
    drain.engine.tokens_out += 50;
    drain.Read(kEnded + i * 1s);
  }
  const DrainSummary state = drain.Check();
  EXPECT_EQ(state.state, DrainState::kNotBack);
  EXPECT_EQ(state.orphaned, 1);
  EXPECT_THAT(state.lines, Contains(::testing::EndsWith("orphaned work")));
}

TEST(DrainCheckTest, ASharedGatewayHasATolerance) {
  Drain drain;
  drain.envoy.open = 20;
  drain.ReadBefore();
  drain.envoy.accepted += 100;  // The others' calls went on all the time.
  drain.Read(MonoTime{30s});
  drain.envoy.open = 22;
  drain.envoy.accepted += 5;
  drain.Read(kEnded + 1s);
  drain.envoy.accepted += 5;
  drain.Read(kEnded + 2s);
  EXPECT_EQ(drain.Check().state, DrainState::kBack) << Words(drain.Check());
  drain.envoy.open = 23;
  drain.Read(kEnded + 3s);
  EXPECT_EQ(drain.Check().state, DrainState::kNotBack);
}

TEST(DrainCheckTest, APageThatCannotBeReadConfirmsNothing) {
  Drain drain;
  drain.ReadBefore();
  drain.Read(kEnded + 1s);
  drain.engine.down = true;
  drain.Read(kEnded + 2s);
  const DrainSummary state = drain.Check();
  EXPECT_EQ(state.state, DrainState::kUnknown);
  EXPECT_THAT(Words(state), AllOf(HasSubstr("not known"), HasSubstr("connection refused")));
}

TEST(DrainCheckTest, WithoutATargetNothingIsKnown) {
  EXPECT_EQ(CheckDrain({}, {}, kEnded, kEnded).state, DrainState::kUnknown);
}

std::string Recorded(const std::string& name) {
  std::ifstream file(std::string(PLIMSOLL_SHARED_DIR "/reference/signals/") + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TargetSeries SeriesOf(std::string_view source, const std::string& kind,
                      const std::vector<std::pair<MonoTime, std::string>>& pages) {
  StatusOr<Mapping> mapping = BuiltinMapping(kind);
  TargetSeries series{.source = std::string(source),
                      .name = kind,
                      .samples = {},
                      .mapping = std::make_shared<const Mapping>(*std::move(mapping))};
  TargetReader reader(series.mapping, SourceFilter{});
  PageParser parser;
  for (const auto& [at, text] : pages) {
    StatusOr<Page> page = parser.Parse(text, PageSyntax::kText);
    EXPECT_TRUE(page.ok()) << MessageOf(page.status());
    if (page.ok()) series.samples.push_back(reader.Read(*page, at, 1ms));
  }
  return series;
}

// before, and two equal pages at the end.
DrainSummary OfRecorded(const std::string& kind, const std::string& stem, const std::string& end) {
  const std::string before = Recorded(stem + ".before.prom");
  const std::string after = Recorded(end);
  SignalHistory was;
  was.targets.push_back(SeriesOf(kEnginesSource, kind, {{MonoTime{1s}, before}}));
  SignalHistory since;
  since.targets.push_back(
      SeriesOf(kEnginesSource, kind, {{kEnded + 1s, after}, {kEnded + 2s, after}}));
  return CheckDrain(was, since, kEnded, kEnded + 60s);
}

TEST(DrainCheckTest, TheRecordedPagesAreTold) {
  if (!std::filesystem::exists(PLIMSOLL_SHARED_DIR "/reference/signals/README.md")) {
    GTEST_SKIP() << "the recorded pages are not here";
  }
  EXPECT_EQ(OfRecorded("vllm", "vllm_v1", "vllm_v1.drained.prom").state, DrainState::kBack)
      << Words(OfRecorded("vllm", "vllm_v1", "vllm_v1.drained.prom"));
  EXPECT_EQ(OfRecorded("sglang", "sglang", "sglang.drained.prom").state, DrainState::kBack)
      << Words(OfRecorded("sglang", "sglang", "sglang.drained.prom"));
  const DrainSummary stale = OfRecorded("sglang", "sglang", "sglang.drained_but_gauge_stale.prom");
  EXPECT_EQ(stale.state, DrainState::kNotBack);
  EXPECT_THAT(stale.lines, Contains(HasSubstr("no counter moves")));
  // All was aborted, and the gauges stand as they were: served for ever.
  const DrainSummary frozen = OfRecorded("vllm", "vllm_v1", "vllm_v1.after.prom");
  EXPECT_EQ(frozen.state, DrainState::kNotBack);
  EXPECT_THAT(Words(frozen), HasSubstr("running 15"));
}

}  // namespace
}  // namespace plimsoll
