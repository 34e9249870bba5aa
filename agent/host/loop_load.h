// SelfLoad of a real event loop: its lag, and the processor time of its thread second by second.
#pragma once

#include "agent/replay/self_load.h"
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

 private:
  void Sample();

  EventLoop& loop_;
  double cpu_share_max_ = 0;
  Duration cpu_before_{};
  MonoTime sampled_{};
  Timer timer_;
};

}  // namespace plimsoll
