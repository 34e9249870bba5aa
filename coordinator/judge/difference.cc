#include "coordinator/judge/difference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "common/stats/student_t.h"
#include "coordinator/judge/spread.h"

namespace plimsoll {
namespace {

constexpr std::size_t kLanesOnASideMin = 5;

using ByLane = std::map<std::uint32_t, std::vector<double>>;

// What one run's lanes add to its share's error.
struct Errors {
  ByLane lanes;  // By slice of time.
  // Lanes with a hit, and with a miss.
  std::size_t lanes_hit = 0;
  std::size_t lanes_missed = 0;
};

Errors ErrorsOf(const SharePart& part, const ShareInterval& share) {
  Errors errors{.lanes = ResidualsByLane(part.cells, part.half_block, share.share,
                                         static_cast<double>(share.n))};
  std::map<std::uint32_t, std::pair<bool, bool>> sides;
  for (const ShareCell& cell : part.cells) {
    auto& [hit, missed] = sides[cell.lane];
    hit = hit || std::min(cell.n, cell.hits) > 0;
    missed = missed || cell.hits < cell.n;
  }
  for (const auto& [lane, side] : sides) {
    errors.lanes_hit += side.first ? 1 : 0;
    errors.lanes_missed += side.second ? 1 : 0;
  }
  return errors;
}

bool BothSides(const Errors& errors) {
  return std::min(errors.lanes_hit, errors.lanes_missed) >= kLanesOnASideMin;
}

std::vector<double> LaneDifferences(const Errors& a, const Errors& b) {
  std::map<std::uint32_t, double> lanes;
  for (const auto& [lane, by_slice] : a.lanes) {
    lanes[lane] += std::accumulate(by_slice.begin(), by_slice.end(), 0.0);
  }
  for (const auto& [lane, by_slice] : b.lanes) {
    lanes[lane] -= std::accumulate(by_slice.begin(), by_slice.end(), 0.0);
  }
  std::vector<double> differences;
  differences.reserve(lanes.size());
  for (const auto& [lane, difference] : lanes) differences.push_back(difference);
  return differences;
}

void TakeByLane(const Errors& a, const Errors& b, ShareDifference* difference) {
  const std::vector<double> lanes = LaneDifferences(a, b);
  const VarianceTerm by_lane{.variance = SquaresOf(lanes),
                             .degrees = static_cast<double>(lanes.size()) - 1};
  const VarianceTerm of_a = Together(a.lanes);
  const VarianceTerm of_b = Together(b.lanes);
  difference->by_lane = true;
  if (!(of_a.degrees > 0) || !(of_b.degrees > 0)) return;
  const double sum = by_lane.variance + of_a.variance + of_b.variance;
  const double degrees = SatterthwaiteDegrees({by_lane, of_a, of_b});
  const double half = StudentTQuantile(1 - kTail, degrees) * std::sqrt(sum);
  difference->low = difference->value - half;
  difference->high = difference->value + half;
}

void TakeJoined(ShareDifference* difference) {
  const ShareInterval& a = difference->a;
  const ShareInterval& b = difference->b;
  difference->low = difference->value - std::hypot(a.share - a.low, b.high - b.share);
  difference->high = difference->value + std::hypot(a.high - a.share, b.share - b.low);
}

ShareInterval IntervalOf(const SharePart& part, bool small) {
  return small ? SmallShareOf(part.cells) : ShareOf(part.cells, {.half_block = part.half_block});
}

}  // namespace

ShareDifference DifferenceOf(const SharePart& a, const SharePart& b, Pairing pairing, bool small) {
  ShareDifference difference;
  difference.a = IntervalOf(a, small);
  difference.b = IntervalOf(b, small);
  if (difference.a.n == 0 || difference.b.n == 0) return difference;
  difference.value = difference.a.share - difference.b.share;
  const Errors of_a = ErrorsOf(a, difference.a);
  const Errors of_b = ErrorsOf(b, difference.b);
  if (pairing == Pairing::kByLane && BothSides(of_a) && BothSides(of_b)) {
    TakeByLane(of_a, of_b, &difference);
  } else {
    TakeJoined(&difference);
  }
  difference.low = std::max(difference.low, -1.0);
  difference.high = std::min(difference.high, 1.0);
  return difference;
}

}  // namespace plimsoll
