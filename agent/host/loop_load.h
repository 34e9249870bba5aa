// SelfLoad of a real event loop: its lag, and second by second the processor time of its thread,
// the wall clock against the monotonic one, and what the process and its machine do.
#pragma once

#include "agent/host/host_sampler.h"
#include "agent/replay/self_load.h"
#include "common/base/real_clock.h"
#include "common/base/wall_watch.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

// Made and used on the loop's thread.
class LoopLoad final : public SelfLoad {
 public:
  // `view`: where to look for what the machine does.
  explicit LoopLoad(EventLoop& loop, HostView view = ThisHost());

  void Reset() override;
  Duration loop_lag_max() const override { return loop_.lag().max; }
  Duration loop_stalled() const override { return loop_.lag().stalled; }
  double cpu_share_max() const override { return cpu_share_max_; }
  Duration wall_moved() const override { return wall_.moved(); }
  HostLoad host() override { return host_.Load(loop_.Now()); }

 private:
  void Sample();

  EventLoop& loop_;
  const RealClock clock_;
  WallWatch wall_{clock_};
  HostSampler host_;
  double cpu_share_max_ = 0;
  Duration cpu_before_{};
  MonoTime sampled_{};
  Timer timer_;
};

}  // namespace plimsoll
