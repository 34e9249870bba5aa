// A lane: one of a step's concurrent sessions. Plays one recorded session tree after another in a
// closed loop, applies the failure policy, and turns every attempt into exactly one record.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "agent/replay/in_flight_meter.h"
#include "agent/replay/lane_account.h"
#include "agent/replay/live_history.h"
#include "agent/replay/play.h"
#include "agent/replay/play_book.h"
#include "agent/replay/record_sink.h"
#include "agent/replay/step_window.h"
#include "common/base/scheduler.h"
#include "common/chat/call_transport.h"
#include "common/plan/corpus_index.h"

namespace plimsoll {

// What all lanes of one loop share. Outlives them.
struct LaneContext {
  Scheduler& scheduler;
  CallTransport& transport;
  RecordSink& sink;
  const RunPlan& plan;
  const CorpusIndex& index;
  StepWindow* window = nullptr;  // Current one; null before the first start.
  bool stopping = false;         // Nothing is released any more.
  bool paused = false;           // Dead-man: releases wait.
  InFlightMeter in_flight;
  std::function<void()> settled;  // Called when a call or the last attempt of one has ended.
  // Called when a lane's call was first released and handed over; empty: nobody wants to know. It
  // does nothing to the lane.
  std::function<void(const LaneSpec&)> call_released;
};

class Lane {
 public:
  Lane(LaneContext& context, const LaneSpec& spec);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  const LaneSpec& spec() const { return spec_; }
  // Where the first play begins: its session (absent: nothing to play) and the share of its
  // timeline.
  std::optional<std::uint32_t> first_session() const;
  double first_share() const { return first_share_; }

  // Starts the first play at `at` (now, or a little ago). A stream that is open at the start point
  // comes when its recorded call would have ended, folded into `spread` (the warm-up): the recorded
  // service may be far longer than the deployment's, and a lane that waits for it is no load.
  void Begin(MonoTime at, Duration spread);
  bool begun() const { return begun_; }
  // A step's window became current.
  void OpenWindow(const StepWindow& window);
  // How the measured time was spent; every call released in it has ended, or was cut.
  LaneTally Tally(const StepWindow& window);

  // Ends every attempt that `window` still waits for, as cut, and gives up calls that wait for
  // another attempt. Their plays fail; the lane goes on.
  void CutMeasured(StepWindow& window);
  // The measured time of the current window ends at `end`, which is now or later.
  void ShortenWindow(MonoTime end) { account_.ShortenTo(end); }
  // Ends everything in flight as cut, and every wait. The context is stopping, or the lane retired.
  void CutAll();
  // The lane is no part of the steps to come: as StopReleases, for this lane alone.
  void Retire();
  std::uint32_t in_flight() const { return in_flight_; }
  // The context began to stop: drops what waits; in-flight calls go on.
  void StopReleases();
  void Pause();
  void Resume();

 private:
  class ActiveCall;

  void StartPlay(MonoTime at, double share, Duration spread);
  void Schedule(const std::vector<Play::Due>& due);
  void Fire(ActiveCall& call);
  void FirstRelease(ActiveCall& call, bool measured);
  void Send(ActiveCall& call);
  void OnEnded(ActiveCall& call, const CallResult& result);
  void OnFailed(ActiveCall& call, const CallResult& result);
  void RetryLater(ActiveCall& call, MonoTime at);
  void KeepAnswer(const ActiveCall& call, const CallResult& result);
  // The play goes on from `at`, and releases nothing that this call set free before `not_before`.
  void CompleteCall(ActiveCall& call, MonoTime at, MonoTime not_before);
  void FailPlay(const ActiveCall& call, bool client_fault);
  void FinishPlayIfDone();
  void EndPlay(MonoTime at);
  void CloseCall(ActiveCall& call);
  void Record(const ActiveCall& call, const CallResult& result, bool last_attempt);
  void EndHold(MonoTime at);
  void UpdateState(MonoTime at);
  bool stopping() const { return context_.stopping || retired_; }
  ActiveCall& NewCall(const Play::Due& due);
  void Release(ActiveCall& call);

  LaneContext& context_;
  const LaneSpec spec_;
  const double first_share_;
  bool begun_ = false;
  bool retired_ = false;

  std::unique_ptr<Play> play_;
  LiveHistory live_history_;                         // Of play_. Outlives the calls that read it.
  std::vector<Play::Due> due_;                       // Scratch.
  std::vector<std::unique_ptr<ActiveCall>> active_;  // Waiting or in flight; a few at most.
  std::vector<std::unique_ptr<ActiveCall>> spare_;   // Reused: their prompts keep their memory.
  PlayBook ended_plays_;                             // Of the current window.
  LaneAccount account_;
  FidelityCounts fidelity_;  // Of the current window.

  std::uint32_t next_play_;
  std::uint32_t in_flight_ = 0;
  std::uint32_t failures_in_row_ = 0;
  // After a failure nothing is sent before it: by the lane, or by the stream that failed.
  MonoTime hold_until_ = MonoTime::min();
  LaneState hold_state_ = LaneState::kRefused;
  Timer next_play_timer_;
};

}  // namespace plimsoll
