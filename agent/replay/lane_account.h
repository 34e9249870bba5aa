// How a lane spends the measured time: a partition by states, integrated at each change. Pure.
#pragma once

#include <algorithm>
#include <array>

#include "common/base/time.h"
#include "common/record/tally.h"

namespace plimsoll {

class LaneAccount {
 public:
  // From now on only [begin, end) counts, from zero.
  void SetWindow(MonoTime begin, MonoTime end) {
    begin_ = begin;
    end_ = end;
    spent_.fill(0);
  }
  // The window ends at `end`, which nothing was booked beyond.
  void ShortenTo(MonoTime end) { end_ = std::min(end_, end); }
  // The lane is in `state` from `at` on. An instant before the last change counts as the last
  // change.
  void Enter(LaneState state, MonoTime at) {
    Settle(at);
    state_ = state;
  }
  // Books the current state up to `at`.
  void Settle(MonoTime at) {
    const MonoTime from = std::clamp(since_, begin_, end_);
    const MonoTime to = std::clamp(std::max(at, since_), begin_, end_);
    spent_[static_cast<std::size_t>(state_)] += (to - from).count();
    since_ = std::max(at, since_);
  }
  LaneState state() const { return state_; }
  // Nanoseconds by state; sums to the window once Settle(end) was called.
  const std::array<std::int64_t, kLaneStates>& spent() const { return spent_; }

 private:
  MonoTime begin_ = MonoTime::max();
  MonoTime end_ = MonoTime::max();
  MonoTime since_ = MonoTime::min();
  LaneState state_ = LaneState::kNoSession;
  std::array<std::int64_t, kLaneStates> spent_{};
};

}  // namespace plimsoll
