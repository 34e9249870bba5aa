// What a webhook is told, as the body of a request. Pure.
#pragma once

#include <optional>
#include <string>

#include "coordinator/scenario/notify_spec.h"

namespace plimsoll {

struct NotifyMessage {
  NotifyEvent event = NotifyEvent::kStarted;
  std::string run_id;    // Empty: there is none (a window that was missed).
  std::string run_name;  // Of the scenario.
  std::string phase;     // That it was in, or that ended: "15 sessions".
  std::string verdict;   // "pass", …; empty: none yet.
  std::optional<int> exit_code;
  std::string capacity;  // In words; empty: none yet.
  std::string text;      // One line for people.
};

// {"text": "…"}: one line, with Slack's three characters escaped, so that no name in it becomes a
// link or calls anybody.
std::string SlackBody(const NotifyMessage& message);

// All fields: {"event", "run_id", "name", "phase", "verdict", "exit_code", "capacity", "text"};
// what is not known is null.
std::string JsonBody(const NotifyMessage& message);

}  // namespace plimsoll
