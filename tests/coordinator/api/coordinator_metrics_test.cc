#include "coordinator/api/coordinator_metrics.h"

#include <cmath>

#include "coordinator/api/agent_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/metrics/page_reader.h"
#include "tests/coordinator/api/sample_runs.h"

namespace plimsoll {
namespace {

using testing::ALiveStatus;
using testing::ARun;
using testing::ReadMetrics;

TEST(CoordinatorMetrics, ShowsTheRunThatIsGoingOn) {
  const RunCounts runs = CountRuns(
      {ARun("a", 1), ARun("b", 2, RunState::kFinished), ARun("c", 3, RunState::kFinished)});
  const auto read = ReadMetrics(
      MetricsPage(CoordinatorMetrics(runs, LiveRun{.run_id = "a", .status = ALiveStatus()})));
  const auto& samples = read.samples;
  EXPECT_EQ(samples.at("plimsoll_runs{state=\"running\"}"), 1);
  EXPECT_EQ(samples.at("plimsoll_runs{state=\"finished\"}"), 2);
  EXPECT_EQ(samples.at("plimsoll_runs{state=\"failed\"}"), 0);
  EXPECT_EQ(samples.at("plimsoll_run_live"), 1);
  EXPECT_EQ(samples.at("plimsoll_run_phase{phase=\"step\"}"), 1);
  EXPECT_EQ(samples.at("plimsoll_run_phase{phase=\"preflight\"}"), 0);
  EXPECT_EQ(samples.at("plimsoll_run_running_seconds"), 95);
  EXPECT_EQ(samples.at("plimsoll_step_index"), 2);
  EXPECT_EQ(samples.at("plimsoll_steps_judged"), 2);
  EXPECT_EQ(samples.at("plimsoll_lanes_planned"), 15);
  EXPECT_EQ(samples.at("plimsoll_lanes"), 14);
  EXPECT_EQ(samples.at("plimsoll_calls_in_flight"), 13);
  EXPECT_EQ(samples.at("plimsoll_records_acked_total"), 4321);
  EXPECT_EQ(samples.at("plimsoll_step_attempts{outcome=\"refused\"}"), 3);
  EXPECT_EQ(samples.at("plimsoll_step_ttft_p90_seconds"), 1.5);
  EXPECT_EQ(samples.at("plimsoll_step_interactivity_p90_tokens_per_second"), 31.5);
  EXPECT_EQ(samples.at("plimsoll_agents_alive"), 1);
  EXPECT_EQ(samples.at("plimsoll_fleet_agent_silent_seconds{slot=\"1\",agent=\"b\"}"), 20);
}

TEST(CoordinatorMetrics, AnInfiniteTtftIsSaid) {
  LiveStatus status = ALiveStatus();
  status.numbers.ttft_p90_s.reset();
  status.numbers.ttft_p90_infinite = true;
  const auto read =
      ReadMetrics(MetricsPage(CoordinatorMetrics({}, LiveRun{.run_id = "a", .status = status})));
  EXPECT_TRUE(std::isinf(read.samples.at("plimsoll_step_ttft_p90_seconds")));
}

TEST(CoordinatorMetrics, WhatIsAbsentHasNoSample) {
  LiveStatus status = ALiveStatus();
  status.step.reset();
  status.numbers.ttft_p90_s.reset();
  const auto page = MetricsPage(CoordinatorMetrics({}, LiveRun{.run_id = "a", .status = status}));
  EXPECT_THAT(page, ::testing::Not(::testing::HasSubstr("ttft_p90")));
  EXPECT_THAT(page, ::testing::Not(::testing::HasSubstr("step_index")));
  ReadMetrics(page);
}

TEST(CoordinatorMetrics, WithoutARunHereItsSeriesAreGone) {
  for (const auto& live : {std::optional<LiveRun>(), std::optional(LiveRun{.run_id = "a"})}) {
    const auto read = ReadMetrics(MetricsPage(CoordinatorMetrics({}, live)));
    EXPECT_EQ(read.samples.at("plimsoll_run_live"), 0);
    EXPECT_FALSE(read.samples.contains("plimsoll_lanes"));
  }
}

TEST(AgentTable, ALineAnAgent) {
  EXPECT_EQ(AgentTable({}), "no agent has dialled in yet\n");
  const std::string table = AgentTable(ALiveStatus().agents);
  EXPECT_THAT(table, ::testing::ContainsRegex("a\"1 +alive +0 +8 +16.0 GiB +7 +6 +0.5 s\n"));
  EXPECT_THAT(table, ::testing::ContainsRegex("b +lost +1 +4 +0.0 GiB +0 +0 +20.0 s\n"));
}

}  // namespace
}  // namespace plimsoll
