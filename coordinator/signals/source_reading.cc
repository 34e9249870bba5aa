#include "coordinator/signals/source_reading.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/base/check.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

void MergeHistograms(std::vector<BucketCounts>& into, const std::vector<BucketCounts>& from) {
  for (const BucketCounts& one : from) {
    const bool merged = std::any_of(into.begin(), into.end(),
                                    [&one](BucketCounts& known) { return known.Merge(one); });
    if (!merged) into.push_back(one);
  }
}

double CombinedNow(Combine combine, const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  if (combine == Combine::kMax) return *std::max_element(values.begin(), values.end());
  return combine == Combine::kMean ? sum / static_cast<double>(values.size()) : sum;
}

// Targets are read at instants of their own: between two of its pages a target's value stands, and
// the common track has the instants at which every target's does. Empty: there are none.
std::vector<TrackPoint> CommonTrack(const std::vector<const GaugeReading*>& gauges,
                                    Combine combine) {
  std::vector<MonoTime> instants;
  for (const GaugeReading* gauge : gauges) {
    for (const TrackPoint& point : gauge->track) instants.push_back(point.at);
  }
  std::sort(instants.begin(), instants.end());
  instants.erase(std::unique(instants.begin(), instants.end()), instants.end());
  std::vector<std::size_t> next(gauges.size(), 0);
  std::vector<TrackPoint> track;
  for (const MonoTime at : instants) {
    std::vector<double> values;
    MonoTime until = MonoTime::max();
    for (std::size_t i = 0; i < gauges.size(); ++i) {
      const std::vector<TrackPoint>& points = gauges[i]->track;
      while (next[i] < points.size() && points[next[i]].at <= at) ++next[i];
      if (next[i] == 0 || points[next[i] - 1].until < at) continue;
      // Where the next page follows at once, the value changes and nothing is lost.
      const TrackPoint& now = points[next[i] - 1];
      const bool follows = next[i] < points.size() && now.until >= points[next[i]].at;
      if (!follows) until = std::min(until, now.until);
      values.push_back(now.value);
    }
    if (values.size() == gauges.size()) {
      track.push_back({.at = at, .value = CombinedNow(combine, values), .until = until});
    }
  }
  return track;
}

// Each target has the gauge, and no two of them at one time.
void MissTogether(std::size_t targets, SourceSignal& source) {
  source.reading.missing = Missing::kNoPage;
  source.reading.why = "no instant is known of every target";
  source.lacking.clear();
  for (std::size_t i = 0; i < targets; ++i) {
    source.lacking.push_back({i, Missing::kNoPage, source.reading.why});
  }
}

SourceSignal Combined(std::span<const TargetReading> targets, Signal signal) {
  SourceSignal source;
  std::vector<const GaugeReading*> gauges;
  bool any = false;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const SignalReading& one = targets[i].Of(signal);
    if (!one.here()) {
      source.lacking.push_back({i, one.missing, one.why});
      if (!any && i == 0) source.reading = one;
      continue;
    }
    gauges.push_back(&one.gauge);
    if (!any) {
      source.reading = one;
      any = true;
      continue;
    }
    SignalReading& all = source.reading;
    all.increase = one.combine == Combine::kMax ? std::max(all.increase, one.increase)
                                                : all.increase + one.increase;
    all.uncertainty += one.uncertainty;
    all.counted += one.counted;
    all.trusted = all.trusted && one.trusted;
    MergeHistograms(all.histograms, one.histograms);
  }
  const bool is_gauge = TraitsOf(signal).kind == SignalKind::kGauge;
  if (is_gauge && gauges.size() > 1) {
    std::vector<TrackPoint> track = CommonTrack(gauges, source.reading.combine);
    if (track.empty()) {
      MissTogether(targets.size(), source);
    } else {
      source.reading.gauge = GaugeOf(std::move(track));
    }
  }
  return source;
}

}  // namespace

const SourceSignal& SourceReading::Of(Signal signal) const {
  const auto found =
      std::find_if(signals.begin(), signals.end(),
                   [signal](const SourceSignal& one) { return one.reading.signal == signal; });
  PLIMSOLL_CHECK(found != signals.end());
  return *found;
}

const BrokenTarget* SourceReading::Broken(std::size_t target) const {
  const auto found = std::find_if(broken.begin(), broken.end(), [target](const BrokenTarget& one) {
    return one.target == target;
  });
  return found == broken.end() ? nullptr : &*found;
}

SourceReading CombineTargets(std::span<const TargetReading> targets) {
  PLIMSOLL_CHECK(!targets.empty());
  SourceReading source;
  for (const SignalTraits& traits : AllSignals()) {
    source.signals.push_back(Combined(targets, traits.signal));
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].continuity == Continuity::kWhole) continue;
    source.broken.push_back({i, targets[i].continuity, targets[i].continuity_why});
    if (targets[i].continuity <= source.continuity) continue;
    source.continuity = targets[i].continuity;
    source.continuity_why = targets[i].continuity_why;
  }
  return source;
}

InteractivitySignal InteractivityOf(const SourceReading& source) {
  for (const Signal signal : {Signal::kTimePerToken, Signal::kTokenGap}) {
    const SourceSignal& one = source.Of(signal);
    if (one.reading.here()) return {&one, signal == Signal::kTimePerToken};
  }
  return {};
}

std::vector<std::string> NotGot(const SourceReading& source, const std::string& source_name,
                                std::span<const std::string> targets,
                                std::span<const Signal> wanted) {
  std::vector<std::string> lines;
  for (const Signal signal : wanted) {
    const SourceSignal& one = source.Of(signal);
    for (const LackingTarget& lacking : one.lacking) {
      const std::string what = lacking.target < targets.size()
                                   ? targets[lacking.target]
                                   : fmt::format("target {}", lacking.target + 1);
      lines.push_back(fmt::format("{}: {} of {}: {}{}", source_name, TraitsOf(signal).name, what,
                                  MissingWords(lacking.missing),
                                  lacking.why.empty() ? "" : fmt::format(" ({})", lacking.why)));
    }
  }
  return lines;
}

}  // namespace plimsoll
