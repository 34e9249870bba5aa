// Faults on demand: which of the configured ones a request meets. Pure: a function of rules, seed,
// the request's number and the time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/base/time.h"

namespace plimsoll {

enum class FaultKind : std::uint8_t {
  kRefuse,         // Answers `status`, with Retry-After if one is set.
  kErrorAfter200,  // An error object in a stream that began well.
  kTruncate,       // The connection ends without finish reason or [DONE].
  kCrash,          // The process exits abruptly.
  kHtml,           // Everything is answered with a web page and 200.
  kBadToolCalls,   // A tool call's arguments break off; answers without one are spared.
};

struct FaultRule {
  FaultKind kind = FaultKind::kRefuse;
  Duration at{0};                   // From then on …
  Duration span = Duration::max();  // … for so long.
  bool from_first_request = false;  // Times run from the first chat request, not from the start.
  double probability = 1;           // Of each request in that time.
  int status = 429;                 // kRefuse.
  Duration retry_after{-1};         // kRefuse; negative: no such header.
  std::uint32_t after_tokens = 1;   // kErrorAfter200, kTruncate: tokens sent before it.
};

// Instants as durations since the gateway's start.
struct FaultMoment {
  Duration elapsed{0};
  std::optional<Duration> first_request;  // Absent: none yet.
};

// The first rule that strikes chat request number `number`; null: none.
const FaultRule* FaultFor(std::span<const FaultRule> rules, std::uint64_t seed,
                          std::uint64_t number, const FaultMoment& moment);

// Whether the web page answers whatever is asked at this moment.
bool HtmlAt(std::span<const FaultRule> rules, const FaultMoment& moment);

// When the process crashes by itself, for the rules without a probability; absent: not as far as
// is known before the first request.
std::optional<Duration> CrashAt(std::span<const FaultRule> rules,
                                std::optional<Duration> first_request);

}  // namespace plimsoll
