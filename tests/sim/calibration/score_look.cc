#include "tests/sim/calibration/score_look.h"

#include <algorithm>
#include <optional>

#include "coordinator/judge/early_look.h"
#include "tests/sim/calibration/score_sweep.h"

namespace plimsoll {
namespace {

constexpr Duration kWarmUp = 60s;
constexpr double kQuantile = 0.9;

constexpr CalibratedPart kLatencies[] = {CalibratedPart::kTtft, CalibratedPart::kInteractivity};
constexpr double kFarInside = 4;

// The bar of design section 11: both latencies and errors, the other latency far inside its limit.
Bar BarOf(const std::vector<SimulatedStep>& replicates, CalibratedPart part, double over) {
  std::vector<const SimulatedStep*> all;
  all.reserve(replicates.size());
  for (const SimulatedStep& step : replicates) all.push_back(&step);
  Bar bar;
  for (const CalibratedPart latency : kLatencies) {
    const bool times = latency == CalibratedPart::kTtft;
    const double worse = latency == part ? over : 1 / kFarInside;
    const double value = LongRunValue(all, latency, kQuantile);
    bar.limits.push_back({.metric = times ? Metric::kTtft : Metric::kInteractivity,
                          .quantile = kQuantile,
                          .value = times ? value / worse : value * worse});
  }
  bar.limits.push_back({.metric = Metric::kErrors, .value = 0.02});
  return bar;
}

// A step as far as its first `done` blocks show it.
struct Seen {
  StepEvidence evidence;
  std::uint32_t in_flight = 0;
};

Seen SeenAfter(const SimulatedStep& step, const SimulatedCell& cell, const Bar& bar,
               std::uint32_t done) {
  Seen seen;
  seen.evidence.plan = {
      .sessions = cell.lanes, .measure = cell.blocks * cell.block, .block = cell.block};
  const auto now = static_cast<float>(ToSeconds(done * cell.block));
  SimulatedStep ended;
  for (const SimulatedCall& call : step.calls) {
    if (call.block >= done) continue;
    if (call.ended_s > now) {
      ++seen.in_flight;
    } else {
      ended.calls.push_back(call);
    }
  }
  for (std::size_t p = 0; p < std::size(kLatencies); ++p) {
    for (const ShareCell& share : CellsAt(ended, kLatencies[p], bar.limits[p].value)) {
      CellCounts cell_counts{.lane = share.lane, .block = share.block, .half = share.half};
      cell_counts.parts.resize(bar.limits.size());
      cell_counts.parts[p] = {.n = static_cast<std::uint32_t>(share.n),
                              .hits = static_cast<std::uint32_t>(share.hits)};
      seen.evidence.cells.push_back(std::move(cell_counts));
    }
  }
  for (const SimulatedCall& call : ended.calls) {
    CellCounts attempt{.lane = call.lane, .block = call.block, .half = call.half, .attempts = 1};
    attempt.failed = call.failed ? 1 : 0;
    attempt.parts.resize(bar.limits.size());
    seen.evidence.cells.push_back(std::move(attempt));
  }
  return seen;
}

// Of a step that fails: its time that is saved, in blocks; 0: it fails at its end only.
std::optional<std::uint32_t> BlocksSaved(const SimulatedStep& step, const SimulatedCell& cell,
                                         CalibratedPart part, const Bar& bar) {
  for (std::uint32_t done = 1; done < cell.blocks; ++done) {
    const Seen seen = SeenAfter(step, cell, bar, done);
    if (LookEarly(seen.evidence, bar, done, seen.in_flight)) return cell.blocks - done;
  }
  const Limit& limit = bar.limits[part == CalibratedPart::kTtft ? 0 : 1];
  const bool fails = JudgeSimulated(step, {.limits = {limit}}).verdict == Verdict::kFail;
  return fails ? std::optional<std::uint32_t>(0) : std::nullopt;
}

}  // namespace

LookScore ScoreLooks(const Crossed& steps, const SimulatedCell& cell, CalibratedPart part,
                     double over) {
  LookScore score{.part = part, .over = over};
  score.ended_after.resize(cell.blocks);
  std::vector<double> ended_by_path;
  std::vector<double> saved_by_path;
  double missed = 0;
  double saved = 0;
  for (const auto& replicates : steps) {
    const Bar bar = BarOf(replicates, part, over);
    double ended_here = 0;
    double missed_here = 0;
    double saved_here = 0;
    for (const SimulatedStep& step : replicates) {
      ++score.steps;
      const auto blocks = BlocksSaved(step, cell, part, bar);
      if (!blocks) continue;
      missed_here += 1;
      saved_here += *blocks / (ToSeconds(kWarmUp) / ToSeconds(cell.block) + cell.blocks);
      if (*blocks == 0) continue;
      ended_here += 1;
      score.ended_after[cell.blocks - *blocks] += 1;
    }
    ended_by_path.push_back(ended_here / static_cast<double>(replicates.size()));
    if (missed_here > 0) saved_by_path.push_back(saved_here / missed_here);
    missed += missed_here;
    saved += saved_here;
  }
  const double n = std::max(1.0, static_cast<double>(score.steps));
  for (double& share : score.ended_after) {
    share /= n;
    score.ended += share;
  }
  score.missed = missed / n;
  if (missed > 0) score.saved = saved / missed;
  score.ended_error = StandardError(ended_by_path);
  score.saved_error = StandardError(saved_by_path);
  return score;
}

}  // namespace plimsoll
