#include "coordinator/judge/difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "common/stats/student_t.h"
#include "coordinator/judge/spread.h"

namespace plimsoll {
namespace {

constexpr std::size_t kLanesOnASideMin = 5;

using PerLane = std::map<std::uint32_t, double>;

// What each lane, time and cell of one run adds to its share's error.
struct Errors {
  PerLane lanes;
  std::map<std::uint32_t, std::array<double, 2>> halves;            // Of each block with a call.
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> cells;  // By lane and block.
  // Lanes with a hit, and with a miss.
  std::size_t lanes_hit = 0;
  std::size_t lanes_missed = 0;
};

Errors ErrorsOf(const std::vector<ShareCell>& cells, const ShareInterval& share) {
  Errors errors;
  std::map<std::uint32_t, std::pair<bool, bool>> sides;
  for (const ShareCell& cell : cells) {
    if (cell.n == 0) continue;
    const auto n = static_cast<double>(cell.n);
    const auto hits = static_cast<double>(std::min(cell.n, cell.hits));
    const double error = (hits - share.share * n) / static_cast<double>(share.n);
    errors.lanes[cell.lane] += error;
    errors.halves[cell.block][cell.half == 0 ? 0 : 1] += error;
    errors.cells[{cell.lane, cell.block}] += error;
    auto& [hit, missed] = sides[cell.lane];
    hit = hit || hits > 0;
    missed = missed || hits < n;
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

template <typename Groups>
std::vector<double> ValuesOf(const Groups& groups) {
  std::vector<double> values;
  values.reserve(groups.size());
  for (const auto& [group, error] : groups) values.push_back(error);
  return values;
}

// T of the header.
VarianceTerm TimeOf(const Errors& errors) {
  std::vector<double> halves;
  for (const auto& [block, of_block] : errors.halves) {
    halves.insert(halves.end(), of_block.begin(), of_block.end());
  }
  return OverTime(halves, ValuesOf(errors.cells));
}

void TakeByLane(const Errors& a, const Errors& b, ShareDifference* difference) {
  PerLane lanes = a.lanes;
  for (const auto& [lane, error] : b.lanes) lanes[lane] -= error;
  const VarianceTerm by_lane{.variance = SquaresOf(ValuesOf(lanes)),
                             .degrees = static_cast<double>(lanes.size()) - 1};
  const VarianceTerm of_a = TimeOf(a);
  const VarianceTerm of_b = TimeOf(b);
  const double sum = by_lane.variance + of_a.variance + of_b.variance;
  const double degrees = SatterthwaiteDegrees({by_lane, of_a, of_b});
  const double half = StudentTQuantile(1 - kTail, degrees) * std::sqrt(sum);
  difference->low = difference->value - half;
  difference->high = difference->value + half;
  difference->by_lane = true;
}

void TakeJoined(ShareDifference* difference) {
  const ShareInterval& a = difference->a;
  const ShareInterval& b = difference->b;
  difference->low = difference->value - std::hypot(a.share - a.low, b.high - b.share);
  difference->high = difference->value + std::hypot(a.high - a.share, b.share - b.low);
}

}  // namespace

ShareDifference DifferenceOf(const std::vector<ShareCell>& a, const std::vector<ShareCell>& b,
                             Pairing pairing, bool small) {
  ShareDifference difference;
  difference.a = small ? SmallShareOf(a) : ShareOf(a);
  difference.b = small ? SmallShareOf(b) : ShareOf(b);
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
