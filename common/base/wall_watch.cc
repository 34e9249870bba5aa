#include "common/base/wall_watch.h"

#include <algorithm>
#include <chrono>

namespace plimsoll {
namespace {

constexpr int kReadings = 3;

}  // namespace

WallWatch::WallWatch(const Clock& clock) : clock_(clock) {
  Reset();
}

void WallWatch::Reset() {
  apart_ = Apart();
  moved_ = Duration{0};
}

void WallWatch::Look() {
  constexpr Duration kDay = 24h;
  const Duration moved = std::clamp<Duration>(Apart() - apart_, -kDay, kDay);
  if (std::chrono::abs(moved) > std::chrono::abs(moved_)) moved_ = moved;
}

// Of a few readings the quickest: a process that is put aside between two clocks reads nonsense.
Duration WallWatch::Apart() const {
  Duration apart{};
  Duration quickest = Duration::max();
  for (int i = 0; i < kReadings; ++i) {
    const MonoTime before = clock_.MonoNow();
    const WallTime wall = clock_.WallNow();
    const Duration took = clock_.MonoNow() - before;
    if (took >= quickest) continue;
    quickest = took;
    apart = wall.time_since_epoch() - (before + took / 2).time_since_epoch();
  }
  return apart;
}

}  // namespace plimsoll
