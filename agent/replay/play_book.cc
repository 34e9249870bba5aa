#include "agent/replay/play_book.h"

#include <algorithm>

namespace plimsoll {

void PlayBook::Clear() {
  sums_ = {};
  failed_.clear();
}

void PlayBook::Add(const StepWindow& window, const PlayTally& play, MonoTime started,
                   MonoTime next_play) {
  if (started >= window.measure_end || next_play < window.measure_begin) return;
  ++sums_.plays;
  sums_.calls_total += play.calls_total;
  sums_.calls_skipped += play.calls_skipped;
  sums_.calls_before += play.calls_before;
  sums_.calls_released += play.calls_released;
  sums_.calls_remaining += play.calls_remaining;
  sums_.mixed += play.calls_released * MixedPlay(lane_, play.play);
  // What was not sent after a fault of our own is no error of the server's.
  if (play.failed && !play.client_fault) AddFailed(window, play, next_play);
}

void PlayBook::AddFailed(const StepWindow& window, const PlayTally& play, MonoTime next_play) {
  const MonoTime from = std::max(play.silent_from, window.measure_begin);
  const MonoTime until = std::min(next_play, window.measure_end);
  if (until <= from || play.calls_remaining == 0) return;
  // A failing call that was released before the measured time has no cell: then the block in which
  // the silence begins is the next best.
  const bool has_cell = play.failed_block != kWarmUpBlock && play.failed_block != kCoolDownBlock;
  const FailedPlays one{.block = has_cell ? play.failed_block : window.BlockOf(from),
                        .calls_remaining = play.calls_remaining,
                        .silent_ns = (until - from).count()};
  if (failed_.size() >= FailedPlays::kAloneMax) {
    for (std::size_t i = failed_.size(); i-- > FailedPlays::kAloneMax;) {
      if (failed_[i].block != one.block) continue;
      ++failed_[i].plays;
      failed_[i].calls_remaining += one.calls_remaining;
      failed_[i].silent_ns += one.silent_ns;
      return;
    }
  }
  failed_.push_back(one);
}

}  // namespace plimsoll
