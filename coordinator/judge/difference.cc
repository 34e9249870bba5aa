#include "coordinator/judge/difference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "common/stats/student_t.h"

namespace plimsoll {
namespace {

constexpr double kTail = 0.025;
constexpr std::size_t kLanesOnASideMin = 5;

// What each lane, block and cell of one run adds to its share's error.
struct Errors {
  std::map<std::uint32_t, double> lanes;
  std::map<std::uint32_t, double> blocks;
  double cell_squares = 0;
  std::size_t cells = 0;
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
    errors.blocks[cell.block] += error;
    errors.cell_squares += error * error;
    ++errors.cells;
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

// The factor G/(G−1) that estimating the share asks for; 0 for fewer than two groups.
double SmallSample(std::size_t groups) {
  const auto g = static_cast<double>(groups);
  return groups < 2 ? 0 : g / (g - 1);
}

double Squares(const std::map<std::uint32_t, double>& errors) {
  double sum = 0;
  for (const auto& [group, error] : errors) sum += error * error;
  return sum;
}

double BlocksBeyondCells(const Errors& errors) {
  return SmallSample(errors.blocks.size()) * Squares(errors.blocks) -
         SmallSample(errors.cells) * errors.cell_squares;
}

void TakeByLane(const Errors& a, const Errors& b, ShareDifference* difference) {
  std::map<std::uint32_t, double> lanes = a.lanes;
  for (const auto& [lane, error] : b.lanes) lanes[lane] -= error;
  const double by_lane = SmallSample(lanes.size()) * Squares(lanes);
  const double two_way = by_lane + BlocksBeyondCells(a) + BlocksBeyondCells(b);
  const double t = StudentTQuantile(1 - kTail, static_cast<double>(lanes.size()) - 1);
  const double half = t * std::sqrt(std::max(by_lane, two_way));
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
