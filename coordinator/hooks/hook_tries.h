// Starts a hook until it ends well or its tries are used up, with growing pauses between. On a
// scheduler, so that it runs in virtual time.
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/scheduler.h"
#include "common/base/time.h"
#include "coordinator/hooks/hook_runner.h"

namespace plimsoll {

struct TryRules {
  std::uint32_t tries = 1;  // At least one is made.
  Duration wait = 1s;       // Before the second; doubles from then on …
  Duration wait_max = 30s;  // … up to this.
};

class HookTries {
 public:
  // `port` and `scheduler` outlive it; nobody else uses the port meanwhile.
  HookTries(HookPort& port, Scheduler& scheduler, TryRules rules)
      : port_(port), scheduler_(scheduler), rules_(rules) {}

  // Attempts count on from first.attempt. `each` gets every outcome before the next try; `done` the
  // last, once: an ok one, or the one after which no try is left or Stop() was called. `done` may
  // destroy the object.
  void Run(HookCall first, std::function<void(const HookOutcome&)> each,
           std::function<void(HookOutcome)> done);
  // No further try: what runs is ended, a pause is cut short.
  void Stop();

 private:
  void Try();
  void OnOutcome(HookOutcome outcome);

  HookPort& port_;
  Scheduler& scheduler_;
  TryRules rules_;
  HookCall call_;
  std::uint32_t made_ = 0;
  bool stopped_ = false;
  HookOutcome last_;
  Timer pause_;
  std::function<void(const HookOutcome&)> each_;
  std::function<void(HookOutcome)> done_;
};

}  // namespace plimsoll
