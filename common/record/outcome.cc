#include "common/record/outcome.h"

#include <ostream>

namespace plimsoll {

std::string_view Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kContextOverflow:
      return "context_overflow";
    case Outcome::kHttpError:
      return "http_error";
    case Outcome::kStreamError:
      return "stream_error";
    case Outcome::kTruncated:
      return "truncated";
    case Outcome::kEmpty:
      return "empty";
    case Outcome::kDeadline:
      return "deadline";
    case Outcome::kIdleTimeout:
      return "idle_timeout";
    case Outcome::kConnectError:
      return "connect_error";
    case Outcome::kCut:
      return "cut";
    case Outcome::kClientError:
      return "client_error";
  }
  return "unknown";  // A number that no peer of ours may send; never stored (IsOutcome).
}

std::optional<Outcome> OutcomeNamed(std::string_view name) {
  for (unsigned value = 1; value < kOutcomes; ++value) {
    if (Name(static_cast<Outcome>(value)) == name) return static_cast<Outcome>(value);
  }
  return std::nullopt;
}

void PrintTo(Outcome outcome, std::ostream* out) {
  *out << Name(outcome);
}

}  // namespace plimsoll
