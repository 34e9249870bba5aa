#include "tests/sim/calibration/score_cell.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "coordinator/serverjudge/block_share.h"

namespace plimsoll {
namespace {

std::vector<ShareCell> Observed(const SimulatedStep& step, CalibratedPart part, double limit) {
  return part == CalibratedPart::kErrors ? step.errors : CellsAt(step, part, limit);
}

// A limit from which the long-run value lies `off` to the worse.
double LimitFor(double value, CalibratedPart part, double off) {
  return part == CalibratedPart::kInteractivity ? value / (1 - off) : value / (1 + off);
}

bool HasValue(CalibratedPart part) {
  return part != CalibratedPart::kErrors;
}

ShareInterval IntervalOf(const std::vector<ShareCell>& cells, CalibratedPart part,
                         const ScoreOptions& options) {
  const bool errors = part == CalibratedPart::kErrors;
  if (options.counted == CountedBy::kLanes) {
    return errors ? SmallShareOf(cells) : ShareOf(cells, {.half_block = options.half_block});
  }
  std::map<std::uint32_t, BlockCount> by_block;
  std::set<std::uint32_t> lanes;
  for (const ShareCell& cell : cells) {
    lanes.insert(cell.lane);
    by_block[cell.block].n += cell.n;
    by_block[cell.block].hits += std::min(cell.n, cell.hits);
  }
  std::vector<BlockCount> blocks;
  blocks.reserve(by_block.size());
  for (const auto& [block, count] : by_block) blocks.push_back(count);
  const auto sessions = static_cast<std::uint32_t>(lanes.size());
  return errors ? SmallShareOverBlocks(blocks, sessions) : ShareOverBlocks(blocks, sessions);
}

// One path's replicates at one limit.
struct PathCounts {
  std::vector<ShareInterval> intervals;
  std::vector<ValueInterval> values;  // Of latency parts.
  double n = 0;
  double hits = 0;
};

PathCounts JudgePath(const std::vector<SimulatedStep>& replicates, const PathValues& known,
                     CalibratedPart part, double at, const ScoreOptions& options) {
  PathCounts path;
  const Limit limit{
      .metric = part == CalibratedPart::kTtft ? Metric::kTtft : Metric::kInteractivity,
      .quantile = options.quantile,
      .value = at};
  for (std::size_t i = 0; i < replicates.size(); ++i) {
    const SimulatedStep& step = replicates[i];
    const std::vector<ShareCell> cells = Observed(step, part, at);
    path.intervals.push_back(IntervalOf(cells, part, options));
    path.n += static_cast<double>(path.intervals.back().n);
    path.hits += static_cast<double>(path.intervals.back().hits);
    if (!HasValue(part) || options.counted == CountedBy::kBlocks) continue;
    path.values.push_back(IntervalOfValue(step, part, limit, cells, path.intervals.back(),
                                          known.values[i], known.valueless[i], options.half_block));
  }
  return path;
}

// Sums over steps, divided by their number in the end.
struct Tally {
  double steps = 0;
  double covered = 0;
  double above = 0;
  double below = 0;
  double long_run = 0;
  double wrong = 0;
  double close = 0;
  double failed = 0;
  double oracle_failed = 0;
  double width = 0;
  double value_covered = 0;
  double value_open = 0;
};

class Scorer {
 public:
  Scorer(CalibratedPart part, double quantile, double share_at_limit, double long_run)
      : part_(part), quantile_(quantile), edge_(share_at_limit), long_run_(long_run) {}

  // `truths`: of each replicate's percentile.
  void Add(const PathCounts& path, const std::vector<double>& truths) {
    Tally of_path;
    std::vector<double> shares;
    for (std::size_t i = 0; i < path.intervals.size(); ++i) {
      const ShareInterval& interval = path.intervals[i];
      const bool has_data = part_ == CalibratedPart::kErrors
                                ? interval.n > 0
                                : interval.n >= FewestForQuantile(quantile_);
      const double others = path.n - static_cast<double>(interval.n);
      if (!has_data || !(others > 0)) {
        ++no_data_;
        continue;
      }
      Count(interval, (path.hits - static_cast<double>(interval.hits)) / others, of_path);
      if (!path.values.empty()) CountValue(path.values[i], truths[i]);
      shares.push_back(interval.share);
    }
    AddSpread(shares);
    if (of_path.steps == 0) return;
    covered_by_path_.push_back(of_path.covered / of_path.steps);
    wrong_by_path_.push_back(of_path.wrong / of_path.steps);
  }

  PartScore Finish(double off) const {
    const double n = std::max(1.0, all_.steps);
    double variance = 0;
    for (const double v : variances_) variance += v / static_cast<double>(variances_.size());
    const double oracle = 2 * 1.96 * std::sqrt(variance);
    return {.part = part_,
            .off = off,
            .steps = static_cast<std::uint64_t>(all_.steps),
            .no_data = no_data_,
            .covered = all_.covered / n,
            .above = all_.above / n,
            .below = all_.below / n,
            .covered_error = StandardError(covered_by_path_),
            .covered_long_run = all_.long_run / n,
            .confident_wrong = all_.wrong / n,
            .confident_wrong_error = StandardError(wrong_by_path_),
            .too_close = all_.close / n,
            .failed = all_.failed / n,
            .oracle_failed = all_.oracle_failed / n,
            .value_covered = all_.value_covered / n,
            .value_open = all_.value_open / n,
            .width = all_.width / n,
            .oracle_width = oracle,
            .oracle_error = variance > 0 ? oracle * StandardError(variances_) / variance / 2 : 0};
  }

 private:
  void Count(const ShareInterval& interval, double truth, Tally& of_path) {
    const bool errors = part_ == CalibratedPart::kErrors;
    const bool above = interval.low > truth;
    const bool below = interval.high < truth;
    const bool clear_above = interval.low > edge_;
    const bool clear_below = interval.high < edge_;
    const bool holds = errors ? truth <= edge_ : truth >= edge_;
    const bool pass = errors ? clear_below : clear_above;
    const bool fail = errors ? clear_above : clear_below;
    for (Tally* tally : {&all_, &of_path}) {
      tally->steps += 1;
      tally->covered += !above && !below ? 1 : 0;
      tally->above += above ? 1 : 0;
      tally->below += below ? 1 : 0;
      tally->long_run += interval.low <= long_run_ && long_run_ <= interval.high ? 1 : 0;
      tally->wrong += (pass && !holds) || (fail && holds) ? 1 : 0;
      tally->close += !pass && !fail ? 1 : 0;
      tally->failed += fail ? 1 : 0;
      tally->width += interval.high - interval.low;
    }
  }

  void CountValue(const ValueInterval& interval, double truth) {
    const ShownPercentile open;
    all_.value_covered += Contains(interval, truth) ? 1 : 0;
    all_.value_open += interval.low == open || interval.high == open ? 1 : 0;
  }

  // The spread over the path's replicates, and what one who knows it would have called a fail.
  void AddSpread(const std::vector<double>& shares) {
    if (shares.size() < 2) return;
    const double error = StandardError(shares);
    variances_.push_back(error * error * static_cast<double>(shares.size()));
    const double half = 1.96 * std::sqrt(variances_.back());
    for (const double share : shares) {
      const bool fails =
          part_ == CalibratedPart::kErrors ? share - half > edge_ : share + half < edge_;
      all_.oracle_failed += fails ? 1 : 0;
    }
  }

  CalibratedPart part_;
  double quantile_;
  double edge_;      // The share that decides.
  double long_run_;  // The share over all paths.
  Tally all_;
  std::uint64_t no_data_ = 0;
  std::vector<double> covered_by_path_;
  std::vector<double> wrong_by_path_;
  std::vector<double> variances_;  // Of the share over a path's replicates, by path.
};

}  // namespace

const char* Name(CalibratedPart part) {
  switch (part) {
    case CalibratedPart::kTtft:
      return "TTFT";
    case CalibratedPart::kInteractivity:
      return "interactivity";
    case CalibratedPart::kErrors:
      return "errors";
  }
  return "?";
}

double StandardError(const std::vector<double>& by_path) {
  const auto n = static_cast<double>(by_path.size());
  double mean = 0;
  for (const double x : by_path) mean += x / n;
  double sum = 0;
  for (const double x : by_path) sum += (x - mean) * (x - mean);
  return n < 2 ? 0 : std::sqrt(sum / (n - 1) / n);
}

double LongRunValue(const std::vector<const SimulatedStep*>& steps, CalibratedPart part,
                    double quantile) {
  std::vector<float> values;
  double n = 0;
  double hits = 0;
  for (const SimulatedStep* step : steps) {
    for (const ShareCell& cell : step->errors) {
      n += static_cast<double>(cell.n);
      hits += static_cast<double>(cell.hits);
    }
    for (const SimulatedCall& call : step->calls) {
      if (const float value = ValueOf(call, part); !std::isnan(value)) values.push_back(value);
    }
  }
  if (part == CalibratedPart::kErrors) return n > 0 ? hits / n : 0;
  if (values.empty()) return 0;
  const double share = part == CalibratedPart::kTtft ? quantile : 1 - quantile;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::vector<PartScore> ScoreParts(const Crossed& steps, CalibratedPart part,
                                  const ScoreOptions& options) {
  std::vector<const SimulatedStep*> all;
  std::vector<PathValues> known;
  for (const auto& path : steps) {
    for (const SimulatedStep& step : path) all.push_back(&step);
    known.push_back(HasValue(part) ? ValuesOf(path, part, options.quantile) : PathValues{});
  }
  const double value = LongRunValue(all, part, options.quantile);
  std::vector<PartScore> scores;
  for (const double off : options.offs) {
    const double limit = LimitFor(value, part, off);
    std::vector<PathCounts> paths;
    double n = 0;
    double hits = 0;
    for (std::size_t p = 0; p < steps.size(); ++p) {
      paths.push_back(JudgePath(steps[p], known[p], part, limit, options));
      n += paths.back().n;
      hits += paths.back().hits;
    }
    Scorer scorer(part, options.quantile,
                  part == CalibratedPart::kErrors ? limit : options.quantile, n > 0 ? hits / n : 0);
    for (std::size_t p = 0; p < paths.size(); ++p) scorer.Add(paths[p], known[p].truths);
    scores.push_back(scorer.Finish(off));
  }
  return scores;
}

PartScore ScorePart(const Crossed& steps, CalibratedPart part, double off) {
  return ScoreParts(steps, part, {.offs = {off}}).front();
}

Pooled Pool(const std::vector<PartScore>& scores) {
  Pooled pooled;
  std::vector<double> ratios;
  double total = 0;
  double with_value = 0;
  for (const PartScore& s : scores) {
    if (s.steps == 0) continue;
    const auto w = static_cast<double>(s.steps);
    if (HasValue(s.part)) {
      with_value += w;
      pooled.value_covered += w * s.value_covered;
      pooled.value_open += w * s.value_open;
      pooled.value_covered_worst = std::min(pooled.value_covered_worst, s.value_covered);
    }
    total += w;
    pooled.steps += s.steps;
    pooled.covered += w * s.covered;
    pooled.covered_long_run += w * s.covered_long_run;
    pooled.confident_wrong += w * s.confident_wrong;
    pooled.too_close += w * s.too_close;
    pooled.covered_worst = std::min(pooled.covered_worst, s.covered);
    pooled.confident_wrong_worst = std::max(pooled.confident_wrong_worst, s.confident_wrong);
    pooled.ratio_worst = std::max(pooled.ratio_worst, s.ratio());
    ratios.push_back(s.ratio());
  }
  if (ratios.empty()) return pooled;
  for (double* sum :
       {&pooled.covered, &pooled.covered_long_run, &pooled.confident_wrong, &pooled.too_close}) {
    *sum /= total;
  }
  if (with_value > 0) {
    pooled.value_covered /= with_value;
    pooled.value_open /= with_value;
  }
  std::sort(ratios.begin(), ratios.end());
  pooled.ratio_median = ratios[ratios.size() / 2];
  return pooled;
}

}  // namespace plimsoll
