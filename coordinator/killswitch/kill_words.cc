#include "coordinator/killswitch/kill_words.h"

#include "common/base/text.h"
#include "fmt/format.h"

namespace plimsoll {

Signal SignalOfRule(KillSignal signal) {
  switch (signal) {
    case KillSignal::kWaiting:
      return Signal::kWaiting;
    case KillSignal::kOpenRequests:
      return Signal::kOpenRequests;
    case KillSignal::kCancellations:
      return Signal::kCancelled;
    case KillSignal::kErrors:
      return Signal::kErrors;
    case KillSignal::kKvFill:
      return Signal::kKvFill;
  }
  return Signal::kWaiting;
}

std::string KillValue(KillSignal signal, double value) {
  switch (signal) {
    case KillSignal::kWaiting:
    case KillSignal::kOpenRequests:
      return fmt::format("{:.6g}", value);
    case KillSignal::kCancellations:
      return fmt::format("{:.3g}/s", value);
    case KillSignal::kErrors:
    case KillSignal::kKvFill:
      return fmt::format("{:.3g}%", value * 100);
  }
  return {};
}

std::string KillRuleWords(const KillRule& rule) {
  std::string words = fmt::format("{} of {}", TraitsOf(SignalOfRule(rule.signal)).name,
                                  rule.production ? "production" : "the candidate");
  if (rule.over_before) {
    words += fmt::format(" over {:g}x the level before the run, and over {}", *rule.over_before,
                         KillValue(rule.signal, rule.over.value_or(KillFloor(rule.signal))));
  } else {
    words += fmt::format(" over {}", KillValue(rule.signal, rule.over.value_or(0)));
  }
  if (rule.time > Duration{0}) words += fmt::format(", for {}", ShortTime(rule.time));
  if (rule.signal == KillSignal::kErrors) {
    words += fmt::format(" and {} answers or more", rule.least);
  }
  return words;
}

}  // namespace plimsoll
