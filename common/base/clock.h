// Clock: the only source of instants. Real in processes, virtual in tests/sim.
#pragma once

#include "common/base/time.h"

namespace plimsoll {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual MonoTime MonoNow() const = 0;  // Never steps; for latencies and deadlines.
  virtual WallTime WallNow() const = 0;  // May step; for labels only.
};

}  // namespace plimsoll
