// A lane's plays of the current window, folded as they end: memory does not grow with their number.
// Pure.
#pragma once

#include <vector>

#include "agent/replay/play.h"
#include "agent/replay/step_window.h"
#include "common/record/tally.h"

namespace plimsoll {

class PlayBook {
 public:
  explicit PlayBook(std::uint32_t lane) : lane_(lane) {}

  void Clear();
  // A play of the lane, in the order of time, and when the lane's next one starts. Nothing is
  // booked of a play that was not alive in the measured time.
  void Add(const StepWindow& window, const PlayTally& play, MonoTime started, MonoTime next_play);

  const PlaySums& sums() const { return sums_; }
  const std::vector<FailedPlays>& failed() const { return failed_; }

 private:
  void AddFailed(const StepWindow& window, const PlayTally& play, MonoTime next_play);

  std::uint32_t lane_;
  PlaySums sums_;
  std::vector<FailedPlays> failed_;
};

}  // namespace plimsoll
