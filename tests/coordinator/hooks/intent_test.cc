#include "coordinator/hooks/intent.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

HookSpec AHook(const char* program) {
  return {.argv = {program, "a b", "\"q\"\n", "ü", ""},
          .shell = true,
          .directory = "/srv/x y",
          .deadline = 7min,
          .env = {{"A", "1=2"}, {"B", ""}},
          .tries = 3};
}

Intent AnIntent() {
  Intent intent;
  intent.spec = {.run_id = "20261130-1-demo",
                 .scenario = "demo",
                 .recipe = "/a.yaml\n/b.yaml",
                 .recipe_digest = std::string(64, 'a'),
                 .hooks = {.rollout = AHook("./out.sh"), .promote = {}, .rollback = AHook("back")},
                 .rules = {.grace = 1s, .kill_after = 2s, .retry_wait = 3s, .retry_wait_max = 4s}};
  intent.token = "abc";
  intent.created = WallTime(1'800'000'000s);
  intent.state = IntentState::kFailed;
  intent.holder_kind = HolderKind::kGuardian;
  intent.holder = {.pid = 12, .start_ticks = 1ull << 60, .place = "boot pid:[1]"};
  NotedHook ended{.process = {.pid = 13, .start_ticks = 5, .place = "p"}, .ended = true};
  ended.outcome = {.phase = HookPhase::kRollout,
                   .attempt = 2,
                   .state = HookState::kTimedOut,
                   .signal = 15,
                   .started = WallTime(1'800'000'001s),
                   .duration = 3s,
                   .note = "n"};
  NotedHook runs{.process = {.pid = 14, .start_ticks = 6, .place = "p"}};
  runs.outcome = {.phase = HookPhase::kRollBack, .attempt = 1, .started = WallTime(9s)};
  NotedHook failed{.ended = true};
  failed.outcome = {.phase = HookPhase::kRollBack,
                    .attempt = 2,
                    .state = HookState::kFailed,
                    .exit_code = 3,
                    .started = WallTime(9s)};
  intent.hooks = {ended, runs, failed};
  intent.said = {{WallTime(10s), "line ü"}};
  return intent;
}

TEST(Intent, ComesBackAsItWentIn) {
  const auto back = DecodeIntent(EncodeIntent(AnIntent()));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, AnIntent());
}

TEST(Intent, CountsAttemptsAndSuccesses) {
  Intent intent = AnIntent();
  EXPECT_EQ(intent.NextAttempt(HookPhase::kRollout), 3u);
  EXPECT_EQ(intent.NextAttempt(HookPhase::kRollBack), 3u);
  EXPECT_EQ(intent.NextAttempt(HookPhase::kPromote), 1u);
  EXPECT_FALSE(intent.Succeeded(HookPhase::kRollBack));
  // One that runs has the state "ok" as long as nothing else is known.
  EXPECT_TRUE(intent.hooks[1].outcome.ok());
  intent.hooks[1].ended = true;
  EXPECT_TRUE(intent.Succeeded(HookPhase::kRollBack));
}

TEST(Intent, WhatCannotBeCarriedOutIsRefused) {
  const auto check = [](const std::function<void(IntentSpec&)>& spoil) {
    IntentSpec spec = AnIntent().spec;
    spoil(spec);
    const Status status = CheckIntent(spec);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    // Nor is it taken from a file.
    Intent intent = AnIntent();
    intent.spec = spec;
    EXPECT_TRUE(absl::IsDataLoss(DecodeIntent(EncodeIntent(intent)).status()));
  };
  ASSERT_TRUE(CheckIntent(AnIntent().spec).ok());
  for (const char* id : {"", ".", "..", "../x", "a/b", "a b"}) {
    check([&](IntentSpec& spec) { spec.run_id = id; });
  }
  check([](IntentSpec& spec) { spec.run_id = std::string(65, 'a'); });
  check([](IntentSpec& spec) { spec.hooks.rollback.argv.clear(); });
  check([](IntentSpec& spec) { spec.hooks.rollback.argv[0].clear(); });
  check([](IntentSpec& spec) { spec.hooks.rollout.deadline = 0s; });
  check([](IntentSpec& spec) { spec.hooks.rollout.deadline = 25h; });
  check([](IntentSpec& spec) { spec.hooks.rollback.tries = 0; });
  check([](IntentSpec& spec) { spec.hooks.rollback.tries = 101; });
  check([](IntentSpec& spec) { spec.hooks.rollback.env = {{"A=B", "c"}}; });
  check([](IntentSpec& spec) { spec.rules.grace = -1s; });
  check([](IntentSpec& spec) { spec.hooks.rollback.argv.push_back(std::string("a\0b", 3)); });
}

TEST(Intent, TextThatWouldComeBackAsAnotherIsRefused) {
  IntentSpec spec = AnIntent().spec;
  spec.hooks.rollback.argv.push_back("a\xff");
  EXPECT_THAT(std::string(MessageOf(CheckIntent(spec))), HasSubstr("UTF-8"));
}

TEST(Intent, DamagedFilesAreSaidNeverTaken) {
  const std::string good = EncodeIntent(AnIntent());
  for (const char* text : {"", "{}", "[]", "null", "7", "{\"version\": 2}", "\xff\xfe"}) {
    EXPECT_TRUE(absl::IsDataLoss(DecodeIntent(text).status())) << text;
  }
  // Every beginning of it, and every value replaced by one of another kind.
  for (std::size_t size = 0; size < good.size() - 2; size += 7) {
    EXPECT_FALSE(DecodeIntent(good.substr(0, size)).ok()) << size;
  }
  for (const char* value : {"null", "-1", "1e30", "[]", "{}", "\"x\"", "99999999999999999999"}) {
    for (std::size_t at = good.find("\": "); at != std::string::npos;
         at = good.find("\": ", at + 1)) {
      std::size_t end = good.find_first_of(",\n", at);
      (void)DecodeIntent(good.substr(0, at + 3) + value + good.substr(end));
    }
  }
}

TEST(Intent, ChangedBytesDoNoHarm) {
  const std::string good = EncodeIntent(AnIntent());
  constexpr std::uint64_t kSeed = 20261201;
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed);
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (int n = 0; n < 3; ++n) text[rng.Below(text.size())] = static_cast<char>(rng.Below(256));
    const auto intent = DecodeIntent(text);
    EXPECT_TRUE(!intent.ok() || CheckIntent(intent->spec).ok());
  }
}

}  // namespace
}  // namespace plimsoll
