#include "agent/replay/play.h"

#include <algorithm>
#include <limits>

#include "common/record/call_record.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kSkipped = std::numeric_limits<std::uint32_t>::max();

// The instant of the timeline at `share`; 0 where no call would be left after it.
Duration StartPoint(const SessionGraph& graph, double share) {
  const Duration point = FromSeconds(ToSeconds(graph.length()) * share);
  for (std::size_t c = 0; c < graph.size(); ++c) {
    if (!graph.left_out(c) && graph.release(c) >= point) return point;
  }
  return Duration{0};
}

}  // namespace

void Play::Start(MonoTime at, double share, std::vector<Due>* due) {
  const Duration point = StartPoint(*graph_, share);
  started_at_ = at;
  tally_ = {.play = number_, .calls_total = graph_->calls()};
  pending_.resize(graph_->size());
  for (std::size_t c = 0; c < pending_.size(); ++c) pending_[c] = graph_->predecessors(c);
  completed_ = 0;
  for (std::uint32_t c = 0; c < pending_.size(); ++c) {
    if (graph_->left_out(c)) {  // Not there: nothing waits for it.
      pending_[c] = kSkipped;
      continue;
    }
    if (graph_->release(c) >= point) continue;
    ++completed_;
    ++tally_.calls_skipped;
    for (const std::uint32_t next : graph_->successors(c)) {
      if (pending_[next] != kSkipped) --pending_[next];
    }
    pending_[c] = kSkipped;
  }
  for (std::uint32_t c = 0; c < pending_.size(); ++c) {
    // What waits only for skipped calls comes when the timeline says so.
    if (pending_[c] == 0) due->push_back({c, at + (graph_->release(c) - point)});
  }
}

std::vector<std::uint32_t> Play::Primers(const CorpusIndex& index, std::uint32_t session_index,
                                         double share) {
  const SessionGraph& graph = index.graph(session_index);
  const Session& session = index.session(session_index);
  const Duration point = StartPoint(graph, share);
  constexpr std::int64_t kNone = -1;
  std::vector<std::int64_t> last(session.streams.size(), kNone);
  std::vector<char> open(session.streams.size(), 0);
  for (std::uint32_t c = 0; c < graph.size(); ++c) {
    if (graph.left_out(c)) continue;
    const std::uint32_t stream = session.calls[c].stream;
    if (graph.release(c) < point) {
      last[stream] = c;
    } else {
      open[stream] = 1;
    }
  }
  std::vector<std::uint32_t> primers;
  for (std::size_t s = 0; s < last.size(); ++s) {
    if (open[s] && last[s] != kNone) primers.push_back(static_cast<std::uint32_t>(last[s]));
  }
  return primers;
}

void Play::Complete(std::uint32_t call, MonoTime at, std::vector<Due>* due) {
  ++completed_;
  for (const std::uint32_t next : graph_->successors(call)) {
    // Predecessors complete in the order of time, so the last one's instant is `at`.
    if (--pending_[next] > 0) continue;
    due->push_back({.call = next,
                    .at = at + graph_->delay(next),
                    .paused = true,
                    .pause_recorded = graph_->recorded_delay(next),
                    .pause_removed = graph_->recorded_delay(next) - graph_->delay(next)});
  }
}

void Play::CountRelease(MonoTime released, MonoTime measure_begin, MonoTime measure_end) {
  last_release_ = std::max(last_release_, released);
  if (released < measure_begin) {
    ++tally_.calls_before;
  } else if (released < measure_end) {
    ++tally_.calls_released;
  } else {
    ++released_after_;
  }
}

void Play::OpenWindow() {
  tally_.calls_before += tally_.calls_released + released_after_;
  tally_.calls_released = 0;
  released_after_ = 0;
  // What failed before has no cell in this window.
  if (tally_.failed) tally_.failed_block = kWarmUpBlock;
}

void Play::Fail(std::uint32_t block, MonoTime first_failure, bool client_fault) {
  tally_.failed = true;
  tally_.client_fault = client_fault;
  tally_.failed_block = block;
  tally_.silent_from = std::max(first_failure, last_release_);
}

PlayTally Play::tally() const {
  PlayTally tally = tally_;
  tally.calls_remaining =
      tally.calls_total - tally.calls_skipped - tally.calls_before - tally.calls_released;
  return tally;
}

}  // namespace plimsoll
