// What a source of a server's numbers needs of a step to be judged, and what it says of one limit.
#pragma once

#include <cstdint>
#include <optional>

#include "coordinator/judge/eval_traffic.h"
#include "coordinator/judge/verdict.h"
#include "coordinator/serverjudge/source_step.h"

namespace plimsoll {

// How much load was sent: all that a server's verdict takes from the client's records.
struct ClientLoad {
  std::uint32_t sessions = 0;      // Held at once.
  std::uint64_t attempts = 0;      // Released in the measured time.
  std::uint64_t first_tokens = 0;  // Calls of it that got one.
  std::uint64_t ok = 0;            // Attempts that ended well.
  std::uint64_t one_chunk = 0;     // Of them answers in one chunk.
  std::uint64_t refused = 0;
  // Attempts that their callers gave up: past their deadline, after too long a silence, or cut by
  // the drain limit. A server may have answered them with a good status, and observed nothing more.
  std::uint64_t hung_up = 0;
  std::uint64_t unanswered = 0;  // At most so many of them got no first token.
  double in_flight = 0;          // Mean of requests in flight.
  double sent_share = 1;         // Of the planned lane-time.
  // Asked beside it, in the same measured time: no load, but among what a server counts.
  EvalTraffic evals{};
};

// Counts at two places differ by what straddles the ends of the measured time, and by this share.
inline constexpr double kCountsApartShare = 0.02;

// Whether a server that counted `seen` within the measured time, and at its end had `open` requests
// to count yet, has seen all of `sent`: in the part of that time that lies between its pages. What
// had begun before that time counts among `seen`, so as many as were in flight then can be missing
// unnoticed.
bool HasSeenAll(double seen, double open, double sent, const SourceStep& source);

struct ServerPart {
  PartVerdict verdict;
  // It is the number that the limit is about, so that it can contradict the client's: not the time
  // per gap for the time per request, nor error statuses for failures that come after a status.
  bool comparable = true;
  // This signal of the source is not of all that was sent: no data, for the verdict's reason.
  std::optional<Signal> unseen{};
};

// "no data", for this reason.
ServerPart NoServerData(const Limit& limit, std::string reason);

}  // namespace plimsoll
