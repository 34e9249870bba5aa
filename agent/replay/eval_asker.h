// Asks evals: before the first step the agent's part of the mini run, and beside the load of each
// step the trickle of its lanes. Judges the answers; none is kept. Evals are requests of their own:
// they count in no number of the load, and no lane waits for one.
//
// A lane's eval falls due with one of its calls (EvalTrickle) and is asked in a turn of its own
// after that call was handed over, in whatever state the lane then is. At most one of a lane is in
// flight: what falls due meanwhile is asked when that one has ended. Nothing is tried again: an
// eval whose call fails is unanswered.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "agent/replay/record_sink.h"
#include "agent/replay/step_window.h"
#include "common/base/scheduler.h"
#include "common/chat/call_transport.h"
#include "common/evals/eval_schedule.h"
#include "common/evals/eval_set.h"

namespace plimsoll {

class EvalAsker {
 public:
  struct MiniRunPart {
    std::uint32_t part = 0;
    std::uint32_t parts = 1;    // >= 1.
    std::uint32_t at_once = 1;  // >= 1.
    Duration limit{};
  };
  struct MiniRunResult {
    std::uint32_t asked = 0;
    std::uint32_t left = 0;  // Not asked, since the time was over.
  };

  // All references outlive it; `plan` has evals, and `set` is what its text says.
  EvalAsker(Scheduler& scheduler, CallTransport& transport, RecordSink& sink, const RunPlan& plan,
            EvalSet set);
  ~EvalAsker();

  // Called when an eval of a measured time has ended; the step may then be over.
  std::function<void()> settled;

  // `done` is called once, never from inside, when the part's evals have ended or `limit` passed;
  // what is open then is cut. One at a time.
  void AskMiniRun(const MiniRunPart& part, std::function<void(const MiniRunResult&)> done);

  // A step's window became current; it outlives this object.
  void OpenWindow(StepWindow& window) { window_ = &window; }
  // The lane has released a call of the load, for the first time, and handed it over.
  void OnCall(const LaneSpec& lane);
  // The lane asks nothing more; what is in flight goes on.
  void Retire(std::uint32_t lane) { lanes_.erase(lane); }

  // Ends as cut what was asked in the measured time of `window` and is open.
  void CutMeasured(const StepWindow& window);
  // The same of everything; from now on nothing is asked.
  void Stop();
  // Dead-man: what is due waits until Resume().
  void Pause() { paused_ = true; }
  void Resume();

  std::uint32_t in_flight() const { return static_cast<std::uint32_t>(asks_.size()); }

 private:
  class Ask;
  struct LaneTurns {
    std::uint32_t first_play = 0;  // Of the lane: one that is made again begins anew.
    std::uint64_t calls = 0;
    std::uint64_t asked = 0;  // Its turns so far.
    bool open = false;        // One is in flight.
    bool planned = false;     // It is about to be asked.
  };
  struct MiniRunState {
    std::deque<EvalTurn> turns;
    std::uint32_t at_once = 1;
    std::uint32_t open = 0;
    MonoTime begun{};
    MiniRunResult result;
    std::function<void(const MiniRunResult&)> done;
    Timer limit;
    Timer finish;
  };

  // The lane's number in the trickle: one that is made again has another place in it.
  static std::uint32_t TrickleLane(std::uint32_t lane, const LaneTurns& turns);
  void AskIfDue(std::uint32_t lane);
  void AskTurn(std::uint32_t lane);
  void AskMore();  // Of the mini run.
  void EndMiniRun();
  void OnEnded(Ask& ask, const CallResult& result);
  template <typename Which>
  void Cut(Which which);

  Scheduler& scheduler_;
  CallTransport& transport_;
  RecordSink& sink_;
  const RunPlan& plan_;
  const EvalSet set_;
  const EvalTrickle trickle_;
  StepWindow* window_ = nullptr;
  std::unordered_map<std::uint32_t, LaneTurns> lanes_;
  std::vector<std::unique_ptr<Ask>> asks_;  // In flight.
  std::unique_ptr<MiniRunState> mini_run_;
  std::vector<std::uint32_t> due_;  // Lanes that ask in the next turn.
  Timer ask_;
  bool paused_ = false;
  bool stopped_ = false;
};

}  // namespace plimsoll
