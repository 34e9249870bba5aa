// Requests in flight integrated over the measured time: request-nanoseconds. Pure. Records alone
// cannot say it, since a call may outlast the step in which it began.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/time.h"

namespace plimsoll {

class InFlightMeter {
 public:
  // From now on only [begin, end) counts, from zero.
  void SetWindow(MonoTime begin, MonoTime end) {
    begin_ = begin;
    end_ = end;
    request_ns_ = 0;
  }
  // The window ends at `end`, which nothing was booked beyond.
  void ShortenTo(MonoTime end) { end_ = std::min(end_, end); }
  // `count` are in flight from `at` on.
  void Set(MonoTime at, std::uint32_t count) {
    Settle(at);
    count_ = count;
  }
  void Settle(MonoTime at) {
    const MonoTime from = std::clamp(since_, begin_, end_);
    const MonoTime to = std::clamp(std::max(at, since_), begin_, end_);
    request_ns_ += (to - from).count() * count_;
    since_ = std::max(at, since_);
  }
  std::uint32_t count() const { return count_; }
  std::int64_t request_ns() const { return request_ns_; }

 private:
  MonoTime begin_ = MonoTime::max();
  MonoTime end_ = MonoTime::max();
  MonoTime since_ = MonoTime::min();
  std::uint32_t count_ = 0;
  std::int64_t request_ns_ = 0;
};

}  // namespace plimsoll
