// EventLoop: the real Scheduler, one Boost.Asio io_context run by one thread. Sockets, children and
// signals hang on the same loop through asio_access.h; this header shows no Asio.
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/scheduler.h"
#include "common/base/time.h"

namespace plimsoll {

class EventLoopIo;  // What asio_access.h opens up.

// How late the loop's own periodic timer fired: the time for which everything else was late too.
struct LoopLag {
  Duration max{};          // Since the loop was made or ResetLag().
  Duration last_second{};  // Worst of the last whole second that was measured.
  Duration stalled{};      // Sum of all of 20 ms and more, since the loop was made or ResetLag().
};

class EventLoop final : public Scheduler {
 public:
  EventLoop();
  // Destroys tasks that have not run, without running them. Timers and everything else attached to
  // the loop are destroyed before it.
  ~EventLoop() override;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs tasks on the calling thread until Stop(). A Stop() that came before Run() makes it return
  // at once. May be called again after it returned.
  void Run();
  // Safe from any thread; the turn that is running finishes its current task.
  void Stop();

  MonoTime Now() const override;
  [[nodiscard]] Timer At(MonoTime due, Task task) override;
  void Post(Task task) override;

  // Measured every 10 ms while Run() runs; 0 before. On the loop's thread only.
  LoopLag lag() const;
  void ResetLag();

 private:
  friend class EventLoopIo;
  class Impl;

  void CancelTimer(std::uint64_t id) override;

  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
