// Which call waits for which: a recorded session as a graph, and its timeline as it would be
// replayed. Pure; built once a session and shared by every lane that plays it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/time.h"
#include "common/corpus/session.h"
#include "common/plan/plan.h"

namespace plimsoll {

// How long a lane pauses before a call, by the plan's think time.
struct DelayRule {
  ThinkTime think_time = ThinkTime::kNone;
  Duration cap{};
  Duration Apply(Duration recorded) const {
    return think_time == ThinkTime::kNone ? Duration{0} : std::min(recorded, cap);
  }
};

// Calls by index into Session::calls.
class SessionGraph {
 public:
  // `left_out` by call (empty: none): such a call is no part of the graph, and what waited for it
  // waits for what it would have waited for (common/plan/context_limit.h).
  SessionGraph(const Session& session, const DelayRule& rule, std::span<const char> left_out = {});

  std::size_t size() const { return delay_.size(); }
  bool left_out(std::size_t call) const { return !left_out_.empty() && left_out_[call] != 0; }
  std::uint32_t calls() const { return calls_; }  // Those not left out.
  // Calls that wait for `call`: the next of its stream, first calls of streams that start when it
  // completes, and the parent's call that joins its stream.
  std::span<const std::uint32_t> successors(std::size_t call) const {
    return std::span(successors_).subspan(begin_[call], begin_[call + 1] - begin_[call]);
  }
  std::uint32_t predecessors(std::size_t call) const { return predecessors_[call]; }
  // From completion of the last predecessor to release.
  Duration delay(std::size_t call) const { return delay_[call]; }
  // The same as recorded, before think time and its cap.
  Duration recorded_delay(std::size_t call) const { return recorded_delay_[call]; }

  // The replayed timeline, from the session's first release: delays as capped, recorded service
  // times. Of calls that are not left out.
  Duration release(std::size_t call) const { return release_[call]; }
  Duration length() const { return length_; }

 private:
  void SetDelays(const Session& session, const DelayRule& rule);
  void SetTimeline(const Session& session);

  std::vector<std::uint32_t> begin_;  // size() + 1 offsets into successors_.
  std::vector<std::uint32_t> successors_;
  std::vector<std::uint32_t> predecessors_;
  std::vector<char> left_out_;
  std::uint32_t calls_ = 0;
  std::vector<Duration> delay_;
  std::vector<Duration> recorded_delay_;
  std::vector<Duration> release_;
  Duration length_{};
};

}  // namespace plimsoll
