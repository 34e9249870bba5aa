// The end of a process that is not our child, as a call on the loop: through a pidfd, at once.
#pragma once

#include <functional>
#include <memory>

#include "common/base/status.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

class ProcessWatch {
 public:
  // `on_gone` runs once on the loop's thread when the process that has the number `pid` now has
  // ended; it may destroy the object. NotFound: none has. Which process that is, the caller checks
  // afterwards: the number cannot change hands unseen from here on. `loop` outlives it.
  static StatusOr<std::unique_ptr<ProcessWatch>> Start(EventLoop& loop, int pid,
                                                       std::function<void()> on_gone);
  // `on_gone` is not called any more.
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

 private:
  class Impl;
  explicit ProcessWatch(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

}  // namespace plimsoll
