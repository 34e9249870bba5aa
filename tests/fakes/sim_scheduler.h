// SimScheduler: virtual time. A Scheduler and a Clock whose instant moves only when a test says so,
// so that hours pass in milliseconds and the same calls give the same order every time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/clock.h"
#include "common/base/scheduler.h"

namespace plimsoll {

// Timers run by (due, order of arming); Post() is a timer due now, so it runs at the same instant,
// after what is already queued for it. Single-threaded. Timers must not outlive it.
class SimScheduler final : public Scheduler, public Clock {
 public:
  // Virtual time begins at `start` on the monotonic clock and at `wall` for people.
  explicit SimScheduler(MonoTime start = MonoTime{},
                        WallTime wall = WallTime{Duration{1'800'000'000'000'000'000}});
  ~SimScheduler() override;
  SimScheduler(const SimScheduler&) = delete;
  SimScheduler& operator=(const SimScheduler&) = delete;

  MonoTime Now() const override { return now_; }
  MonoTime MonoNow() const override { return now_; }
  WallTime WallNow() const override { return wall_start_ + (now_ - start_); }

  [[nodiscard]] Timer At(MonoTime due, Task task) override;
  void Post(Task task) override;

  // Runs everything due up to and including `t`, what that arms included; afterwards it is `t`.
  // A `t` in the past runs nothing.
  void RunUntil(MonoTime t);
  void Advance(Duration d) { RunUntil(now_ + d); }
  // Runs until nothing is armed (true; it is then the instant of the last task) or until the next
  // task would lie after `limit` (false; it is then `limit`).
  bool RunUntilIdle(MonoTime limit = MonoTime::max());
  // Runs the one task that is next, if it is due by `limit`; false: none was.
  bool RunOne(MonoTime limit = MonoTime::max());

  // Timers armed and neither run nor cancelled, posted tasks included.
  std::size_t pending() const { return heap_.size() - stale_; }
  // Tasks run since the start.
  std::uint64_t ran() const { return ran_; }

 private:
  // A slot is reused; its generation tells an old timer's id from the present one's.
  struct Slot {
    Task task;
    std::uint32_t generation = 0;
    std::uint32_t next_free = 0;
  };
  struct Entry {
    MonoTime due;
    std::uint64_t order;
    std::uint32_t slot;
    std::uint32_t generation;
    bool Before(const Entry& other) const {
      return due != other.due ? due < other.due : order < other.order;
    }
  };

  void CancelTimer(std::uint64_t id) override;
  std::uint64_t Arm(MonoTime due, Task task);
  Task Release(std::uint32_t slot);
  bool DropStale();
  void Sweep();
  void PopTop();
  void SiftUp(std::size_t at, const Entry& entry);
  void SiftDown(std::size_t at, const Entry& entry);

  MonoTime start_;
  MonoTime now_;
  WallTime wall_start_;
  std::uint64_t order_ = 0;
  std::uint64_t ran_ = 0;
  std::vector<Entry> heap_;  // 4-ary, smallest first; cancelled entries stay until met or swept.
  std::size_t stale_ = 0;    // Cancelled entries still in heap_.
  std::vector<Slot> slots_;
  std::uint32_t free_;  // Head of the list of free slots.
};

}  // namespace plimsoll
