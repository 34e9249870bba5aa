// Scheduler: one thread's work queue and timers, the seam that lets everything but the sockets run
// in virtual time. Real: common/loop/event_loop. Virtual: tests/fakes/sim_scheduler.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "common/base/time.h"

namespace plimsoll {

class Scheduler;

// Owns one armed timer; destroying or resetting it cancels, and a cancelled task never runs.
class Timer {
 public:
  Timer() = default;
  Timer(Scheduler* scheduler, std::uint64_t id) : scheduler_(scheduler), id_(id) {}
  Timer(Timer&& other) noexcept
      : scheduler_(std::exchange(other.scheduler_, nullptr)), id_(other.id_) {}
  Timer& operator=(Timer&& other) noexcept;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { Cancel(); }

  void Cancel();
  // True from arming until Cancel() or destruction; it stays true after the task ran.
  bool armed() const { return scheduler_ != nullptr; }

 private:
  Scheduler* scheduler_ = nullptr;
  std::uint64_t id_ = 0;
};

// Every method but Post() is called on the owning thread only.
class Scheduler {
 public:
  using Task = std::function<void()>;
  virtual ~Scheduler() = default;

  // The owning thread's monotonic clock, read now.
  virtual MonoTime Now() const = 0;
  // Runs `task` once at `due`, never from inside At(); overdue timers run in the next turn. Timers
  // due at the same instant run in the order in which they were armed.
  [[nodiscard]] virtual Timer At(MonoTime due, Task task) = 0;
  [[nodiscard]] Timer After(Duration delay, Task task) {
    return At(Now() + delay, std::move(task));
  }
  // Runs `task` in a later turn, in the order posted. Safe from any thread.
  virtual void Post(Task task) = 0;

 private:
  friend class Timer;
  // Called by Timer; an id whose task already ran is ignored.
  virtual void CancelTimer(std::uint64_t id) = 0;
};

inline Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    Cancel();
    scheduler_ = std::exchange(other.scheduler_, nullptr);
    id_ = other.id_;
  }
  return *this;
}

inline void Timer::Cancel() {
  if (Scheduler* scheduler = std::exchange(scheduler_, nullptr)) scheduler->CancelTimer(id_);
}

}  // namespace plimsoll
