#include "coordinator/serverjudge/block_share.h"

#include <algorithm>
#include <cmath>

#include "common/stats/clopper_pearson.h"
#include "common/stats/student_t.h"
#include "coordinator/judge/spread.h"

namespace plimsoll {
namespace {

// Degrees that an assumed spread is worth.
constexpr double kAssumedDegrees = 2;

struct Totals {
  ShareInterval result;
  std::vector<double> residuals;
  double n = 0;
  double binomial = 0;
};

Totals Gather(const std::vector<BlockCount>& blocks) {
  Totals totals;
  for (const BlockCount& block : blocks) {
    if (block.n == 0) continue;
    totals.result.n += block.n;
    totals.result.hits += std::min(block.n, block.hits);
    ++totals.result.clusters;
  }
  totals.n = static_cast<double>(totals.result.n);
  if (totals.result.n == 0) return totals;
  totals.result.share = static_cast<double>(totals.result.hits) / totals.n;
  totals.binomial = totals.n * totals.result.share * (1 - totals.result.share);
  for (const BlockCount& block : blocks) {
    if (block.n == 0) continue;
    totals.residuals.push_back(static_cast<double>(std::min(block.n, block.hits)) -
                               static_cast<double>(block.n) * totals.result.share);
  }
  return totals;
}

double DesignEffect(const Totals& totals, std::uint32_t sessions) {
  if (totals.result.clusters < kBlocksForSpread) return kFewBlocksEffect;
  const double assumed = SessionsEffect(totals.result.n, sessions);
  if (!(totals.binomial > 0)) return assumed;
  return std::max(assumed, SquaresOf(totals.residuals) / totals.binomial);
}

}  // namespace

double SessionsEffect(std::uint64_t n, std::uint32_t sessions) {
  const double calls = static_cast<double>(n) / std::max(1u, sessions);
  return std::clamp(1 + calls / kSessionCalls, 2.0, kSessionsEffectMax);
}

ShareInterval ShareOverBlocks(const std::vector<BlockCount>& blocks, std::uint32_t sessions) {
  Totals totals = Gather(blocks);
  ShareInterval result = totals.result;
  if (result.n == 0) return result;
  result.design_effect = DesignEffect(totals, sessions);
  result.degrees = result.clusters < kBlocksForSpread ? kAssumedDegrees
                                                      : static_cast<double>(result.clusters - 1);
  const double t = StudentTQuantile(1 - kTail, result.degrees);
  // The p with (s − p)² <= c·p(1−p): Wilson's interval.
  const double c = t * t * result.design_effect / totals.n;
  const double s = result.share;
  const double middle = (s + c / 2) / (1 + c);
  const double half = std::sqrt(c * s * (1 - s) + c * c / 4) / (1 + c);
  result.low = std::clamp(middle - half, 0.0, s);
  result.high = std::clamp(middle + half, s, 1.0);
  return result;
}

ShareInterval SmallShareOverBlocks(const std::vector<BlockCount>& blocks, std::uint32_t sessions) {
  const Totals totals = Gather(blocks);
  ShareInterval result = totals.result;
  if (result.n == 0) return result;
  const bool sees_spread = result.hits > 0 || result.clusters < kBlocksForSpread;
  result.design_effect = sees_spread ? DesignEffect(totals, sessions) : 1;
  const double effective = std::max(1.0, totals.n / result.design_effect);
  const Interval interval = ClopperPearson(result.share * effective, effective, 1 - 2 * kTail);
  result.low = interval.low;
  result.high = interval.high;
  return result;
}

}  // namespace plimsoll
