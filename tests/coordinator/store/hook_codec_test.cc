// A run's hooks as they are kept, and what is damaged.
#include "coordinator/store/hook_codec.h"

#include "coordinator/store/run_codec.h"
#include "coordinator/store/run_repo.h"
#include "gtest/gtest.h"
#include "plimsoll/v1/hooks.pb.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

HookOutcome AnOutcome() {
  return {.phase = HookPhase::kRollBack,
          .attempt = 2,
          .state = HookState::kTimedOut,
          .exit_code = 0,
          .signal = 9,
          .started = WallTime(1'800'000'000s),
          .duration = 3s,
          .output = std::string("a\xff\0b", 4),
          .output_cut_bytes = 7,
          .note = "n\xff"};
}

TEST(HookCodec, KeepsEveryFieldAndItsAbsence) {
  EXPECT_EQ(*DecodeHook(EncodeHook(AnOutcome())), AnOutcome());
  HookOutcome bare = AnOutcome();
  bare.exit_code.reset();
  bare.signal.reset();
  EXPECT_EQ(*DecodeHook(EncodeHook(bare)), bare);
}

TEST(HookCodec, OfAnOutputTooLongTheEndIsKept) {
  HookOutcome outcome = AnOutcome();
  outcome.output = "x" + std::string(kHookTailBytesMax, 'y');
  const auto back = DecodeHook(EncodeHook(outcome));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->output, std::string(kHookTailBytesMax, 'y'));
  EXPECT_EQ(back->output_cut_bytes, 8u);
}

TEST(HookCodec, WhatCannotBeIsDamaged) {
  const auto spoiled = [](const std::function<void(v1::StoredHook&)>& spoil) {
    v1::StoredHook stored;
    EXPECT_TRUE(stored.ParseFromString(EncodeHook(AnOutcome())));
    spoil(stored);
    return absl::IsDataLoss(DecodeHook(stored.SerializeAsString()).status());
  };
  EXPECT_FALSE(spoiled([](v1::StoredHook&) {}));
  for (const int kind : {0, 6, -1}) {
    EXPECT_TRUE(
        spoiled([&](auto& hook) { hook.set_state(static_cast<v1::StoredHookState>(kind)); }));
    EXPECT_TRUE(
        spoiled([&](auto& hook) { hook.set_phase(static_cast<v1::StoredHookPhase>(kind)); }));
  }
  EXPECT_TRUE(spoiled([](auto& hook) { hook.set_attempt(0); }));
  EXPECT_TRUE(spoiled([](auto& hook) { hook.set_duration_ns(-1); }));
  EXPECT_TRUE(
      spoiled([](auto& hook) { hook.set_output(std::string(kHookTailBytesMax + 1, 'a')); }));
  EXPECT_TRUE(absl::IsDataLoss(DecodeHook("\xff").status()));
}

TEST(RunRepo, KeepsHooksByPhaseAndAttemptInTheOrderOfTheirStart) {
  MemoryStore store;
  RunRepo repo(store);
  HookOutcome rollout{.phase = HookPhase::kRollout, .started = WallTime(1s)};
  HookOutcome promote{.phase = HookPhase::kPromote, .started = WallTime(9s)};
  HookOutcome back{.phase = HookPhase::kRollBack, .started = WallTime(5s)};
  for (const HookOutcome& hook : {promote, back, rollout, back}) {
    ASSERT_TRUE(repo.PutHook("r1", hook).ok());
  }
  ASSERT_TRUE(repo.PutHook("r10", back).ok());
  EXPECT_EQ(*repo.Hooks("r1"), (std::vector<HookOutcome>{rollout, back, promote}));
  EXPECT_EQ(repo.Hooks("r2")->size(), 0u);
  EXPECT_TRUE(absl::IsInvalidArgument(repo.PutHook("a/b", back)));
  back.attempt = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(repo.PutHook("r1", back)));
}

TEST(RunRepo, AHookUnderAnothersKeyIsDamaged) {
  MemoryStore store;
  const HookOutcome hook{.phase = HookPhase::kRollout, .attempt = 1};
  ASSERT_TRUE(store
                  .Commit({{keys::Encode(keys::HookKey{"r1", 1, 2}), EncodeHook(hook)}},
                          Durability::kSynced)
                  .ok());
  EXPECT_TRUE(absl::IsDataLoss(RunRepo(store).Hooks("r1").status()));
}

TEST(RunCodec, KeepsHowTheRollbackStandsAndThatARunWasInterrupted) {
  RunInfo run{.id = "r1", .started = WallTime(5ns), .state = RunState::kInterrupted};
  EXPECT_EQ(DecodeRun(EncodeRun(run))->rollback, std::nullopt);
  EXPECT_EQ(DecodeRun(EncodeRun(run))->state, RunState::kInterrupted);
  for (const RollbackState state : {RollbackState::kDone, RollbackState::kFailed}) {
    run.rollback = state;
    EXPECT_EQ(DecodeRun(EncodeRun(run))->rollback, state);
  }
  run.rollback = static_cast<RollbackState>(3);
  EXPECT_TRUE(absl::IsDataLoss(DecodeRun(EncodeRun(run)).status()));
}

}  // namespace
}  // namespace plimsoll
