#include "coordinator/signals/target_fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/base/text.h"
#include "coordinator/signals/gauge_track.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::size_t kShownBytes = 160;
// Servers print their start with little precision, and some work it out anew on every page.
constexpr double kStartSlackSeconds = 0.5;

// Servers have one; a mixed fleet two or three. More is a page that is no server's.
constexpr std::size_t kBucketListsMax = 16;

bool IsGauge(const SignalMapping& signal) {
  return TraitsOf(signal.signal).kind == SignalKind::kGauge;
}
bool IsHistogram(const SignalMapping& signal) {
  return TraitsOf(signal.signal).kind == SignalKind::kHistogram;
}
// Whose numbers only rise.
bool Counts(const SignalMapping& signal) {
  return !IsGauge(signal);
}

std::uint64_t Whole(double count) {
  return count > 0 ? static_cast<std::uint64_t>(std::llround(std::min(count, 9e15))) : 0;
}

double Combined(Combine combine, const std::vector<double>& values) {
  double sum = 0;
  double largest = values.front();
  for (const double value : values) {
    sum += value;
    if (std::isnan(value) || value > largest) largest = value;
  }
  if (combine == Combine::kMax) return std::isnan(sum) ? sum : largest;
  return combine == Combine::kMean ? sum / static_cast<double>(values.size()) : sum;
}

}  // namespace

TargetFold::TargetFold(const Mapping& mapping)
    : mapping_(mapping), states_(mapping.signals.size()) {}

void TargetFold::Add(const TargetSample& sample) {
  const bool first = seen_++ == 0;
  ended_readable_ = sample.readable();
  if (first) began_readable_ = sample.readable();
  if (!sample.readable()) {
    ++reading_.unreadable;
    unreadable_why_ = Printable(MessageOf(sample.status), kShownBytes);
    for (State& state : states_) Miss(state);
    return;
  }
  const bool baseline = reading_.pages++ == 0;
  if (baseline) {
    reading_.first = sample.at;
    reading_.first_uncertainty = sample.uncertainty;
  }
  reading_.last = sample.at;
  reading_.last_uncertainty = sample.uncertainty;
  const bool start_moved = StartMoved(sample);
  if (start_moved && reading_.continuity != Continuity::kAlternates) ForgetFalls();
  const Falls falls = LookForFalls(sample);
  if (!baseline) Judge(falls, start_moved);
  for (std::size_t i = 0; i < states_.size(); ++i) Take(i, sample, start_moved && !baseline);
}

bool TargetFold::StartMoved(const TargetSample& sample) {
  if (!sample.start_time.has_value()) return false;
  const bool moved =
      start_time_.has_value() && std::abs(*sample.start_time - *start_time_) > kStartSlackSeconds;
  if (moved && start_times_.find(*sample.start_time) != start_times_.end()) {
    reading_.continuity = Continuity::kAlternates;
    reading_.continuity_why = "start times come back that were there before";
  }
  start_times_.insert(*sample.start_time);
  start_time_ = sample.start_time;
  return moved;
}

void TargetFold::ForgetFalls() {
  for (State& state : states_) {
    for (auto& [key, child] : state.children) child.fell = child.recovered = false;
  }
}

TargetFold::Falls TargetFold::LookForFalls(const TargetSample& sample) {
  Falls falls;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!Counts(mapping_.signals[i])) continue;
    for (auto& [key, child] : states_[i].children) child.here = false;
    for (const Selection::Child& now : sample.selection->entries()[i].children) {
      const auto found = states_[i].children.find(now.key);
      if (found == states_[i].children.end()) continue;
      found->second.here = true;
      const bool same = SameEdges(now.edges, found->second.edges);
      LookAtChild(now.key, found->second, same ? &sample.values[now.first] : nullptr, falls);
    }
    for (auto& [key, child] : states_[i].children) {
      if (!child.here) LookAtChild(key, child, nullptr, falls);
    }
  }
  return falls;
}

// `now` is null if the child is gone, or has other buckets.
void TargetFold::LookAtChild(const std::string& key, Child& child, const double* now,
                             Falls& falls) {
  // A histogram's last three are all, _count and _sum; negative observations may lower the sum.
  const bool histogram = child.numbers.size() > 1;
  const std::size_t all = histogram ? child.numbers.size() - 3 : 0;
  const double before = child.numbers[all];
  const double after = now == nullptr ? 0 : now[all];
  bool fell = now == nullptr && before > 0;
  for (std::size_t i = 0; now != nullptr && i < child.numbers.size() - (histogram ? 1 : 0); ++i) {
    fell = fell || now[i] < child.numbers[i];
  }
  if (before > 0) ++falls.moved;
  if (!fell) {
    if (child.fell && after >= child.peak) child.recovered = true;
    return;
  }
  ++falls.fell;
  if (falls.first.empty()) {
    falls.first = now == nullptr ? fmt::format("{} is gone", Printable(key, kShownBytes))
                                 : fmt::format("{} fell from {:.15g} to {:.15g}",
                                               Printable(key, kShownBytes), before, after);
  }
  if (child.recovered) falls.alternates = true;
  if (!child.fell) child.peak = before;
  child.fell = true;
  child.recovered = false;
}

void TargetFold::Judge(const Falls& falls, bool start_moved) {
  Continuity found = Continuity::kWhole;
  std::string why = falls.first;
  if (falls.fell > 0) found = Continuity::kReset;
  // All but a few: one that counts little may have caught up already.
  if (start_moved || (falls.fell > 1 && falls.fell * 10 >= falls.moved * 9)) {
    found = Continuity::kRestarted;
    if (start_moved) why = "its start time moved";
  }
  if (falls.alternates) {
    found = Continuity::kAlternates;
    why = fmt::format("counters fall, come back and fall again: {}", falls.first);
  }
  if (found <= reading_.continuity) return;
  reading_.continuity = found;
  reading_.continuity_why = std::move(why);
}

void TargetFold::Take(std::size_t signal, const TargetSample& sample, bool from_zero) {
  State& state = states_[signal];
  const Selection::Entry& entry = sample.selection->entries()[signal];
  const bool found = entry.missing == Missing::kNot;
  const bool renamed = found && state.found && entry.alternative != state.alternative;
  state.missing = entry.missing;
  state.found = state.found || found;
  if (found) state.alternative = entry.alternative;
  if (mapping_.signals[signal].derivation != Derivation::kLifetimeMean &&
      IsGauge(mapping_.signals[signal])) {
    const std::size_t before = state.track.size();
    if (found) TakeGauge(signal, entry, sample);
    if (state.track.size() == before) Miss(state);
    return;
  }
  if (renamed) {
    // Under another name nothing is known of before.
    state.children.clear();
    for (const Selection::Child& child : entry.children) {
      const double* const now = &sample.values[child.first];
      const std::size_t count = Selection::Numbers(mapping_.signals[signal], child);
      state.children[child.key] = {.edges = child.edges, .numbers = {now, now + count}};
    }
    return;
  }
  for (auto& [key, child] : state.children) child.here = false;
  for (const Selection::Child& child : entry.children) {
    TakeChild(signal, child, &sample.values[child.first], from_zero);
  }
  // A series that is gone begins at 0 when it comes back.
  std::erase_if(state.children, [](const auto& one) { return !one.second.here; });
}

void TargetFold::TakeChild(std::size_t signal, const Selection::Child& child, const double* now,
                           bool from_zero) {
  const SignalMapping& mapping = mapping_.signals[signal];
  State& state = states_[signal];
  const std::size_t count = Selection::Numbers(mapping, child);
  const bool baseline = reading_.pages == 1;
  auto [found, is_new] = state.children.try_emplace(child.key);
  Child& known = found->second;
  known.here = true;
  if (is_new || !SameEdges(known.edges, child.edges)) {
    known.edges = child.edges;
    known.numbers.assign(count, 0);
  }
  if (!child.has_infinity) state.no_infinity = true;
  if (baseline) {
    known.numbers.assign(now, now + count);
    for (double& number : known.numbers) {
      if (std::isnan(number) && !IsHistogram(mapping)) number = 0;
    }
    state.uncertainty += PrintError(known.numbers[0]);
    return;
  }
  // Decided once for all of a child's numbers.
  bool fell = from_zero;
  if (mapping.derivation == Derivation::kLifetimeMean) {
    fell = fell || now[1] < known.numbers[1];  // The weight counts; a mean may fall.
  } else {
    const std::size_t rising = IsHistogram(mapping) ? count - 1 : count;
    for (std::size_t i = 0; i < rising; ++i) fell = fell || now[i] < known.numbers[i];
  }
  const std::vector<double> zeros(count, 0);
  const double* const before = fell ? zeros.data() : known.numbers.data();
  if (IsHistogram(mapping)) {
    TakeHistogram(state, child, now, before, mapping.scale);
  } else if (mapping.derivation == Derivation::kLifetimeMean) {
    if (std::isnan(now[0]) || std::isnan(now[1])) return;
    state.weighted += now[0] * now[1] - before[0] * before[1];
    state.weight += now[1] - before[1];
  } else {
    if (std::isnan(now[0])) return;
    state.increases[child.key] += now[0] - before[0];
  }
  known.numbers.assign(now, now + count);
}

void TargetFold::TakeHistogram(State& state, const Selection::Child& child, const double* now,
                               const double* before, double scale) {
  const std::size_t edges = child.edges.size();
  BucketCounts delta;
  double most = 0;
  for (std::size_t i = 0; i <= edges; ++i) {
    double count = now[i] - before[i];
    if (std::isnan(count)) count = 0;
    if (count < most * (1 - 1e-12)) delta.repaired = true;
    most = std::max(most, count);
    if (i < edges) {
      delta.edges.push_back(child.edges[i] * scale);
      delta.at_most.push_back(Whole(most));
    }
  }
  delta.n = Whole(most);
  delta.sum = (now[edges + 2] - before[edges + 2]) * scale;
  state.counted += now[edges + 1] - before[edges + 1];
  for (BucketCounts& one : state.histograms) {
    if (one.Merge(delta)) return;
  }
  if (state.histograms.size() < kBucketListsMax) {
    state.histograms.push_back(std::move(delta));
  } else {
    state.too_many_lists = true;
  }
}

void TargetFold::TakeGauge(std::size_t signal, const Selection::Entry& entry,
                           const TargetSample& sample) {
  const SignalMapping& mapping = mapping_.signals[signal];
  std::vector<double> values;
  for (const Selection::Child& child : entry.children) {
    double value = sample.values[child.first];
    if (mapping.derivation == Derivation::kRatio) value /= sample.values[child.first + 1];
    values.push_back(value * mapping.scale);
  }
  if (values.empty()) return;
  const double value = Combined(mapping.combine, values);
  if (!std::isfinite(value)) return;
  states_[signal].track.push_back({.at = sample.at, .value = value});
  states_[signal].missed.push_back(false);
}

double TargetFold::PrintError(double value) const {
  if (mapping_.digits == 0 || value == 0 || !std::isfinite(value)) return 0;
  const double last_digit =
      std::pow(10.0, std::floor(std::log10(std::abs(value))) - mapping_.digits + 1);
  // Whole numbers that have no more digits than are printed are exact.
  return last_digit <= 1 && value == std::floor(value) ? 0 : last_digit / 2;
}

TargetReading TargetFold::Finish() const {
  TargetReading reading = reading_;
  for (const SignalTraits& traits : AllSignals()) {
    reading.signals.push_back(Reading(traits.signal));
  }
  return reading;
}

SignalReading TargetFold::Reading(Signal signal) const {
  SignalReading reading{.signal = signal};
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (mapping_.signals[i].signal == signal) {
      Fill(mapping_.signals[i], states_[i], reading);
      return reading;
    }
  }
  if (const std::string* because = mapping_.WhyAbsent(signal)) {
    reading.missing = Missing::kByDesign;
    reading.why = *because;
  }
  return reading;
}

void TargetFold::Fill(const SignalMapping& mapping, const State& state,
                      SignalReading& reading) const {
  reading.trusted = mapping.trusted;
  reading.moves = mapping.moves;
  reading.combine = mapping.combine;
  const bool needs_both = Counts(mapping) || mapping.derivation == Derivation::kLifetimeMean;
  if (reading_.pages == 0 || (needs_both && !(began_readable_ && ended_readable_))) {
    reading.missing = Missing::kNoPage;
    reading.why = unreadable_why_.empty() ? "no page was read" : unreadable_why_;
    return;
  }
  if (needs_both && reading_.pages < 2) {
    reading.missing = Missing::kNothing;
    reading.why = "there is one page, and a difference needs two";
    return;
  }
  reading.missing = state.missing;
  if (mapping.lazy && state.missing == Missing::kNoSeries) reading.missing = Missing::kNot;
  if (!IsGauge(mapping) || state.track.empty()) {
    if (!reading.here()) {
      std::vector<std::string_view> names;
      for (const Alternative& one : mapping.any) names.push_back(one.name);
      reading.why = fmt::format("looked for {}", fmt::join(names, ", then "));
      return;
    }
  }
  reading.missing = Missing::kNot;
  reading.name = mapping.any[state.alternative].name;
  if (IsHistogram(mapping)) {
    FillHistogram(state, reading);
  } else if (IsGauge(mapping)) {
    FillGauge(mapping, state, reading);
  } else {
    FillCounter(mapping, state, reading);
  }
}

void TargetFold::FillHistogram(const State& state, SignalReading& reading) {
  reading.histograms = state.histograms;
  reading.counted = state.counted;
  std::erase_if(reading.histograms, [](const BucketCounts& one) { return one.n == 0; });
  if (reading.histograms.empty()) reading.missing = Missing::kNothing;
  if (state.too_many_lists) {
    reading.missing = Missing::kNoSeries;
    reading.why = fmt::format("its series have more than {} lists of buckets", kBucketListsMax);
  }
  if (!state.no_infinity) return;
  reading.missing = Missing::kNoSeries;
  reading.why = "its buckets have no le=\"+Inf\", so that nobody knows how many there were";
}

void TargetFold::FillCounter(const SignalMapping& mapping, const State& state,
                             SignalReading& reading) const {
  double uncertainty = state.uncertainty;
  for (const auto& [key, increase] : state.increases) {
    const double scaled = increase * mapping.scale;
    reading.increase = mapping.combine == Combine::kMax ? std::max(reading.increase, scaled)
                                                        : reading.increase + scaled;
  }
  for (const auto& [key, child] : state.children) uncertainty += PrintError(child.numbers[0]);
  reading.uncertainty = uncertainty * mapping.scale;
}

void TargetFold::FillGauge(const SignalMapping& mapping, const State& state,
                           SignalReading& reading) const {
  std::vector<TrackPoint> track = state.track;
  LetStand(state.missed, track);
  if (mapping.derivation == Derivation::kLifetimeMean && state.weight > 0) {
    track = {{.at = reading_.last, .value = state.weighted / state.weight * mapping.scale}};
  }
  if (track.empty()) {
    reading.missing = Missing::kNothing;
  } else {
    reading.gauge = GaugeOf(std::move(track));
  }
}

}  // namespace plimsoll
