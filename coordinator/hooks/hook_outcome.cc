#include "coordinator/hooks/hook_outcome.h"

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {

const char* Name(HookState state) {
  switch (state) {
    case HookState::kOk:
      return "ok";
    case HookState::kFailed:
      return "failed";
    case HookState::kTimedOut:
      return "timed out";
    case HookState::kCouldNotStart:
      return "could not start";
    case HookState::kKilled:
      return "killed";
  }
  return "unknown";
}

const char* Name(RollbackState state) {
  return state == RollbackState::kDone ? "done" : "failed";
}

std::string HookSentence(const HookOutcome& outcome) {
  std::string text = fmt::format("{} (attempt {})", Name(outcome.phase), outcome.attempt);
  const std::string after = " after " + ShortTime(outcome.duration);
  switch (outcome.state) {
    case HookState::kOk:
      text += " ended well" + after;
      break;
    case HookState::kFailed:
      text += outcome.exit_code ? fmt::format(" failed with exit code {}", *outcome.exit_code)
              : outcome.signal  ? fmt::format(" was ended by signal {}", *outcome.signal)
                                : std::string(" failed");
      text += after;
      break;
    case HookState::kTimedOut:
      text += " ran into its deadline and was ended" + after;
      break;
    case HookState::kCouldNotStart:
      text += " could not start";
      break;
    case HookState::kKilled:
      text += " was ended by us" + after;
      break;
  }
  if (!outcome.note.empty()) text += ": " + Printable(outcome.note);
  return text;
}

}  // namespace plimsoll
