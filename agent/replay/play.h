// One play: a session's tree of calls as one lane walks it. Knows what may be released when; sends
// nothing. Pure but for the shared graph.
#pragma once

#include <cstdint>
#include <vector>

#include "common/plan/corpus_index.h"
#include "common/record/tally.h"

namespace plimsoll {

// One play against the current window.
//   calls_total = before + skipped + released + remaining
struct PlayTally {
  std::uint32_t play = 0;
  std::uint32_t calls_total = 0;      // Of the session's tree.
  std::uint32_t calls_skipped = 0;    // Before a late start point, primers among them.
  std::uint32_t calls_before = 0;     // First released before the measured time.
  std::uint32_t calls_released = 0;   // First released within it.
  std::uint32_t calls_remaining = 0;  // Not released by the end of the measured time, or never.
  // Failed plays only.
  bool failed = false;
  bool client_fault = false;       // The failing call ended by a fault of our own.
  std::uint32_t failed_block = 0;  // Of the failing call's first release.
  MonoTime silent_from = MonoTime::min();
};

class Play {
 public:
  // A call that may be released, and when.
  struct Due {
    std::uint32_t call = 0;
    MonoTime at{};
    // Of a call that waited for others of this play: its client's pause as recorded, and what the
    // plan's think time took off it. A call that a start point frees has none.
    bool paused = false;
    Duration pause_recorded{};
    Duration pause_removed{};
  };

  Play(const CorpusIndex& index, std::uint32_t session, std::uint32_t number)
      : graph_(&index.graph(session)), session_(session), number_(number) {}

  // Starts the play so that `share` of its replayed timeline has passed at `at` (0: from the
  // beginning). Calls released before that are skipped. Appends the calls that are due without any
  // predecessor.
  void Start(MonoTime at, double share, std::vector<Due>* due);
  // The calls whose prompts an engine would hold at the start point: of each stream that is open
  // there, the last skipped one. Empty for a play from the beginning.
  static std::vector<std::uint32_t> Primers(const CorpusIndex& index, std::uint32_t session,
                                            double share);

  // `call` completed at `at`; appends what it sets free.
  void Complete(std::uint32_t call, MonoTime at, std::vector<Due>* due);
  bool done() const { return completed_ == graph_->calls(); }

  // Bookkeeping of the identity: counts first releases against the current window.
  void CountRelease(MonoTime released, MonoTime measure_begin, MonoTime measure_end);
  // A new window opens: all that was released until now lies before it.
  void OpenWindow();
  // By a call of `block` whose first failure was at `first_failure`: since then, or since its last
  // release after that, the play was silent. `client_fault`: that call ended by a fault of our own.
  void Fail(std::uint32_t block, MonoTime first_failure, bool client_fault);
  bool failed() const { return tally_.failed; }
  PlayTally tally() const;

  MonoTime started_at() const { return started_at_; }
  std::uint32_t session() const { return session_; }
  std::uint32_t number() const { return number_; }

 private:
  const SessionGraph* graph_;
  std::uint32_t session_;
  std::uint32_t number_;
  std::vector<std::uint32_t>
      pending_;                  // Predecessors not yet complete; kSkipped for skipped calls.
  std::uint32_t completed_ = 0;  // Skipped ones among them.
  MonoTime started_at_{};
  MonoTime last_release_ = MonoTime::min();
  std::uint32_t released_after_ = 0;  // First released after the measured time.
  PlayTally tally_;
};

}  // namespace plimsoll
