// Whose turn it is to send. Every socket of a loop that has room and more to send queues here, and
// a bounded number is served a turn, so that what arrives meanwhile waits for a millisecond and not
// for a thousand uploads of a megabyte each. Oldest first: served round and round, all of them
// would end with the last. Internal to common/http.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "common/base/scheduler.h"

namespace plimsoll {

class WriteTurns {
 public:
  // Pieces of at most 16 KiB of prompt text, made and sent at some 40 µs each.
  static constexpr std::size_t kPerTurn = 4;

  // `scheduler` outlives it. What waits when it goes is never served.
  explicit WriteTurns(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~WriteTurns() { *alive_ = false; }
  WriteTurns(const WriteTurns&) = delete;
  WriteTurns& operator=(const WriteTurns&) = delete;

  // The place of whoever begins to send now: behind all others.
  std::uint64_t NewPlace() { return ++places_; }
  // `serve` is called once, in a later turn. A place queues at most once at a time.
  void Queue(std::uint64_t place, std::function<void()> serve) {
    waiting_.emplace(place, std::move(serve));
    Post();
  }

 private:
  void Post() {
    if (std::exchange(posted_, true)) return;
    scheduler_.Post([this, alive = alive_] {
      if (!*alive) return;
      posted_ = false;
      for (std::size_t served = 0; served < kPerTurn && !waiting_.empty(); ++served) {
        const auto first = waiting_.extract(waiting_.begin());
        first.mapped()();
        if (!*alive) return;
      }
      if (!waiting_.empty()) Post();
    });
  }

  Scheduler& scheduler_;
  std::map<std::uint64_t, std::function<void()>> waiting_;  // By place.
  std::uint64_t places_ = 0;
  bool posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace plimsoll
