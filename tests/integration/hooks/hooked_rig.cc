// What a coordinator does with hooks and nothing else, for being killed: the intent, the guardian,
// rollout, rollback with its tries, the end. hooked_rig PLIMSOLL STORE RUN GRACE_MS TRIES ROLLOUT
// ROLLBACK; the hooks are lines for the shell. Says each thing that it has done.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "common/base/real_clock.h"
#include "common/loop/event_loop.h"
#include "coordinator/hooks/hook_tries.h"
#include "coordinator/hooks/hooked_run.h"

namespace {

void Say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

int Code(const plimsoll::Status& status) {
  Say(std::string(plimsoll::MessageOf(status)));
  return 4;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace plimsoll;
  if (argc != 8) return 64;
  RealClock clock;
  EventLoop loop;
  const auto line = [](const char* text, int tries) {
    return HookSpec{
        .argv = {text}, .shell = true, .deadline = 60s, .tries = static_cast<std::uint32_t>(tries)};
  };
  const IntentSpec spec{
      .run_id = argv[3],
      .scenario = "rig",
      .hooks = {.rollout = line(argv[6], 1),
                .promote = {},
                .rollback = line(argv[7], std::atoi(argv[5]))},
      .rules = {.grace = FromMillis(std::atoi(argv[4])), .kill_after = 300ms, .retry_wait = 50ms}};
  auto run = HookedRun::Begin(
      {.loop = loop, .clock = clock, .store_folder = argv[2], .program = argv[1], .say = Say},
      spec);
  if (!run.ok()) return Code(run.status());
  Say("guarded");
  int code = 0;
  const auto each = [](const HookOutcome& outcome) { Say(HookSentence(outcome)); };
  const Duration wait = spec.rules.retry_wait;
  HookTries rollout((*run)->port(), loop, {.tries = spec.hooks.rollout.tries, .wait = wait});
  HookTries rollback((*run)->port(), loop, {.tries = spec.hooks.rollback.tries, .wait = wait});
  rollout.Run({.phase = HookPhase::kRollout, .verdict = "none"}, each, [&](HookOutcome) {
    rollback.Run({.phase = HookPhase::kRollBack, .verdict = "pass"}, each, [&](HookOutcome last) {
      code = last.ok() ? 0 : 6;
      const Status kept =
          (*run)->Settle(last.ok() ? IntentState::kRolledBack : IntentState::kFailed);
      if (!kept.ok()) code = Code(kept);
      loop.Stop();
    });
  });
  loop.Run();
  Say("over");
  return code;
}
