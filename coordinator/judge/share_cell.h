// Counts of calls per lane and half-block, and the slices of time in which lanes are compared.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "common/base/time.h"

namespace plimsoll {

// Observations of one lane in one half of a block.
struct ShareCell {
  std::uint32_t lane = 0;
  std::uint32_t block = 0;
  std::uint64_t n = 0;
  std::uint64_t hits = 0;  // At most n; what exceeds it is not counted.
  std::uint8_t half = 0;   // 0: released in the block's first half; 1: in its second.
};

// How far calls of different lanes depend on each other is seen from one slice of time to the next,
// so a slice must be as long as what they share lasts: a queue, hence a call's time in it. It is
// half a minute, or a lane's mean time from one call to its next where that is less; whole
// half-blocks, from the first block with a call to the last, as even as may be. So the blocks'
// length, which a person chooses, does not decide how sure a verdict is.
// A step that can be cut into fewer than four (spread.h) tells nothing of it.
class Slices {
 public:
  // `half_block`: how long half a block is. A length of 0 or less is taken for long enough.
  Slices(const std::vector<ShareCell>& cells, Duration half_block);

  // At least 1; 0 without a call.
  std::size_t size() const { return size_; }
  // Of a cell that has a call; under size().
  std::size_t Of(const ShareCell& cell) const;

 private:
  std::uint32_t first_block_ = 0;
  std::size_t halves_ = 0;
  std::size_t size_ = 0;
};

// Of each lane with a call, the sum of its cells' hits − n·share by slice, each divided by `per`.
std::map<std::uint32_t, std::vector<double>> ResidualsByLane(const std::vector<ShareCell>& cells,
                                                             Duration half_block, double share,
                                                             double per = 1);

// How many slices `lanes` lanes are to give that make `calls` calls in a step's measured time.
std::size_t SlicesExpected(Duration measure, Duration block, double lanes, double calls);

}  // namespace plimsoll
