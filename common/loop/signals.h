// SIGINT, SIGTERM and SIGHUP as calls on the loop, counted: the stop protocol (1st drains, 2nd
// aborts, 3rd leaves) is the callback's business. A terminal that is closed (SIGHUP) is a first
// stop and never more, since shells and kernels say it twice; where it is ignored (nohup), it stays
// so. A reader that goes away (SIGPIPE) ends nothing.
#pragma once

#include <functional>
#include <memory>

#include "common/loop/event_loop.h"

namespace plimsoll {

class Signals {
 public:
  // `on_signal(count, number)` runs on the loop's thread for each signal, count from 1. One object
  // a process: it takes the signals over until it is destroyed, and has SIGPIPE ignored from
  // then on: what writes to a closed pipe or socket sees an error instead. `loop` outlives it.
  Signals(EventLoop& loop, std::function<void(int count, int number)> on_signal);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace plimsoll
