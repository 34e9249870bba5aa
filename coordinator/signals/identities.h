// Identities between counters: cheap ways to find a server, or a mapping, that does not count what
// it says. A broken one is a finding beside the numbers that it concerns. Pure.
// Sources: the servers' own code, as the names in `what` say; see docs/signals.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/signals/source_reading.h"

namespace plimsoll {

struct IdentityCheck {
  enum class State : std::uint8_t { kHolds, kBroken, kUnknown };
  std::string_view key;   // "hits<=queries".
  std::string_view what;  // "the prefix cache finds at most what it was asked for".
  State state = State::kUnknown;
  double left = 0;  // The two sides, where known.
  double right = 0;
  std::string why;  // Of kUnknown: which signal is missing.
};

// Of one source, an engine or a gateway, by itself:
//   buckets=count      a histogram's +Inf bucket and its _count are equal, its counts never fall
//   mean-in-buckets    sum / count lies where its buckets allow
//   gaps=tokens        gaps between tokens = tokens out - first tokens (fewer with speculative
//                      decoding, and said as such: a gap is then no token's)
//   in=computed+cached prompt tokens
//   hits<=queries, queries<=tokens_in
//   finished<=durations
// Counters that move at different moments of a request are compared only where nothing was under
// way on the first page nor on the last.
std::vector<IdentityCheck> CheckSource(const SourceReading& source);

// Of a gateway and the engines behind it:
//   started<=admitted  first tokens of engines <= requests the gateway admitted
//   first-tokens       the gateway saw as many first tokens as the engines made (retries and
//                      buffering break it, and that is worth knowing)
//   open=in-engine     requests in the engines = requests open at the gateway, at the end: more is
//                      work nobody waits for, fewer are callers who wait for something else
//   accounted          admitted = finished + cancelled + the change of what is open
std::vector<IdentityCheck> CheckGateway(const SourceReading& gateway, const SourceReading& engines);

// "open=in-engine: 44 against 40: …", one line.
std::string IdentityWords(const IdentityCheck& check);

}  // namespace plimsoll
