#include "coordinator/hooks/hook_tries.h"

#include <algorithm>
#include <utility>

namespace plimsoll {

void HookTries::Run(HookCall first, std::function<void(const HookOutcome&)> each,
                    std::function<void(HookOutcome)> done) {
  call_ = std::move(first);
  each_ = std::move(each);
  done_ = std::move(done);
  made_ = 0;
  stopped_ = false;
  Try();
}

void HookTries::Stop() {
  stopped_ = true;
  if (pause_.armed()) {
    pause_ = scheduler_.After(Duration{}, [this] { std::exchange(done_, nullptr)(last_); });
  } else {
    port_.Abort();
  }
}

void HookTries::Try() {
  pause_.Cancel();
  ++made_;
  port_.Run(call_, [this](HookOutcome outcome) { OnOutcome(std::move(outcome)); });
}

void HookTries::OnOutcome(HookOutcome outcome) {
  last_ = std::move(outcome);
  if (each_) each_(last_);
  if (last_.ok() || stopped_ || made_ >= rules_.tries) {
    // Moved out: the callback may destroy the object that owns it.
    const auto done = std::exchange(done_, nullptr);
    return done(std::move(last_));
  }
  Duration wait = rules_.wait;
  for (std::uint32_t n = 1; n < made_ && wait < rules_.wait_max; ++n) wait *= 2;
  ++call_.attempt;
  pause_ = scheduler_.After(std::min(wait, rules_.wait_max), [this] { Try(); });
}

}  // namespace plimsoll
