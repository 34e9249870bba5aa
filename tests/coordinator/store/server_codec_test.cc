// What servers said of a step, and the drain at a run's end, as they are stored.
#include "coordinator/store/server_codec.h"

#include <functional>
#include <limits>
#include <vector>

#include "coordinator/store/run_codec.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/stored_samples.h"

namespace plimsoll {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

StepRow Served() {
  StepRow row;
  row.summary.verdict.verdict = Verdict::kTooClose;
  row.summary.verdict.parts = {testing::APart(), testing::APart()};
  row.summary.server = ServerSummary{
      .mode = JudgeMode::kServer,
      .parts = {{PartSource::kClient, 0, testing::APart()},
                {PartSource::kGateway, 1, testing::APart()}},
      .not_got = {{PartSource::kGateway, "gw\xff", Signal::kTtft, Missing::kByDesign, "why \xff"},
                  {PartSource::kEngines, "engine-0", Signal::kTtft, Missing::kReset, "fell"},
                  {PartSource::kEngines, "one of 2", Signal::kTimePerToken, Missing::kNotAll, ""}},
      .outcomes = {{PartSource::kEngines, "engine-0", Continuity::kRestarted, "fell"}},
      .figures = {{PartSource::kEngines, Signal::kKvFill, 0.5, 0.97, true},
                  {PartSource::kGateway, Signal::kErrors, 3, std::nullopt, false}},
      .findings = {"a", "b"},
      .ends_sweep = SweepEvent::kKvCacheFull,
      .ends_why = "full"};
  return row;
}

TEST(ServerCodec, WhatServersSaidComesBack) {
  const StepRow row = Served();
  const auto back = DecodeStep(EncodeStep(row));
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_TRUE(back->summary.server.has_value());
  const ServerSummary& was = *row.summary.server;
  const ServerSummary& now = *back->summary.server;
  EXPECT_EQ(now.mode, was.mode);
  ASSERT_EQ(now.parts.size(), 2u);
  EXPECT_EQ(now.parts[1].source, PartSource::kGateway);
  EXPECT_EQ(now.parts[1].part, 1u);
  EXPECT_EQ(now.parts[1].verdict.reason, was.parts[1].verdict.reason);
  EXPECT_EQ(now.not_got, was.not_got);
  EXPECT_EQ(now.outcomes, was.outcomes);
  EXPECT_EQ(now.figures, was.figures);
  EXPECT_EQ(now.findings, was.findings);
  EXPECT_EQ(now.ends_sweep, was.ends_sweep);
  EXPECT_EQ(now.ends_why, was.ends_why);
  EXPECT_EQ(EncodeStep(*back), EncodeStep(row));
  EXPECT_FALSE(DecodeStep(EncodeStep({}))->summary.server.has_value());
}

TEST(ServerCodec, WhatNoServerCanHaveSaidIsDamaged) {
  const std::vector<std::function<void(ServerSummary&)>> damages = {
      [](ServerSummary& s) { s.mode = static_cast<JudgeMode>(3); },
      [](ServerSummary& s) { s.ends_sweep = static_cast<SweepEvent>(4); },
      [](ServerSummary& s) { s.parts[0].source = static_cast<PartSource>(0); },
      [](ServerSummary& s) { s.parts[0].source = static_cast<PartSource>(4); },
      [](ServerSummary& s) { s.parts[0].part = 2; },
      [](ServerSummary& s) { s.parts[0].verdict.verdict = static_cast<Verdict>(9); },
      [](ServerSummary& s) { s.not_got[0].source = PartSource::kClient; },
      [](ServerSummary& s) { s.not_got[0].signal = static_cast<Signal>(63); },
      [](ServerSummary& s) { s.not_got[0].missing = Missing::kNot; },
      [](ServerSummary& s) { s.not_got[0].missing = static_cast<Missing>(9); },
      [](ServerSummary& s) { s.outcomes[0].continuity = Continuity::kWhole; },
      [](ServerSummary& s) { s.outcomes[0].continuity = static_cast<Continuity>(4); },
      [](ServerSummary& s) { s.outcomes[0].source = static_cast<PartSource>(9); },
      [](ServerSummary& s) { s.figures[0].value = kNan; },
      [](ServerSummary& s) { s.figures[0].max = kNan; },
      [](ServerSummary& s) { s.figures[0].signal = static_cast<Signal>(0); },
      [](ServerSummary& s) { s.figures[0].source = PartSource::kClient; }};
  for (std::size_t i = 0; i < damages.size(); ++i) {
    StepRow row = Served();
    damages[i](*row.summary.server);
    EXPECT_EQ(DecodeStep(EncodeStep(row)).status().code(), absl::StatusCode::kDataLoss) << i;
  }
}

RunInfo Drained() {
  RunInfo run = testing::ARun("r-1", 5);
  run.drain =
      DrainSummary{.state = DrainState::kNotBack,
                   .took = 61s,
                   .orphaned = 3,
                   .gauges = {{PartSource::kEngines, "engine-0", Signal::kRunning, 0, 3, false},
                              {PartSource::kGateway, "gw", Signal::kOpenRequests, {}, {}, true}},
                   .lines = {"engine-0: running 3"}};
  return run;
}

TEST(ServerCodec, TheDrainComesBack) {
  const RunInfo run = Drained();
  const auto back = DecodeRun(EncodeRun(run));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->drain, run.drain);
  EXPECT_FALSE(DecodeRun(EncodeRun(testing::ARun("r-1", 5)))->drain.has_value());
}

TEST(ServerCodec, ADrainThatNoRunHasIsDamaged) {
  const std::vector<std::function<void(DrainSummary&)>> damages = {
      [](DrainSummary& d) { d.state = static_cast<DrainState>(0); },
      [](DrainSummary& d) { d.state = static_cast<DrainState>(4); },
      [](DrainSummary& d) { d.took = -1ns; },
      [](DrainSummary& d) { d.orphaned = -1; },
      [](DrainSummary& d) { d.orphaned = kNan; },
      [](DrainSummary& d) { d.gauges[0].source = PartSource::kClient; },
      [](DrainSummary& d) { d.gauges[0].signal = static_cast<Signal>(99); },
      [](DrainSummary& d) { d.gauges[0].before = kNan; },
      [](DrainSummary& d) { d.gauges[0].now = kNan; }};
  for (std::size_t i = 0; i < damages.size(); ++i) {
    RunInfo run = Drained();
    damages[i](*run.drain);
    EXPECT_EQ(DecodeRun(EncodeRun(run)).status().code(), absl::StatusCode::kDataLoss) << i;
  }
}

}  // namespace
}  // namespace plimsoll
