#include "agent/host/loop_load.h"

#include <algorithm>
#include <utility>

#include <sys/resource.h>

namespace plimsoll {
namespace {

Duration ThreadCpu() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto of = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace

LoopLoad::LoopLoad(EventLoop& loop, HostView view) : loop_(loop), host_(std::move(view)) {
  Reset();
}

void LoopLoad::Reset() {
  loop_.ResetLag();
  wall_.Reset();
  cpu_share_max_ = 0;
  cpu_before_ = ThreadCpu();
  sampled_ = loop_.Now();
  host_.Reset(sampled_);
  timer_ = loop_.After(1s, [this] { Sample(); });
}

void LoopLoad::Sample() {
  wall_.Look();
  const Duration cpu = ThreadCpu();
  const MonoTime now = loop_.Now();
  cpu_share_max_ =
      std::max(cpu_share_max_, ToSeconds(cpu - cpu_before_) / ToSeconds(now - sampled_));
  cpu_before_ = cpu;
  sampled_ = now;
  host_.Look(now);
  timer_ = loop_.After(1s, [this] { Sample(); });
}

}  // namespace plimsoll
