#include "coordinator/judge/early_look.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/judge/judge_part.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/judge/void_rules.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kFirstLook = 2;
// A step opens with a wave: all its new lanes send at once. What warm-up leaves of it is over by
// then.
constexpr Duration kLookAfterMin = 60s;
// Failed attempts up to which latencies are looked at: a lane is silent after each.
constexpr double kFailedShareMax = 0.01;
// Of freedom. By four half-blocks alone they are two or three, whose t at a look's tail is 10 to
// 20: nothing would ever fail. Chosen on the calibration's grid: from 12 on, wrong looks grow.
constexpr double kDegreesMin = 6;

// What the looks up to the one after `done` blocks may have spent.
double SpentUpTo(std::uint32_t done, std::uint32_t blocks) {
  if (done < kFirstLook) return 0;
  const double u = static_cast<double>(done) / (blocks - 1);
  return kEarlyError * u * u;
}

double FailedShare(const StepEvidence& evidence) {
  double attempts = 0;
  double failed = 0;
  for (const CellCounts& cell : evidence.cells) {
    attempts += cell.attempts;
    failed += cell.failed;
  }
  return attempts > 0 ? failed / attempts : 0;
}

// Spread over the lanes' latest cells: nobody knows yet which lane's they are.
void AddInFlight(StepEvidence& evidence, std::uint32_t in_flight) {
  std::uint32_t latest = 0;
  for (const CellCounts& cell : evidence.cells) latest = std::max(latest, cell.block);
  std::vector<CellCounts*> cells;
  for (CellCounts& cell : evidence.cells) {
    if (cell.block == latest) cells.push_back(&cell);
  }
  for (std::uint32_t i = 0; i < in_flight && !cells.empty(); ++i) {
    ++cells[i % cells.size()]->attempts;
  }
}

}  // namespace

double ErrorSpentAt(std::uint32_t done, std::uint32_t blocks) {
  if (done < kFirstLook || done >= blocks) return 0;
  return SpentUpTo(done, blocks) - SpentUpTo(done - 1, blocks);
}

std::optional<EarlyFinding> LookEarly(StepEvidence so_far, const Bar& bar, std::uint32_t done,
                                      std::uint32_t in_flight) {
  const std::uint32_t blocks = so_far.plan.blocks();
  const auto is_looked_at = [&](const Limit& limit) {
    return limit.metric != Metric::kToolCalls && IsJudged(limit, so_far);
  };
  const double tail = ErrorSpentAt(done, blocks);
  if (!(tail > 0) || done * so_far.plan.block < kLookAfterMin) return std::nullopt;
  AddInFlight(so_far, in_flight);
  const bool load_is_whole = FailedShare(so_far) <= kFailedShareMax;
  const Confidence at_look{.tail = tail, .degrees_min = kDegreesMin};
  EarlyFinding finding{.after_blocks = done, .of_blocks = blocks, .failed = {}};
  for (std::size_t i = 0; i < bar.limits.size(); ++i) {
    const Limit& limit = bar.limits[i];
    if (!is_looked_at(limit)) continue;
    if (!IsBadShare(limit.metric) && !load_is_whole) continue;
    if (JudgePart(limit, i, so_far, 1, at_look).verdict != Verdict::kFail) continue;
    PartVerdict shown = JudgePart(limit, i, so_far, 1);
    if (shown.verdict != Verdict::kFail) continue;
    shown.reason = fmt::format("after {} of {} blocks, {}", done, blocks, shown.reason);
    finding.failed.push_back(std::move(shown));
  }
  if (finding.failed.empty()) return std::nullopt;
  return finding;
}

StepVerdict FailedEarly(StepVerdict judged, const EarlyFinding& finding) {
  if (judged.is_void) return judged;
  for (PartVerdict& part : judged.parts) {
    if (part.verdict == Verdict::kFail || part.verdict == Verdict::kNoData) continue;
    std::string reason = fmt::format("the step was ended early, after {} of {} blocks: {}",
                                     finding.after_blocks, finding.of_blocks, part.reason);
    part = NoData(std::move(part), std::move(reason));
  }
  const bool whole_load = judged.sent_share >= void_rules::kSentShareMin;
  for (PartVerdict& part : judged.parts) {
    for (const PartVerdict& failed : finding.failed) {
      if (!(failed.limit == part.limit)) continue;
      if (whole_load || IsBadShare(part.limit.metric)) part = failed;
    }
  }
  judged.reasons = ReasonsWith(judged, Verdict::kFail);
  judged.verdict = judged.reasons.empty() ? Verdict::kNoData : Verdict::kFail;
  if (judged.reasons.empty()) {
    judged.reasons.push_back(fmt::format("ended after {} of {} blocks, and nothing of it fails: {}",
                                         finding.after_blocks, finding.of_blocks,
                                         finding.failed.front().reason));
  }
  return judged;
}

}  // namespace plimsoll
