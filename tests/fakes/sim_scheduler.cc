#include "tests/fakes/sim_scheduler.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace plimsoll {
namespace {

constexpr std::size_t kArity = 4;  // Shallower than a binary heap, and children share a cache line.
constexpr std::uint32_t kNoSlot = UINT32_MAX;
constexpr std::size_t kSweepMin = 256;  // Below this, sweeping cancelled entries saves nothing.

}  // namespace

SimScheduler::SimScheduler(MonoTime start, WallTime wall)
    : start_(start), now_(start), wall_start_(wall), free_(kNoSlot) {}

SimScheduler::~SimScheduler() {
  // A task may own timers that cancel themselves here while it is destroyed, so the members must
  // still be whole.
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Task dying = std::exchange(slots_[i].task, nullptr);
    ++slots_[i].generation;
  }
}

Timer SimScheduler::At(MonoTime due, Task task) {
  return Timer(this, Arm(std::max(due, now_), std::move(task)));
}

void SimScheduler::Post(Task task) {
  Arm(now_, std::move(task));
}

void SimScheduler::RunUntil(MonoTime t) {
  while (RunOne(t)) {
  }
  now_ = std::max(now_, t);
}

bool SimScheduler::RunUntilIdle(MonoTime limit) {
  while (RunOne(limit)) {
  }
  if (pending() == 0) return true;
  now_ = std::max(now_, limit);
  return false;
}

bool SimScheduler::RunOne(MonoTime limit) {
  if (!DropStale() || heap_.front().due > limit) return false;
  const Entry next = heap_.front();
  PopTop();
  now_ = next.due;
  ++ran_;
  const Task task = Release(next.slot);
  task();
  return true;
}

std::uint64_t SimScheduler::Arm(MonoTime due, Task task) {
  PLIMSOLL_CHECK(task != nullptr);
  std::uint32_t slot = free_;
  if (slot == kNoSlot) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    free_ = slots_[slot].next_free;
  }
  slots_[slot].task = std::move(task);
  const Entry entry{due, order_++, slot, slots_[slot].generation};
  heap_.emplace_back();
  SiftUp(heap_.size() - 1, entry);
  return (std::uint64_t{entry.generation} << 32) | slot;
}

void SimScheduler::CancelTimer(std::uint64_t id) {
  const auto slot = static_cast<std::uint32_t>(id);
  const auto generation = static_cast<std::uint32_t>(id >> 32);
  if (slot >= slots_.size() || slots_[slot].generation != generation) return;
  ++stale_;
  // Held until the books are in order: the task's captures may cancel further timers.
  const Task dying = Release(slot);
  if (stale_ > kSweepMin && stale_ > heap_.size() / 2) Sweep();
}

SimScheduler::Task SimScheduler::Release(std::uint32_t slot) {
  Slot& freed = slots_[slot];
  Task task = std::exchange(freed.task, nullptr);
  ++freed.generation;
  freed.next_free = std::exchange(free_, slot);
  return task;
}

// Removes cancelled entries from the top; false when nothing is left.
bool SimScheduler::DropStale() {
  while (!heap_.empty()) {
    const Entry& top = heap_.front();
    if (slots_[top.slot].generation == top.generation) return true;
    --stale_;
    PopTop();
  }
  return false;
}

// Drops every cancelled entry at once, so that far deadlines that never come due cost no memory.
void SimScheduler::Sweep() {
  std::erase_if(heap_,
                [this](const Entry& e) { return slots_[e.slot].generation != e.generation; });
  stale_ = 0;
  if (heap_.size() < 2) return;
  for (std::size_t at = (heap_.size() - 2) / kArity + 1; at-- > 0;) {
    const Entry entry = heap_[at];
    SiftDown(at, entry);
  }
}

void SimScheduler::PopTop() {
  const Entry last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) SiftDown(0, last);
}

void SimScheduler::SiftUp(std::size_t at, const Entry& entry) {
  while (at > 0) {
    const std::size_t parent = (at - 1) / kArity;
    if (!entry.Before(heap_[parent])) break;
    heap_[at] = heap_[parent];
    at = parent;
  }
  heap_[at] = entry;
}

void SimScheduler::SiftDown(std::size_t at, const Entry& entry) {
  const std::size_t size = heap_.size();
  while (true) {
    const std::size_t first = at * kArity + 1;
    if (first >= size) break;
    std::size_t best = first;
    for (std::size_t i = first + 1, end = std::min(first + kArity, size); i < end; ++i) {
      if (heap_[i].Before(heap_[best])) best = i;
    }
    if (!heap_[best].Before(entry)) break;
    heap_[at] = heap_[best];
    at = best;
  }
  heap_[at] = entry;
}

}  // namespace plimsoll
