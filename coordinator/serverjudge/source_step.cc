#include "coordinator/serverjudge/source_step.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

using Samples = std::span<const TargetSample>;

// A target's pages at the edges of a span.
struct Edges {
  std::optional<std::size_t> first;
  std::optional<std::size_t> last;
  std::vector<std::optional<std::size_t>> inner;  // Between blocks.
};

// Index of the page nearest to `at` that could be read, at most `within` away.
std::optional<std::size_t> NearestReadable(Samples samples, MonoTime at, Duration within) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Duration away = std::chrono::abs(samples[i].at - at);
    if (!samples[i].readable() || away > within) continue;
    if (!best || away < std::chrono::abs(samples[*best].at - at)) best = i;
  }
  return best;
}

std::size_t BlocksIn(const MeasuredSpan& span) {
  if (span.block <= Duration{0} || span.to <= span.from) return 1;
  return std::max<std::size_t>(1, static_cast<std::size_t>((span.to - span.from) / span.block));
}

Edges EdgesOf(Samples samples, const MeasuredSpan& span) {
  const Duration within = (span.block > Duration{0} ? span.block : span.to - span.from) / 2;
  Edges edges{.first = NearestReadable(samples, span.from, within),
              .last = NearestReadable(samples, span.to, within),
              .inner = {}};
  if (edges.first && edges.last && *edges.last <= *edges.first) edges.last.reset();
  for (std::size_t i = 1; i < BlocksIn(span); ++i) {
    edges.inner.push_back(
        NearestReadable(samples, span.from + static_cast<std::int64_t>(i) * span.block, within));
  }
  return edges;
}

// What stands for an edge without a page: why the last ask before it failed, or, where that had not
// failed, one soon after it. A target that fails is left alone, so the last ask may be a while ago.
TargetSample NoPage(Samples samples, MonoTime at, Duration within, std::string_view which) {
  const TargetSample* last = nullptr;
  for (const TargetSample& sample : samples) {
    const bool before = sample.at <= at;
    if (before || (!sample.readable() && sample.at - at <= within)) last = &sample;
  }
  if (last != nullptr && !last->readable()) {
    return TargetReader::Unreadable(last->status, at, Duration{0});
  }
  return TargetReader::Unreadable(
      absl::UnavailableError(
          fmt::format("none came within {} of the measured time's {}", ShortTime(within), which)),
      at, Duration{0});
}

TargetReading ReadWhole(const TargetSeries& target, const MeasuredSpan& span, const Edges& edges) {
  const Samples samples = target.samples;
  if (edges.first && edges.last) {
    return ReadTarget(*target.mapping,
                      samples.subspan(*edges.first, *edges.last - *edges.first + 1));
  }
  // Gauges are read all the same.
  const Duration within = (span.block > Duration{0} ? span.block : span.to - span.from) / 2;
  std::vector<TargetSample> some;
  if (!edges.first) some.push_back(NoPage(samples, span.from, within, "start"));
  for (const TargetSample& sample : samples) {
    if (sample.readable() && sample.at >= span.from && sample.at <= span.to) some.push_back(sample);
  }
  if (!edges.last) some.push_back(NoPage(samples, span.to, within, "end"));
  return ReadTarget(*target.mapping, some);
}

// Share of the span between the two pages, of which nobody knows more than half an exchange when
// they were written.
double Covered(const TargetReading& reading, const MeasuredSpan& span) {
  const Duration time = std::min(reading.last - reading.last_uncertainty, span.to) -
                        std::max(reading.first + reading.first_uncertainty, span.from);
  return span.to > span.from ? std::clamp(ToSeconds(time) / ToSeconds(span.to - span.from), 0., 1.)
                             : 1;
}

bool IsIdle(const TargetReading& reading) {
  bool any = false;
  for (const Signal signal : {Signal::kRunning, Signal::kWaiting, Signal::kOpenRequests}) {
    const SignalReading& gauge = reading.Of(signal);
    if (!gauge.here()) continue;
    any = true;
    if (gauge.gauge.max > 0) return false;
  }
  return any;
}

// The edges that every target has, in turn; nothing if one lacks the span's own.
std::vector<std::vector<std::size_t>> CommonEdges(const std::vector<Edges>& targets) {
  std::vector<std::size_t> begin;
  std::vector<std::size_t> end;
  for (const Edges& edges : targets) {
    if (!edges.first || !edges.last) return {};
    begin.push_back(*edges.first);
    end.push_back(*edges.last);
  }
  std::vector<std::vector<std::size_t>> common{begin};
  for (std::size_t i = 0; i < targets.front().inner.size(); ++i) {
    std::vector<std::size_t> here;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const std::optional<std::size_t>& edge = targets[t].inner[i];
      if (!edge || *edge <= common.back()[t] || *edge >= end[t]) break;
      here.push_back(*edge);
    }
    if (here.size() == targets.size()) common.push_back(std::move(here));
  }
  common.push_back(std::move(end));
  return common;
}

std::optional<SourceReading> ReadAfter(const std::vector<const TargetSeries*>& targets,
                                       const std::vector<Edges>& edges, const MeasuredSpan& span) {
  std::vector<TargetReading> readings;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const Samples samples = targets[t]->samples;
    if (!edges[t].last) return std::nullopt;
    std::optional<std::size_t> end;
    for (std::size_t i = *edges[t].last + 1; i < samples.size() && !end; ++i) {
      if (samples[i].readable() && samples[i].at >= span.ended) end = i;
    }
    if (!end) return std::nullopt;
    readings.push_back(ReadTarget(*targets[t]->mapping,
                                  samples.subspan(*edges[t].last, *end - *edges[t].last + 1)));
    if (readings.back().continuity != Continuity::kWhole) return std::nullopt;
  }
  return CombineTargets(readings);
}

SpanReading ReadSpan(const std::vector<const TargetSeries*>& targets, const MeasuredSpan& span) {
  std::vector<Edges> edges;
  std::vector<TargetReading> readings;
  SpanReading reading;
  for (const TargetSeries* target : targets) {
    edges.push_back(EdgesOf(target->samples, span));
    readings.push_back(ReadWhole(*target, span, edges.back()));
    reading.idle.push_back(IsIdle(readings.back()));
    reading.covered = std::min(reading.covered, Covered(readings.back(), span));
  }
  reading.whole = CombineTargets(readings);
  reading.seconds = ToSeconds(span.to - span.from);
  const std::vector<std::vector<std::size_t>> common = CommonEdges(edges);
  for (std::size_t i = 0; i + 1 < common.size(); ++i) {
    readings.clear();
    for (std::size_t t = 0; t < targets.size(); ++t) {
      const std::size_t first = common[i][t];
      readings.push_back(
          ReadTarget(*targets[t]->mapping,
                     Samples(targets[t]->samples).subspan(first, common[i + 1][t] - first + 1)));
    }
    reading.blocks.push_back(CombineTargets(readings));
  }
  reading.after = ReadAfter(targets, edges, span);
  return reading;
}

std::vector<const TargetSeries*> TargetsOf(const SignalHistory& history, PartSource source) {
  std::vector<const TargetSeries*> targets;
  for (const TargetSeries& target : history.targets) {
    if (target.source == KeyOf(source)) targets.push_back(&target);
  }
  return targets;
}

// A copy that was idle had nothing to observe.
bool IsExcused(const SpanReading& span, const LackingTarget& lacking) {
  return lacking.missing == Missing::kNothing && lacking.why.empty() &&
         lacking.target < span.idle.size() && span.idle[lacking.target];
}

}  // namespace

std::string_view KeyOf(PartSource source) {
  return source == PartSource::kGateway ? kGatewaySource : kEnginesSource;
}

bool SourceStep::Has(Signal signal) const {
  return there() && Lacks(signal).empty();
}

std::string SourceStep::Lacks(Signal signal) const {
  for (const SpanReading& span : spans) {
    const SourceSignal& one = span.whole.Of(signal);
    bool any_excused = false;
    for (const LackingTarget& lacking : one.lacking) {
      any_excused = any_excused || IsExcused(span, lacking);
      if (IsExcused(span, lacking) && one.reading.here()) continue;
      return fmt::format("{}: {}{}", targets[lacking.target], MissingWords(lacking.missing),
                         lacking.why.empty() ? "" : fmt::format(" ({})", lacking.why));
    }
  }
  return "";
}

std::string SourceStep::BrokenBy() const {
  Continuity worst = Continuity::kWhole;
  std::string words;
  for (const SpanReading& span : spans) {
    for (const BrokenTarget& broken : span.whole.broken) {
      if (broken.continuity <= worst) continue;
      worst = broken.continuity;
      words =
          fmt::format("{}: {} ({})", targets[broken.target], ContinuityWords(worst), broken.why);
    }
  }
  return words;
}

bool SourceStep::Trusted(Signal signal) const {
  return std::all_of(spans.begin(), spans.end(), [signal](const SpanReading& span) {
    return span.whole.Of(signal).reading.trusted;
  });
}

double SourceStep::Increase(Signal signal) const {
  double sum = 0;
  for (const SpanReading& span : spans) sum += span.whole.Of(signal).reading.increase;
  return sum;
}

double SourceStep::Last(Signal signal) const {
  double sum = 0;
  for (const SpanReading& span : spans) sum += span.whole.Of(signal).reading.gauge.last;
  return sum;
}

double SourceStep::Covered() const {
  double covered = 0;
  double seconds = 0;
  for (const SpanReading& span : spans) {
    covered += span.covered * span.seconds;
    seconds += span.seconds;
  }
  return seconds > 0 ? covered / seconds : 1;
}

SourceStep ReadSource(const SignalHistory& history, PartSource source,
                      std::span<const MeasuredSpan> spans) {
  SourceStep step{.source = source, .targets = {}, .spans = {}};
  const std::vector<const TargetSeries*> targets = TargetsOf(history, source);
  for (const TargetSeries* target : targets) step.targets.push_back(target->name);
  if (targets.empty()) return step;
  for (const MeasuredSpan& span : spans) step.spans.push_back(ReadSpan(targets, span));
  return step;
}

std::vector<TargetGauges> ReadGauges(const SignalHistory& history, PartSource source, MonoTime from,
                                     MonoTime to) {
  std::vector<TargetGauges> gauges;
  for (const TargetSeries* target : TargetsOf(history, source)) {
    std::vector<TargetSample> samples;
    for (const TargetSample& sample : target->samples) {
      if (sample.at >= from && sample.at <= to) samples.push_back(sample);
    }
    gauges.push_back({target->name, ReadTarget(*target->mapping, samples)});
  }
  return gauges;
}

}  // namespace plimsoll
