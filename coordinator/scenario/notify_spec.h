// The section `notify` of a scenario, as values: who hears of a run, and of what.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

enum class NotifyEvent : std::uint8_t {
  kStarted,
  kPhaseEnded,  // A step is judged, a phase is over.
  kVerdict,
  kRollbackFailed,
  kWindowMissed,
};
// As they are written, by value.
inline constexpr std::array<std::string_view, 5> kNotifyEventNames = {
    "started", "phase_ended", "verdict", "rollback_failed", "window_missed"};
constexpr std::string_view Name(NotifyEvent event) {
  return kNotifyEventNames[static_cast<std::size_t>(event)];
}

enum class NotifyForm : std::uint8_t {
  kSlack,  // {"text": …}, as Slack and what is compatible with it takes.
  kJson,   // Fields, for programs.
};

// Whoever knows a webhook's URL can write to it, so the scenario names where it is.
struct NotifySpec {
  std::string url_env;   // The variable that holds it; or …
  std::string url_file;  // … the file, as to be opened. Exactly one is set.
  NotifyForm form = NotifyForm::kSlack;
  std::vector<NotifyEvent> on = {NotifyEvent::kStarted, NotifyEvent::kPhaseEnded,
                                 NotifyEvent::kVerdict, NotifyEvent::kRollbackFailed,
                                 NotifyEvent::kWindowMissed};
  friend bool operator==(const NotifySpec&, const NotifySpec&) = default;
};
inline constexpr std::size_t kNotifyMax = 8;

// "$SLACK_WEBHOOK" or the file's path: how a webhook is called, since its URL is not said.
inline std::string LabelOf(const NotifySpec& spec) {
  return spec.url_env.empty() ? spec.url_file : "$" + spec.url_env;
}

}  // namespace plimsoll
