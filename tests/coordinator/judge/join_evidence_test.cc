// A step and its extension judged as one.
#include "coordinator/judge/join_evidence.h"

#include <gtest/gtest.h>

#include "coordinator/judge/judge_step.h"
#include "coordinator/judge/void_rules.h"

namespace plimsoll {
namespace {

StepEvidence Half(std::uint32_t step, std::uint32_t failed) {
  StepEvidence e;
  e.plan = {.step = step,
            .sessions = 2,
            .warm_up = step == 0 ? Duration(20s) : Duration(0),
            .measure = 60s,
            .block = 20s,
            .drain_limit = 30s};
  e.tier_names = {"heavy"};
  e.replay.tiers = {{.name = "heavy", .fidelity = {.pauses = 3}}};
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    for (std::uint8_t half = 0; half < 6; ++half) {
      CellCounts cell{
          .lane = lane, .block = half / 2u, .half = static_cast<std::uint8_t>(half % 2)};
      cell.attempts = 50;
      cell.failed = half % 2 == 0 ? failed : 0;
      cell.parts = {{.n = 50,
                     .hits = 40,
                     .hits_strict = 39,
                     .hits_loose = 41,
                     .hits_at = {1, 2, 3, 30, 45, 50, 50, 50}}};
      e.cells.push_back(cell);
      e.outcomes[static_cast<std::size_t>(Outcome::kOk)] += 50 - cell.failed;
      e.outcomes[static_cast<std::size_t>(Outcome::kRefused)] += cell.failed;
    }
  }
  e.planned_lane_ns = 2 * Duration(60s).count();
  e.lane_state_ns[static_cast<std::size_t>(LaneState::kInFlight)] = e.planned_lane_ns;
  e.agents = {{.slot = 0,
               .name = "a",
               .lanes = 2,
               .attempts = 600,
               .loop_lag_max_ns = 5 + step,
               .loop_stalled_ns = 7,
               .host = {.cores_used_max = 1.0 + step,
                        .cores = 4.0 - step,
                        .thread_share_max = 0.5,
                        .throttled_ns = 11,
                        .stolen_ns = 13,
                        .descriptors_max = 20u - step,
                        .descriptors_limit = 100,
                        .ports_max = 30u + step,
                        .ports_limit = 200u + step}}};
  e.identities = {{.name = "left = right", .left = 1, .right = 1}};
  e.ttft_ns.Record(1'000'000);
  e.requests_in_flight_mean = step == 0 ? 2 : 4;
  e.tokens_in = 10;
  return e;
}

TEST(JoinEvidence, NumbersBlocksOnAndAddsUp) {
  const StepEvidence joint = JoinEvidence(Half(0, 0), Half(1, 1));
  EXPECT_EQ(joint.plan.step, 1u);
  EXPECT_EQ(joint.plan.measure, Duration(120s));
  EXPECT_EQ(joint.plan.warm_up, Duration(20s));
  ASSERT_EQ(joint.cells.size(), 24u);
  for (std::uint32_t i = 0; i < 24; ++i) {
    const std::uint32_t half = i % 12;  // Of the joint measured time.
    EXPECT_EQ(joint.cells[i].lane, i / 12);
    EXPECT_EQ(joint.cells[i].block, half / 2);
    EXPECT_EQ(joint.cells[i].half, half % 2);
    EXPECT_EQ(joint.cells[i].failed, half >= 6 && half % 2 == 0 ? 1u : 0u);
    EXPECT_EQ(joint.cells[i].parts, Half(0, 0).cells[0].parts);
  }
  EXPECT_EQ(joint.outcomes[static_cast<std::size_t>(Outcome::kRefused)], 6u);
  EXPECT_EQ(joint.planned_lane_ns, 2 * Duration(120s).count());
  EXPECT_DOUBLE_EQ(OfferedShare(joint), 1);
  EXPECT_EQ(joint.replay.tiers[0].fidelity.pauses, 6u);
  ASSERT_EQ(joint.agents.size(), 1u);
  EXPECT_EQ(joint.agents[0].attempts, 1200u);
  EXPECT_EQ(joint.agents[0].loop_lag_max_ns, 6);
  EXPECT_EQ(joint.agents[0].loop_stalled_ns, 14);
  EXPECT_EQ(joint.agents[0].host, (HostLoad{.cores_used_max = 2.0,
                                            .cores = 3.0,
                                            .thread_share_max = 0.5,
                                            .throttled_ns = 22,
                                            .stolen_ns = 26,
                                            .descriptors_max = 20,
                                            .descriptors_limit = 100,
                                            .ports_max = 31,
                                            .ports_limit = 200}));
  EXPECT_EQ(joint.ttft_ns.count(), 2u);
  EXPECT_DOUBLE_EQ(joint.requests_in_flight_mean, 3);
  EXPECT_EQ(joint.tokens_in, 20u);
  ASSERT_EQ(joint.identities.size(), 2u);
  EXPECT_EQ(joint.identities[1].name, "left = right (extension)");
}

TEST(JoinEvidence, WhatAMachineSaidOfOneHalfIsNotTakenForTheWhole) {
  StepEvidence silent = Half(1, 0);
  silent.agents[0].host = {.stolen_ns = 4};
  EXPECT_EQ(JoinEvidence(Half(0, 0), silent).agents[0].host, (HostLoad{.stolen_ns = 17}));
  EXPECT_EQ(JoinEvidence(silent, Half(0, 0)).agents[0].host, (HostLoad{.stolen_ns = 17}));
}

TEST(JoinEvidence, WhatVoidsEitherVoidsBoth) {
  const Bar bar{.limits = {{.metric = Metric::kErrors, .value = 0.05}}};
  EXPECT_EQ(JudgeStep(JoinEvidence(Half(0, 0), Half(1, 0)), bar).verdict, Verdict::kPass);
  StepEvidence lost = Half(1, 0);
  lost.agents[0].lost = true;
  EXPECT_TRUE(JudgeStep(JoinEvidence(Half(0, 0), lost), bar).is_void);
  StepEvidence broken = Half(1, 0);
  broken.identities[0].right = 2;
  EXPECT_TRUE(JudgeStep(JoinEvidence(Half(0, 0), broken), bar).is_void);
  StepEvidence idle = Half(1, 0);
  idle.lane_state_ns = {};
  idle.lane_state_ns[static_cast<std::size_t>(LaneState::kLate)] = idle.planned_lane_ns;
  EXPECT_TRUE(JudgeStep(JoinEvidence(Half(0, 0), idle), bar).is_void);
}

TEST(JoinEvidence, BlocksAreNumberedOnThoughTheFirstStepsLastOnesAreEmpty) {
  StepEvidence quiet = Half(0, 0);
  std::erase_if(quiet.cells, [](const CellCounts& cell) { return cell.block > 0; });
  quiet.suspicion.blocks = {{.block = 0, .ttft_n = 9, .ttft_p50_ns = 5}};
  StepEvidence more = Half(1, 0);
  more.suspicion.blocks = {{.block = 1, .ttft_n = 8, .ttft_p50_ns = 6}};
  const StepEvidence joint = JoinEvidence(quiet, more);
  EXPECT_EQ(joint.cells[2].block, 3u) << "after halves 0 and 1 of block 0";
  ASSERT_EQ(joint.suspicion.blocks.size(), 2u);
  EXPECT_EQ(joint.suspicion.blocks[1].block, 4u);
}

TEST(JoinEvidence, MoreOfTheSameNarrowsTheInterval) {
  const Bar bar{.limits = {{.metric = Metric::kErrors, .value = 0.02}}};
  const auto width = [&](const StepEvidence& e) {
    const StepVerdict v = JudgeStep(e, bar);
    return v.parts[0].share_high - v.parts[0].share_low;
  };
  EXPECT_LT(width(JoinEvidence(Half(0, 1), Half(1, 1))), width(Half(0, 1)));
}

}  // namespace
}  // namespace plimsoll
