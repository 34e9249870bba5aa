// SelfLoad of a real event loop: its lag, and second by second the processor time of its thread and
// the wall clock against the monotonic one.
#pragma once

#include "agent/replay/self_load.h"
#include "common/base/real_clock.h"
#include "common/base/wall_watch.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

// Made and used on the loop's thread.
class LoopLoad final : public SelfLoad {
 public:
  explicit LoopLoad(EventLoop& loop);

  void Reset() override;
  Duration loop_lag_max() const override { return loop_.lag().max; }
  Duration loop_stalled() const override { return loop_.lag().stalled; }
  double cpu_share_max() const override { return cpu_share_max_; }
  Duration wall_moved() const override { return wall_.moved(); }

 private:
  void Sample();

  EventLoop& loop_;
  const RealClock clock_;
  WallWatch wall_{clock_};
  double cpu_share_max_ = 0;
  Duration cpu_before_{};
  MonoTime sampled_{};
  Timer timer_;
};

}  // namespace plimsoll
