#include "common/loop/event_loop.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/base/real_clock.h"
#include "common/loop/asio_access.h"

namespace plimsoll {
namespace {

constexpr Duration kStall = 20ms;
constexpr Duration kLagPeriod = 10ms;

}  // namespace

class EventLoop::Impl {
 public:
  Impl() : io(1), wake_up(io), lag_timer(io) {}

  // Arms the one Asio timer for the earliest of ours, if that is not what it waits for already.
  void Rearm() {
    if (firing || timers.empty()) return;  // Fire() rearms when it is done.
    const MonoTime due = timers.begin()->first.due;
    if (armed_for && *armed_for <= due) return;
    armed_for = due;
    wake_up.expires_after(std::max(Duration{0}, due - clock.MonoNow()));
    wake_up.async_wait([this](const boost::system::error_code& error) {
      if (!error) Fire();
    });
  }

  // Runs what is due now. Tasks that it arms wait for the next turn even when overdue, so that one
  // that rearms itself cannot starve the sockets.
  void Fire() {
    armed_for.reset();
    firing = true;
    const MonoTime now = clock.MonoNow();
    const std::uint64_t limit = next_id;
    while (true) {
      auto it = timers.begin();
      while (it != timers.end() && it->first.due <= now && it->first.id >= limit) ++it;
      if (it == timers.end() || it->first.due > now) break;
      const Task task = std::move(it->second);
      due_of.erase(it->first.id);
      timers.erase(it);
      task();
    }
    firing = false;
    Rearm();
  }

  void MeasureLag() {
    lag_due += kLagPeriod;
    lag_timer.expires_after(std::max(Duration{0}, lag_due - clock.MonoNow()));
    lag_timer.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      const MonoTime now = clock.MonoNow();
      const Duration late = std::max(Duration{0}, now - lag_due);
      lag.max = std::max(lag.max, late);
      if (late >= kStall) lag.stalled += late;
      second_max = std::max(second_max, late);
      if (now - second_start >= 1s) {
        lag.last_second = std::exchange(second_max, Duration{0});
        second_start = now;
      }
      // A late turn counts once; the missed periods are not made up for.
      if (late > kLagPeriod) lag_due = now;
      MeasureLag();
    });
  }

  struct Key {
    MonoTime due;
    std::uint64_t id;
    bool operator<(const Key& other) const {
      return due != other.due ? due < other.due : id < other.id;
    }
  };

  RealClock clock;
  std::map<Key, Task> timers;
  std::unordered_map<std::uint64_t, MonoTime> due_of;
  std::uint64_t next_id = 1;
  std::optional<MonoTime> armed_for;
  bool firing = false;

  LoopLag lag;
  Duration second_max{};
  MonoTime second_start{};
  MonoTime lag_due{};

  // Last, so that queued tasks, which may own timers, die before the maps do.
  boost::asio::io_context io;
  boost::asio::steady_timer wake_up;
  boost::asio::steady_timer lag_timer;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}

EventLoop::~EventLoop() {
  // A task may own timers of this loop, which cancel themselves as it dies: the maps are whole and
  // empty by then.
  const auto timers = std::exchange(impl_->timers, {});
  impl_->due_of.clear();
}

void EventLoop::Run() {
  const auto guard = boost::asio::make_work_guard(impl_->io);
  impl_->lag_due = impl_->second_start = Now();
  impl_->MeasureLag();
  impl_->io.run();
  impl_->lag_timer.cancel();
  impl_->io.restart();
}

void EventLoop::Stop() {
  impl_->io.stop();
}

MonoTime EventLoop::Now() const {
  return impl_->clock.MonoNow();
}

Timer EventLoop::At(MonoTime due, Task task) {
  const std::uint64_t id = impl_->next_id++;
  impl_->timers.emplace(Impl::Key{due, id}, std::move(task));
  impl_->due_of.emplace(id, due);
  impl_->Rearm();
  return Timer(this, id);
}

void EventLoop::Post(Task task) {
  boost::asio::post(impl_->io, std::move(task));
}

LoopLag EventLoop::lag() const {
  return impl_->lag;
}

void EventLoop::ResetLag() {
  impl_->lag = LoopLag{};
  impl_->second_max = Duration{0};
}

void EventLoop::CancelTimer(std::uint64_t id) {
  const auto it = impl_->due_of.find(id);
  if (it == impl_->due_of.end()) return;
  // A task may own what cancels other timers: it is destroyed after the maps are consistent.
  auto node = impl_->timers.extract(Impl::Key{it->second, id});
  impl_->due_of.erase(it);
}

boost::asio::io_context& EventLoopIo::Of(EventLoop& loop) {
  return loop.impl_->io;
}

}  // namespace plimsoll
