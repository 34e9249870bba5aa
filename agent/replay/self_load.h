// SelfLoad: what the process saw of itself since the last Reset(). The load generator must prove
// that it was not the bottleneck. Real: agent/host/loop_load.
#pragma once

#include "common/base/time.h"
#include "common/record/host_load.h"

namespace plimsoll {

class SelfLoad {
 public:
  virtual ~SelfLoad() = default;
  virtual void Reset() = 0;
  virtual Duration loop_lag_max() const = 0;
  virtual Duration loop_stalled() const = 0;  // Sum of the loop's stalls of 20 ms and more.
  virtual double cpu_share_max() const = 0;   // Of one core, the worst second.
  // How far the wall clock moved against the monotonic one, at its worst; of either sign. 0 where
  // there is no wall clock.
  virtual Duration wall_moved() const { return Duration{0}; }
  // What the process and its machine did, up to now; looks once more. Empty: nothing is known.
  virtual HostLoad host() { return {}; }
};

}  // namespace plimsoll
