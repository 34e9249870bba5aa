#include "coordinator/serverjudge/drain_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "coordinator/serverjudge/source_step.h"
#include "coordinator/signals/target_reading.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

using Samples = std::span<const TargetSample>;

// Sums of gauges are decimals.
constexpr double kSlack = 1e-9;

// One target, before the run and since its end.
struct Target {
  PartSource source = PartSource::kEngines;
  const TargetSeries* since = nullptr;
  TargetReading before;
  std::vector<TargetSample> reads;  // Since the end; fewer than two: it was not read twice yet.
  TargetReading now;                // Of them.
  std::string moves;                // A counter that moved between them; empty: none.
  bool moved_before = false;
};

std::vector<Signal> LevelsOf(PartSource source) {
  if (source == PartSource::kGateway) return {Signal::kOpenRequests};
  return {Signal::kRunning, Signal::kWaiting};
}

// The first counter or histogram that counted something.
std::string Moving(const TargetReading& reading) {
  for (const SignalReading& one : reading.signals) {
    const SignalKind kind = TraitsOf(one.signal).kind;
    if (!one.here() || kind == SignalKind::kGauge) continue;
    double counted = one.increase - one.uncertainty;
    for (const BucketCounts& counts : one.histograms) {
      counted = std::max(counted, static_cast<double>(counts.n));
    }
    if (counted > 0) return std::string(TraitsOf(one.signal).name);
  }
  return "";
}

const TargetSeries* Find(const SignalHistory& history, const TargetSeries& like) {
  for (const TargetSeries& target : history.targets) {
    if (target.source == like.source && target.name == like.name) return &target;
  }
  return nullptr;
}

// From the last page that is `apart` before the last one; that one alone where there is none.
std::vector<TargetSample> LastReads(Samples samples, MonoTime ended, Duration apart) {
  std::vector<TargetSample> reads;
  for (std::size_t i = samples.size(); i > 0 && samples[i - 1].at >= ended; --i) {
    reads.insert(reads.begin(), samples[i - 1]);
    if (samples.back().at - samples[i - 1].at >= apart) return reads;
  }
  if (reads.size() > 1) reads.erase(reads.begin(), reads.end() - 1);
  return reads;
}

std::vector<Target> Gather(const SignalHistory& before, const SignalHistory& since, MonoTime ended,
                           Duration apart) {
  std::vector<Target> targets;
  for (const TargetSeries& series : since.targets) {
    Target target;
    if (series.source == kProductionSource) continue;
    target.source = series.source == kGatewaySource ? PartSource::kGateway : PartSource::kEngines;
    target.since = &series;
    const TargetSeries* was = Find(before, series);
    target.before = ReadTarget(*series.mapping, was == nullptr ? Samples() : Samples(was->samples));
    target.moved_before = !Moving(target.before).empty();
    target.reads = LastReads(series.samples, ended, apart);
    target.now = ReadTarget(*series.mapping, target.reads);
    target.moves = Moving(target.now);
    targets.push_back(std::move(target));
  }
  return targets;
}

class Check {
 public:
  Check(std::vector<Target> targets, const DrainRule& rule)
      : targets_(std::move(targets)), rule_(rule) {}

  DrainSummary Run() {
    for (const Target& target : targets_) LookAt(target);
    Orphans();
    if (drain_.gauges.empty()) Unknown("no page shows what runs, waits or is open");
    drain_.state = not_back_  ? DrainState::kNotBack
                   : unknown_ ? DrainState::kUnknown
                              : DrainState::kBack;
    return std::move(drain_);
  }

 private:
  void Unknown(std::string line) {
    unknown_ = true;
    drain_.lines.push_back(std::move(line));
  }
  void NotBack(std::string line) {
    not_back_ = true;
    drain_.lines.push_back(std::move(line));
  }

  void LookAt(const Target& target) {
    const std::string& name = target.since->name;
    const std::vector<TargetSample>& reads = target.reads;
    const bool read_twice = reads.size() > 1 && reads.front().readable() && reads.back().readable();
    if (!read_twice) {
      const bool failed = !reads.empty() && !reads.back().readable();
      Unknown(failed ? fmt::format("{}: the page could not be read ({})", name,
                                   Printable(MessageOf(reads.back().status), 160))
                     : fmt::format("{}: it was not read twice since the load ended", name));
    }
    if (read_twice && target.now.continuity != Continuity::kWhole) {
      Unknown(
          fmt::format("{}: {} since the load ended", name, ContinuityWords(target.now.continuity)));
    }
    for (const Signal signal : LevelsOf(target.source)) LookAt(target, signal, read_twice);
    if (read_twice && !target.moves.empty() && !target.moved_before) {
      NotBack(fmt::format("{}: {} still moves", name, target.moves));
    }
  }

  void LookAt(const Target& target, Signal signal, bool read_twice) {
    const SignalReading& now = target.now.Of(signal);
    // A kind of server without this gauge has another that tells, or none does.
    if (now.missing == Missing::kByDesign || now.missing == Missing::kNotMapped) return;
    const SignalReading& before = target.before.Of(signal);
    DrainGauge gauge{.source = target.source,
                     .target = target.since->name,
                     .signal = signal,
                     .before = {},
                     .now = {}};
    if (before.here()) gauge.before = before.gauge.max;
    if (now.here()) gauge.now = now.gauge.last;
    const double level = gauge.before.value_or(0);
    const bool shared = target.source == PartSource::kGateway && level > 0;
    const double allowed =
        level + (shared ? std::max(rule_.shared_count, rule_.shared_share * level) : 0) + kSlack;
    gauge.back = read_twice && gauge.now && now.gauge.max <= allowed;
    if (read_twice && gauge.now && !gauge.back) Above(target, gauge, now.gauge.last > allowed);
    if (read_twice && !gauge.now) {
      Unknown(fmt::format("{}: {}: {}", target.since->name, TraitsOf(signal).name,
                          MissingWords(now.missing)));
    }
    if (!gauge.before) {
      drain_.lines.push_back(fmt::format("{}: {} was not seen before the run and counts as 0",
                                         target.since->name, TraitsOf(signal).name));
    }
    drain_.gauges.push_back(std::move(gauge));
  }

  void Above(const Target& target, const DrainGauge& gauge, bool still_above) {
    std::string line =
        fmt::format("{}: {} {:g}, before the run {:g}", gauge.target, TraitsOf(gauge.signal).name,
                    *gauge.now, gauge.before.value_or(0));
    if (!still_above) line += ": back at the last read only";
    const bool frozen =
        still_above && target.source == PartSource::kEngines && target.moves.empty();
    const bool moving = still_above && target.source == PartSource::kEngines && !frozen;
    moving_above_ = moving_above_ || moving;
    if (frozen) {
      line += ", and no counter moves: the gauge was not written again, or work stands still in it";
    }
    NotBack(std::move(line));
  }

  // Above their levels, in the engines and at the gateway.
  void Orphans() {
    double inside = 0;
    double open = 0;
    bool any_gateway = false;
    for (const DrainGauge& gauge : drain_.gauges) {
      const double above = std::max(0.0, gauge.now.value_or(0) - gauge.before.value_or(0));
      if (gauge.source == PartSource::kEngines) inside += above;
      if (gauge.source == PartSource::kGateway) open += above;
      any_gateway = any_gateway || (gauge.source == PartSource::kGateway && gauge.now);
    }
    if (!any_gateway || !(inside - open > 0)) return;
    drain_.orphaned = inside - open;
    drain_.lines.push_back(fmt::format(
        "{:g} requests in the engines that no caller at the gateway waits for: orphaned work{}",
        drain_.orphaned, moving_above_ ? "" : ", if those gauges are right"));
  }

  const std::vector<Target> targets_;
  const DrainRule& rule_;
  DrainSummary drain_;
  bool not_back_ = false;
  bool moving_above_ = false;  // An engine that is above its level works on.
  bool unknown_ = false;
};

}  // namespace

DrainSummary CheckDrain(const SignalHistory& before, const SignalHistory& since, MonoTime ended,
                        MonoTime now, const DrainRule& rule) {
  DrainSummary drain = Check(Gather(before, since, ended, rule.apart), rule).Run();
  drain.took = std::max(Duration{0}, now - ended);
  return drain;
}

}  // namespace plimsoll
