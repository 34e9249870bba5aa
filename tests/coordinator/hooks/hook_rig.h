// Hooks that are lines for the shell, an intent of them in a folder, and a loop to run them on.
#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "common/base/real_clock.h"
#include "common/loop/event_loop.h"
#include "coordinator/hooks/process_hooks.h"
#include "coordinator/hooks/run_intent.h"
#include "tests/coordinator/store/temp_folder.h"

namespace plimsoll {

struct HookRig {
  TempFolder folder;
  RealClock clock;
  EventLoop loop;
  Timer timer;
  std::string journal = folder.path() + "/journal";
  std::unique_ptr<RunIntent> intent;

  static HookSpec Line(const std::string& line) {
    return {.argv = {line}, .shell = true, .deadline = 60s};
  }
  IntentSpec Spec(HookSpec rollout, HookSpec rollback) const {
    rollout.env.emplace_back("JOURNAL", journal);
    rollback.env.emplace_back("JOURNAL", journal);
    return {.run_id = "r1",
            .scenario = "demo",
            .recipe = "/a.yaml",
            .recipe_digest = "d1",
            .hooks = {.rollout = rollout, .promote = {}, .rollback = rollback},
            .rules = {.grace = 50ms, .kill_after = 200ms, .retry_wait = 10ms}};
  }
  void Begin(const HookSpec& rollout, const HookSpec& rollback = Line("true")) {
    auto made = RunIntent::Create(folder.path(), Spec(rollout, rollback), clock.WallNow());
    ASSERT_TRUE(made.ok()) << made.status();
    intent = *std::move(made);
  }
  // Runs the loop until `condition`.
  void Await(const std::function<bool()>& condition) {
    const Timer stuck = loop.After(60s, [&] {
      ADD_FAILURE() << "stuck";
      loop.Stop();
    });
    std::function<void()> look = [&] {
      if (condition()) return loop.Stop();
      timer = loop.After(2ms, look);
    };
    look();
    loop.Run();
  }
  HookOutcome Run(HookPort& port, const HookCall& call = {}) {
    std::optional<HookOutcome> outcome;
    port.Run(call, [&](HookOutcome ended) { outcome = std::move(ended); });
    Await([&] { return outcome.has_value(); });
    return outcome.value_or(HookOutcome{});
  }
  std::string Journal() const {
    std::stringstream text;
    text << std::ifstream(journal).rdbuf();
    return text.str();
  }
};

}  // namespace plimsoll
