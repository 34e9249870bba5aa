// SignalFeed: what servers say of themselves, as the run asks for it. Real: coordinator/scrape, on
// a thread of its own. In tests: whatever holds samples.
#pragma once

#include "common/base/time.h"
#include "coordinator/signals/step_readings.h"

namespace plimsoll {

// Instants are those of the run's own monotonic clock. Called on the run's thread; never blocks for
// longer than it takes to copy the samples.
class SignalFeed {
 public:
  virtual ~SignalFeed() = default;

  // Of each target the samples from the last one at or before `from` to the first one at or after
  // `to`, as far as there are any: ReadTarget and SamplesBetween (target_reading.h) find the edges
  // of a step and of its blocks in them. Samples of a long past time may have been thinned out.
  virtual SignalHistory Between(MonoTime from, MonoTime to) const = 0;

  // Whether every target has been asked at or after `at`, and has answered or failed. A target that
  // fails again and again is asked less often and is not waited for: what it last said counts.
  virtual bool AskedSince(MonoTime at) const = 0;

  // Asks every target that is not being asked now, out of its turn: at an edge that matters.
  virtual void AskNow() = 0;
};

}  // namespace plimsoll
