// A source's histogram over a step: its observations, those that are still to come, and whether
// they are of all requests that were sent. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/serverjudge/server_part.h"

namespace plimsoll {

// The source's histogram over the step.
struct Observed {
  Signal signal = Signal::kTtft;
  bool per_request = true;  // An observation is one of a request.
  BucketCounts all;
  std::vector<BucketCounts> blocks;
  std::uint64_t open = 0;  // At most so many requests have no observation yet.
  std::string how;         // What that rests on.
  // What came after the measured time, until all its requests had ended; empty without such a page.
  std::optional<BucketCounts> after;
  std::string why_not;  // Not empty: it cannot be judged.
  // Evals that may be among the observations; 0 of gaps, which nobody can tell how many they had.
  std::uint64_t evals = 0;
};

// Observations at or under the edge of this index; -1: none of them, edges.size(): all.
std::uint64_t CountAtMost(const BucketCounts& counts, std::ptrdiff_t edge);

// `source` has the signal in every span. `gateway` may have no target; it may be `source` itself.
Observed Observe(Signal signal, const SourceStep& source, const SourceStep& engines,
                 const SourceStep& gateway);

// Why `seen`, the observations of a limit's histogram, are not of all the requests that were sent:
// a copy is not scraped, or a page stands still. Empty: they are. Of gaps, which are not requests,
// the source's first tokens or finished requests tell.
std::string Unseen(Signal signal, const Observed& seen, const SourceStep& source,
                   const SourceStep& engines, const SourceStep& gateway, const ClientLoad& load);

// Requests that callers had open at the ends of the measured times, by the gateway, else by what
// the engines held; absent: nobody knows.
std::optional<double> OpenAtTheEnds(const SourceStep& engines, const SourceStep& gateway);

}  // namespace plimsoll
