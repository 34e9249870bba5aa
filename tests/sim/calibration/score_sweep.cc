#include "tests/sim/calibration/score_sweep.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "coordinator/judge/crossing.h"

namespace plimsoll {
namespace {

constexpr double kQuantile = 0.9;
constexpr CalibratedPart kParts[] = {CalibratedPart::kTtft, CalibratedPart::kInteractivity};
constexpr Metric kMetrics[] = {Metric::kTtft, Metric::kInteractivity};

// Counts of one part at each step, summed over replicates.
struct Totals {
  std::vector<double> n;
  std::vector<double> hits;
};

// Of each part of the bar in one sweep.
std::vector<Totals> TotalsOf(const std::vector<SimulatedStep>& sweep, const Bar& bar) {
  std::vector<Totals> all;
  for (std::size_t p = 0; p < std::size(kParts); ++p) {
    Totals& totals = all.emplace_back(
        Totals{std::vector<double>(sweep.size()), std::vector<double>(sweep.size())});
    for (std::size_t k = 0; k < sweep.size(); ++k) {
      for (const ShareCell& cell : CellsAt(sweep[k], kParts[p], bar.limits[p].value)) {
        totals.n[k] += static_cast<double>(cell.n);
        totals.hits[k] += static_cast<double>(cell.hits);
      }
    }
  }
  return all;
}

// An empty sum is none yet.
void AddTo(std::vector<Totals>& sum, const std::vector<Totals>& totals) {
  if (sum.empty()) {
    sum = totals;
    return;
  }
  for (std::size_t p = 0; p < totals.size(); ++p) {
    for (std::size_t k = 0; k < totals[p].n.size(); ++k) {
      sum[p].n[k] += totals[p].n[k];
      sum[p].hits[k] += totals[p].hits[k];
    }
  }
}

struct Truth {
  std::optional<CapacityEnd> end;  // Of the part that is crossed first.
  std::size_t part = 0;
};

// Of `all` without what `own` holds, over the first `steps` numbers of sessions.
Truth TruthOf(const std::vector<Totals>& all, const std::vector<Totals>& own,
              const std::vector<std::uint32_t>& sessions, std::size_t steps) {
  Truth truth;
  for (std::size_t p = 0; p < all.size(); ++p) {
    std::vector<SharePoint> points;
    for (std::size_t k = 0; k < steps; ++k) {
      const double n = all[p].n[k] - (own.empty() ? 0 : own[p].n[k]);
      const double hits = all[p].hits[k] - (own.empty() ? 0 : own[p].hits[k]);
      if (!(n > 0)) continue;
      points.push_back(
          {.sessions = static_cast<double>(sessions[k]), .share = hits / n, .weight = n});
    }
    const auto end = LocateCrossing(points, kQuantile, Trend::kFalls);
    if (!end || (truth.end && !Less(*end, *truth.end))) continue;
    truth = {end, p};
  }
  return truth;
}

bool Contains(const CapacityBand& band, const CapacityEnd& truth) {
  return !Less(truth, band.low) && !Less(band.high, truth);
}

// The limit at which the long run's share is 0.9 at `place` between the first step and the last.
double LimitAt(const CrossedSweeps& sweeps, CalibratedPart part, double place) {
  const std::size_t steps = sweeps.front().front().size();
  const double at = place * static_cast<double>(steps - 1);
  const auto below = std::min(static_cast<std::size_t>(at), steps - 2);
  const auto value = [&](std::size_t k) {
    std::vector<const SimulatedStep*> at_step;
    for (const auto& path : sweeps) {
      for (const auto& sweep : path) at_step.push_back(&sweep[k]);
    }
    return LongRunValue(at_step, part);
  };
  const double low = value(below);
  const double high = value(below + 1);
  const double part_of_step = at - static_cast<double>(below);
  return low * std::pow(high / low, part_of_step);
}

class SweepScorer {
 public:
  SweepScorer(const std::vector<std::uint32_t>& sessions, const Bar& bar)
      : sessions_(sessions), bar_(bar) {}

  // One path's replicates with the totals of each, of the path, and of all paths.
  void Add(const std::vector<std::vector<SimulatedStep>>& replicates,
           const std::vector<std::vector<Totals>>& totals, const std::vector<Totals>& of_path,
           const std::vector<Totals>& long_run) {
    double covered = 0;
    double counted = 0;
    for (std::size_t r = 0; r < replicates.size(); ++r) {
      const SweepHistory history = HistoryOf(replicates[r]);
      const Capacity capacity = CapacityOf(history);
      const Truth truth = TruthOf(of_path, totals[r], sessions_, history.size());
      if (!capacity.band || !truth.end) {
        ++score_.none;
        continue;
      }
      const bool hit = Contains(*capacity.band, *truth.end);
      covered += hit ? 1 : 0;
      counted += 1;
      const Truth always = TruthOf(long_run, {}, sessions_, history.size());
      score_.covered_long_run += always.end && Contains(*capacity.band, *always.end) ? 1 : 0;
      AddEnds(*capacity.band, hit);
      if (!truth.end->open()) {
        truths_ += truth.end->sessions;
        between_ += 1;
        score_.named += capacity.limiting_part == truth.part ? 1 : 0;
      }
    }
    score_.covered += covered;
    score_.sweeps += static_cast<std::uint64_t>(counted);
    if (counted > 0) by_path_.push_back(covered / counted);
  }

  SweepScore Finish() {
    const double n = std::max(1.0, static_cast<double>(score_.sweeps));
    score_.covered /= n;
    score_.covered_long_run /= n;
    score_.open_below /= n;
    score_.open_above /= n;
    const double closed = std::max(1.0, static_cast<double>(score_.closed));
    score_.width_sessions /= closed;
    score_.closed_covered /= closed;
    if (between_ > 0) score_.truth_mean = truths_ / between_;
    if (between_ > 0) score_.named /= between_;
    score_.covered_error = StandardError(by_path_);
    return score_;
  }

 private:
  // As the sweep's policy would have run it, without extensions and refinements.
  SweepHistory HistoryOf(const std::vector<SimulatedStep>& sweep) const {
    SweepHistory history;
    for (std::size_t k = 0; k < sessions_.size(); ++k) {
      if (NextStep(history, {.planned = sessions_}).kind != SweepDecision::Kind::kRun) break;
      history.push_back({.sessions = sessions_[k],
                         .verdict = JudgeSimulated(sweep[k], bar_),
                         .requests_in_flight = static_cast<double>(sessions_[k])});
    }
    return history;
  }

  void AddEnds(const CapacityBand& band, bool hit) {
    score_.open_below += band.low.open() ? 1 : 0;
    score_.open_above += band.high.open() ? 1 : 0;
    if (band.low.open() || band.high.open()) return;
    ++score_.closed;
    score_.closed_covered += hit ? 1 : 0;
    score_.width_sessions += band.high.sessions - band.low.sessions;
  }

  const std::vector<std::uint32_t>& sessions_;
  const Bar& bar_;
  SweepScore score_;
  std::vector<double> by_path_;
  double truths_ = 0;
  double between_ = 0;
};

}  // namespace

StepVerdict JudgeSimulated(const SimulatedStep& step, const Bar& bar) {
  StepVerdict verdict{.offered_share = 1, .sent_share = 1};
  for (const Limit& limit : bar.limits) {
    const CalibratedPart part =
        limit.metric == Metric::kTtft ? CalibratedPart::kTtft : CalibratedPart::kInteractivity;
    const ShareInterval interval = ShareOf(CellsAt(step, part, limit.value));
    PartVerdict judged{.limit = limit,
                       .verdict = Verdict::kNoData,
                       .n = interval.n,
                       .share_within = interval.share,
                       .share_low = interval.low,
                       .share_high = interval.high};
    if (interval.n >= FewestForQuantile(limit.quantile)) {
      const SideOf side = Compare(interval, limit.quantile, Side::kAbove);
      judged.lean = side.lean;
      judged.verdict = side.side == Side::kCrosses ? Verdict::kTooClose
                       : side.side == Side::kAbove ? Verdict::kPass
                                                   : Verdict::kFail;
    }
    verdict.parts.push_back(judged);
  }
  verdict.verdict = VerdictOf(verdict.parts);
  return verdict;
}

Bar SweepBar(const CrossedSweeps& sweeps, double place) {
  Bar bar;
  for (std::size_t p = 0; p < std::size(kParts); ++p) {
    bar.limits.push_back(
        {.metric = kMetrics[p], .quantile = kQuantile, .value = LimitAt(sweeps, kParts[p], place)});
  }
  return bar;
}

SweepScore ScoreSweep(const CrossedSweeps& sweeps, const std::vector<std::uint32_t>& sessions,
                      const Bar& bar) {
  std::vector<std::vector<std::vector<Totals>>> totals(sweeps.size());  // By path and replicate.
  std::vector<std::vector<Totals>> of_path(sweeps.size());
  std::vector<Totals> long_run;
  for (std::size_t path = 0; path < sweeps.size(); ++path) {
    for (const auto& sweep : sweeps[path]) {
      totals[path].push_back(TotalsOf(sweep, bar));
      AddTo(of_path[path], totals[path].back());
    }
    AddTo(long_run, of_path[path]);
  }
  SweepScorer scorer(sessions, bar);
  for (std::size_t path = 0; path < sweeps.size(); ++path) {
    scorer.Add(sweeps[path], totals[path], of_path[path], long_run);
  }
  SweepScore score = scorer.Finish();
  score.at = TruthOf(long_run, {}, sessions, sessions.size()).end;
  return score;
}

std::optional<CapacityEnd> LongRunCrossing(const CrossedSweeps& sweeps,
                                           const std::vector<std::uint32_t>& sessions,
                                           const Bar& bar) {
  std::vector<Totals> long_run;
  for (const auto& path : sweeps) {
    for (const auto& sweep : path) AddTo(long_run, TotalsOf(sweep, bar));
  }
  return TruthOf(long_run, {}, sessions, sessions.size()).end;
}

}  // namespace plimsoll
