#include "coordinator/signals/target_reading.h"

#include <algorithm>

#include "common/base/check.h"
#include "coordinator/signals/target_fold.h"

namespace plimsoll {

GaugeReading GaugeOf(std::vector<TrackPoint> track) {
  PLIMSOLL_CHECK(!track.empty());
  GaugeReading gauge;
  gauge.last = track.back().value;
  gauge.min = track.front().value;
  gauge.max = track.front().value;
  double weighted = 0;
  double time = 0;
  for (std::size_t i = 0; i < track.size(); ++i) {
    gauge.min = std::min(gauge.min, track[i].value);
    gauge.max = std::max(gauge.max, track[i].value);
    if (i + 1 < track.size()) {
      const double stood = ToSeconds(std::min(track[i].until, track[i + 1].at) - track[i].at);
      weighted += track[i].value * stood;
      time += stood;
    }
  }
  gauge.mean = time > 0 ? weighted / time : gauge.last;
  gauge.track = std::move(track);
  return gauge;
}

Duration LongestAtLeast(const GaugeReading& gauge, double threshold) {
  Duration longest{};
  const TrackPoint* begin = nullptr;
  const TrackPoint* before = nullptr;
  for (const TrackPoint& point : gauge.track) {
    if (before != nullptr && before->until < point.at) begin = nullptr;
    before = &point;
    if (!(point.value >= threshold)) {
      begin = nullptr;
      continue;
    }
    if (begin == nullptr) begin = &point;
    longest = std::max(longest, point.at - begin->at);
  }
  return longest;
}

std::string_view ContinuityWords(Continuity continuity) {
  switch (continuity) {
    case Continuity::kWhole:
      return "whole";
    case Continuity::kReset:
      return "counters fell";
    case Continuity::kRestarted:
      return "the process restarted";
    case Continuity::kAlternates:
      return "several servers answer at this address";
  }
  return "";
}

const SignalReading& TargetReading::Of(Signal signal) const {
  const auto found =
      std::find_if(signals.begin(), signals.end(),
                   [signal](const SignalReading& one) { return one.signal == signal; });
  PLIMSOLL_CHECK(found != signals.end());
  return *found;
}

std::span<const TargetSample> SamplesBetween(std::span<const TargetSample> samples, MonoTime from,
                                             MonoTime to) {
  if (samples.empty()) return {};
  const auto nearest = [&samples](MonoTime at) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < samples.size(); ++i) {
      const Duration now = std::chrono::abs(samples[i].at - at);
      if (now <= std::chrono::abs(samples[best].at - at)) best = i;
    }
    return best;
  };
  const std::size_t first = nearest(from);
  const std::size_t last = nearest(to);
  return last < first ? std::span<const TargetSample>() : samples.subspan(first, last - first + 1);
}

TargetReading ReadTarget(const Mapping& mapping, std::span<const TargetSample> samples) {
  TargetFold fold(mapping);
  for (const TargetSample& sample : samples) fold.Add(sample);
  return fold.Finish();
}

}  // namespace plimsoll
