#include "coordinator/signals/gauge_track.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace plimsoll {
namespace {

// The usual time between two pages with a value, one after the other; nothing of fewer than two.
std::optional<Duration> UsualInterval(const std::vector<bool>& missed,
                                      const std::vector<TrackPoint>& track) {
  std::vector<Duration> times;
  for (std::size_t i = 0; i + 1 < track.size(); ++i) {
    if (!missed[i]) times.push_back(track[i + 1].at - track[i].at);
  }
  if (times.empty()) return std::nullopt;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

void LetStand(const std::vector<bool>& missed, std::vector<TrackPoint>& track) {
  const std::optional<Duration> usual = UsualInterval(missed, track);
  for (std::size_t i = 0; i < track.size(); ++i) {
    if (!usual && !missed[i]) continue;  // A single page: nobody looked again.
    const Duration some = kStandsIntervals * usual.value_or(Duration{});
    track[i].until = track[i].at + (missed[i] ? some : std::max(some, kStandsUnasked));
    if (i + 1 < track.size()) track[i].until = std::min(track[i].until, track[i + 1].at);
  }
}

}  // namespace plimsoll
