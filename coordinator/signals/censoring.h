// Requests that a histogram does not know yet: those still open at the end of a time. Pure.
//
// Under overload the open requests are the slow ones, so what a histogram shows while they are open
// is too good. Their number is bounded from above, and CountAt (buckets.h) counts them both ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coordinator/signals/source_reading.h"

namespace plimsoll {

struct OpenAtEnd {
  // At most so many requests may still become an observation; absent: nobody knows, so that the
  // histogram must not be judged before a drained read.
  std::optional<std::uint64_t> most;
  std::string how;  // In words: what the bound rests on, or what is missing for one.
};

// Of the histogram of `signal` of the engines. The bound is what callers have open at the gateway,
// or without a gateway (null) what is running and waiting in the engines. Of a histogram that moves
// at the first token it is also at most what the gateway had open before and admitted since, less
// the first tokens that were observed: requests that hung up before theirs stay in it.
OpenAtEnd OpenWithoutObservation(Signal signal, const SourceReading& engines,
                                 const SourceReading* gateway);

}  // namespace plimsoll
