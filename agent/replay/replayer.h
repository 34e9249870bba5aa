// The lanes of one loop, step by step: makes and primes the added ones, starts them together,
// closes a step when all that was released in its measured time has ended, and stops by the stop
// protocol.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "agent/replay/eval_asker.h"
#include "agent/replay/lane.h"
#include "agent/replay/primer.h"
#include "agent/replay/self_load.h"
#include "common/base/status.h"

namespace plimsoll {

class Replayer {
 public:
  // All references outlive it. `sink` gets every record. `evals` asks evals beside the load; null:
  // none is asked.
  Replayer(Scheduler& scheduler, CallTransport& transport, RecordSink& sink, SelfLoad& self_load,
           const RunPlan& plan, const CorpusIndex& index, EvalAsker* evals = nullptr);
  ~Replayer();

  // Makes the lanes that are not there yet and primes them. `ready` is called once, later. A step
  // that was committed and not closed is abandoned: its lanes go on. Lanes that are not listed (if
  // `fresh`, all that are alive) end first, by the rules of a stop: they release nothing more, and
  // what is in flight at the step's drain limit is cut.
  Status PrepareStep(const StepPlan& step, const std::vector<LaneSpec>& lanes,
                     std::function<void(const Primer::Result&)> ready, bool fresh = false);
  // Lanes that ended before the prepared step; valid once it is ready.
  struct Retired {
    std::uint32_t lanes = 0;
    std::uint32_t calls_cut = 0;
  };
  const Retired& retired() const { return retired_; }
  // The prepared step starts at `start`. `closed` is called once, with records already in the sink.
  Status CommitStep(std::uint32_t step, MonoTime start, std::function<void(StepTally)> closed);
  // The measured time of the running step ends when `measure` of it is over, or now if that is
  // past; what is open of it then is cut. Of another step, or not shorter: nothing happens.
  void EndMeasure(std::uint32_t step, Duration measure);
  // Releases nothing more; `stopped` is called once when nothing is in flight, at the latest after
  // `drain_limit`, when what is left is cut. A second call may only shorten it, and its `stopped`
  // takes the place of a first one that was not called yet.
  void Stop(Duration drain_limit, std::function<void()> stopped);

  // Dead-man: releases wait until Resume().
  void Pause();
  void Resume();

  std::uint32_t calls_in_flight() const { return context_.in_flight.count(); }
  std::uint32_t lanes() const { return static_cast<std::uint32_t>(lanes_.size()); }

 private:
  void Retire(const std::vector<LaneSpec>& wanted, bool fresh, Duration drain_limit);
  void MakeLanes();
  void OnStart(StepWindow* window);
  void OnMeasured();
  void OnSettled();
  void CloseStep();
  StepTally MakeTally();

  void CutMeasured();

  LaneContext context_;
  SelfLoad& self_load_;
  EvalAsker* const evals_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Lane>> retiring_;  // No part of the step that is prepared.
  Retired retired_;
  std::vector<LaneSpec> wanted_;  // Of the prepared step, until its lanes are made.
  std::function<void(const Primer::Result&)> ready_;
  Timer retire_limit_timer_;
  Timer retire_timer_;
  Primer primer_;
  std::vector<std::unique_ptr<StepWindow>> windows_;  // Of the whole run: records refer to them.
  StepPlan prepared_;
  bool has_prepared_ = false;
  bool measuring_ = false;  // A window is committed and not yet closed.
  bool ended_ = false;      // Its measured time is over.
  std::int64_t start_error_ns_ = 0;
  // Of the measured time, taken at its end.
  Duration loop_lag_max_{};
  Duration loop_stalled_{};
  Duration wall_moved_{};
  double cpu_share_max_ = 0;
  HostLoad host_;
  std::function<void(StepTally)> closed_;
  std::function<void()> stopped_;
  Timer start_timer_;
  Timer measure_timer_;
  Timer measured_timer_;
  Timer drain_timer_;
  Timer close_timer_;
  MonoTime stop_by_ = MonoTime::max();  // After a stop: what is in flight then is cut.
  Timer stop_limit_timer_;
  Timer stop_timer_;
};

}  // namespace plimsoll
