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

Totals TotalsOf(const std::vector<std::vector<SimulatedStep>>& replicates, CalibratedPart part,
                double limit, std::size_t steps) {
  Totals totals{std::vector<double>(steps), std::vector<double>(steps)};
  for (const auto& sweep : replicates) {
    for (std::size_t k = 0; k < steps; ++k) {
      for (const ShareCell& cell : CellsAt(sweep[k], part, limit)) {
        totals.n[k] += static_cast<double>(cell.n);
        totals.hits[k] += static_cast<double>(cell.hits);
      }
    }
  }
  return totals;
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
      if (n > 0)
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
    Crossed one(sweeps.size());
    for (std::size_t p = 0; p < sweeps.size(); ++p) {
      for (const auto& sweep : sweeps[p]) one[p].push_back(sweep[k]);
    }
    return LongRunValue(one, part);
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

  void Add(const std::vector<std::vector<SimulatedStep>>& replicates,
           const std::vector<Totals>& long_run) {
    std::vector<Totals> all;
    for (std::size_t p = 0; p < std::size(kParts); ++p) {
      all.push_back(TotalsOf(replicates, kParts[p], bar_.limits[p].value, sessions_.size()));
    }
    double covered = 0;
    double counted = 0;
    for (const auto& sweep : replicates) {
      const SweepHistory history = HistoryOf(sweep);
      const Capacity capacity = CapacityOf(history);
      std::vector<Totals> own;
      for (std::size_t p = 0; p < std::size(kParts); ++p) {
        own.push_back(TotalsOf({sweep}, kParts[p], bar_.limits[p].value, sessions_.size()));
      }
      const Truth truth = TruthOf(all, own, sessions_, history.size());
      if (!capacity.band || !truth.end) {
        ++score_.none;
        continue;
      }
      const bool hit = Contains(*capacity.band, *truth.end);
      covered += hit ? 1 : 0;
      counted += 1;
      const Truth always = TruthOf(long_run, {}, sessions_, history.size());
      score_.covered_long_run += always.end && Contains(*capacity.band, *always.end) ? 1 : 0;
      AddWidth(*capacity.band);
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
    score_.open /= n;
    if (closed_ > 0) score_.width_sessions /= closed_;
    if (between_ > 0) score_.truth_mean = truths_ / between_;
    if (between_ > 0) score_.named /= between_;
    double mean = 0;
    for (const double x : by_path_) mean += x / static_cast<double>(by_path_.size());
    double sum = 0;
    for (const double x : by_path_) sum += (x - mean) * (x - mean);
    const auto paths = static_cast<double>(by_path_.size());
    if (paths > 1) score_.covered_error = std::sqrt(sum / (paths - 1) / paths);
    return score_;
  }

 private:
  // As the sweep's policy would have run it, without extensions and refinements.
  SweepHistory HistoryOf(const std::vector<SimulatedStep>& sweep) const {
    SweepHistory history;
    for (std::size_t k = 0; k < sessions_.size(); ++k) {
      history.push_back({.sessions = sessions_[k],
                         .verdict = JudgeSimulated(sweep[k], bar_),
                         .requests_in_flight = static_cast<double>(sessions_[k])});
      const StepVerdict& verdict = history.back().verdict;
      const bool climbs = verdict.verdict == Verdict::kPass ||
                          (verdict.verdict == Verdict::kTooClose && LeanOf(verdict) == Lean::kPass);
      if (!climbs) break;
    }
    return history;
  }

  void AddWidth(const CapacityBand& band) {
    if (band.low.open() || band.high.open()) {
      score_.open += 1;
      return;
    }
    score_.width_sessions += band.high.sessions - band.low.sessions;
    closed_ += 1;
  }

  const std::vector<std::uint32_t>& sessions_;
  const Bar& bar_;
  SweepScore score_;
  std::vector<double> by_path_;
  double closed_ = 0;
  double truths_ = 0;
  double between_ = 0;
};

}  // namespace

StepVerdict JudgeSimulated(const SimulatedStep& step, const Bar& bar) {
  StepVerdict verdict{.verdict = Verdict::kPass, .offered_share = 1, .sent_share = 1};
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
  for (const Verdict worst : {Verdict::kTooClose, Verdict::kNoData, Verdict::kFail}) {
    for (const PartVerdict& part : verdict.parts) {
      if (part.verdict == worst) verdict.verdict = worst;
    }
  }
  return verdict;
}

SweepScore ScoreSweep(const CrossedSweeps& sweeps, const std::vector<std::uint32_t>& sessions,
                      double place) {
  Bar bar;
  std::vector<Totals> long_run;
  for (std::size_t p = 0; p < std::size(kParts); ++p) {
    bar.limits.push_back(
        {.metric = kMetrics[p], .quantile = kQuantile, .value = LimitAt(sweeps, kParts[p], place)});
    Totals sum{std::vector<double>(sessions.size()), std::vector<double>(sessions.size())};
    for (const auto& path : sweeps) {
      const Totals of_path = TotalsOf(path, kParts[p], bar.limits[p].value, sessions.size());
      for (std::size_t k = 0; k < sessions.size(); ++k) {
        sum.n[k] += of_path.n[k];
        sum.hits[k] += of_path.hits[k];
      }
    }
    long_run.push_back(std::move(sum));
  }
  SweepScorer scorer(sessions, bar);
  for (const auto& path : sweeps) scorer.Add(path, long_run);
  SweepScore score = scorer.Finish();
  const Truth truth = TruthOf(long_run, {}, sessions, sessions.size());
  if (truth.end) score.at = truth.end->sessions;
  return score;
}

}  // namespace plimsoll
