#include "coordinator/judge/share_cell.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace plimsoll {
namespace {

constexpr Duration kSliceMax = 30s;

std::size_t HalfOf(const ShareCell& cell) {
  return std::min<std::uint8_t>(cell.half, 1);
}

// `halves` half-blocks, in each of which a lane makes 1 ÷ (halves · lanes_by_calls) calls.
std::size_t SlicesOf(std::size_t halves, Duration half_block, double lanes_by_calls) {
  if (halves == 0 || half_block <= Duration{0}) return halves;
  const double cycle = lanes_by_calls * static_cast<double>(halves);
  const double most =
      static_cast<double>(kSliceMax.count()) / static_cast<double>(half_block.count());
  const double length = std::max(1.0, std::ceil(std::min(cycle, most) - 1e-9));
  return std::max<std::size_t>(1, halves / static_cast<std::size_t>(length));
}

}  // namespace

Slices::Slices(const std::vector<ShareCell>& cells, Duration half_block) {
  std::set<std::uint32_t> lanes;
  std::uint32_t last_block = 0;
  double n = 0;
  for (const ShareCell& cell : cells) {
    if (cell.n == 0) continue;
    first_block_ = n == 0 ? cell.block : std::min(first_block_, cell.block);
    last_block = std::max(last_block, cell.block);
    lanes.insert(cell.lane);
    n += static_cast<double>(cell.n);
  }
  if (n == 0) return;
  halves_ = (std::size_t{last_block} - first_block_ + 1) * 2;
  size_ = SlicesOf(halves_, half_block, static_cast<double>(lanes.size()) / n);
}

std::size_t Slices::Of(const ShareCell& cell) const {
  const std::size_t half = (std::size_t{cell.block} - first_block_) * 2 + HalfOf(cell);
  return std::min(half, halves_ - 1) * size_ / halves_;
}

std::map<std::uint32_t, std::vector<double>> ResidualsByLane(const std::vector<ShareCell>& cells,
                                                             Duration half_block, double share,
                                                             double per) {
  const Slices slices(cells, half_block);
  std::map<std::uint32_t, std::vector<double>> lanes;
  for (const ShareCell& cell : cells) {
    if (cell.n == 0) continue;
    const auto n = static_cast<double>(cell.n);
    const auto hits = static_cast<double>(std::min(cell.n, cell.hits));
    std::vector<double>& lane = lanes[cell.lane];
    lane.resize(slices.size());
    lane[slices.Of(cell)] += (hits - share * n) / per;
  }
  return lanes;
}

std::size_t SlicesExpected(Duration measure, Duration block, double lanes, double calls) {
  if (block <= Duration{0} || !(calls > 0)) return 0;
  return SlicesOf(static_cast<std::size_t>(measure / block) * 2, block / 2, lanes / calls);
}

}  // namespace plimsoll
