#include "agent/control/agent.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/evals/eval_set.h"

namespace plimsoll {

// Everything that exists once the plan and its corpus are here.
struct Agent::Run {
  Run(AgentDeps& deps, CoordinatorLink& link, std::uint32_t slot, std::uint64_t incarnation,
      const RunPlan& plan, std::shared_ptr<const Corpus> corpus,
      std::unique_ptr<CallTransport> to_target, std::optional<EvalSet> eval_set)
      : index(std::move(corpus), plan),
        transport(std::move(to_target)),
        uplink(deps.scheduler, link, slot, incarnation),
        evals(eval_set ? std::make_unique<EvalAsker>(deps.scheduler, *transport, uplink, plan,
                                                     *std::move(eval_set))
                       : nullptr),
        replayer(deps.scheduler, *transport, uplink, deps.self_load, plan, index, evals.get()) {}

  CorpusIndex index;
  std::unique_ptr<CallTransport> transport;
  Uplink uplink;
  std::unique_ptr<EvalAsker> evals;  // Null: the plan has none.
  Replayer replayer;
  bool stopping = false;
};

Agent::Agent(AgentDeps deps, Hello hello) : deps_(std::move(deps)), hello_(std::move(hello)) {
  hello_.corpora = deps_.shelf.digests();
}

Agent::~Agent() = default;

void Agent::Attach(CoordinatorLink& link) {
  link_ = &link;
  link_->Send(hello_);
  heard_ = deps_.scheduler.Now();
  WatchCoordinator();
}

AgentNow Agent::Now() const {
  AgentNow now{.in_run = run_ != nullptr, .slot = slot_};
  if (link_ != nullptr) now.coordinator_silent_for = deps_.scheduler.Now() - heard_;
  if (run_ == nullptr) return now;
  now.lanes = run_->replayer.lanes();
  now.calls_in_flight = run_->replayer.calls_in_flight();
  now.records = run_->uplink.counts();
  return now;
}

void Agent::OnMessage(CoordinatorMessage message) {
  if (finished_) return;
  heard_ = deps_.scheduler.Now();
  if (paused_ && run_ != nullptr) {
    paused_ = false;
    run_->replayer.Resume();
  }
  std::visit([this](auto&& m) { Handle(std::forward<decltype(m)>(m)); }, std::move(message));
}

void Agent::Handle(Welcome message) {
  slot_ = message.agent_slot;
}

void Agent::Handle(const Refuse& message) {
  Finish(absl::FailedPreconditionError("the coordinator refused this agent: " + message.reason));
}

void Agent::Handle(Ping message) {
  link_->Send(Pong{.sequence = message.sequence,
                   .agent_ns = deps_.scheduler.Now().time_since_epoch().count(),
                   .calls_in_flight = run_ ? run_->replayer.calls_in_flight() : 0,
                   .lanes = run_ ? run_->replayer.lanes() : 0});
}

void Agent::Handle(PrepareRun message) {
  if (run_ != nullptr) return Fault(absl::FailedPreconditionError("a second run on one link"));
  plan_ = std::make_unique<RunPlan>(std::move(message.plan));
  corpus_bytes_.clear();
  if (deps_.shelf.Find(plan_->corpus_digest) == nullptr) return;  // Its chunks are on their way.
  if (const Status status = MakeRun(); !status.ok()) Fault(status);
}

void Agent::Handle(const CorpusChunk& message) {
  if (plan_ == nullptr || run_ != nullptr || message.digest != plan_->corpus_digest) return;
  if (message.total_bytes > limits::kCorpusBytesMax || message.offset != corpus_bytes_.size() ||
      message.offset + message.bytes.size() > message.total_bytes) {
    return Fault(absl::InvalidArgumentError("a corpus chunk that does not follow the one before"));
  }
  corpus_bytes_ += message.bytes;
  if (corpus_bytes_.size() < message.total_bytes) return;
  Status status = deps_.shelf.Add(message.digest, std::exchange(corpus_bytes_, {}));
  if (status.ok()) status = MakeRun();
  if (!status.ok()) Fault(status);
}

Status Agent::MakeRun() {
  std::optional<EvalSet> evals;
  if (plan_->evals) {
    ASSIGN_OR_RETURN(evals, ReadEvalSet("the plan's evals", plan_->evals->set_text));
  }
  auto transport = deps_.make_transport(*plan_);
  if (!transport.ok()) return transport.status();
  run_ = std::make_unique<Run>(deps_, *link_, slot_, hello_.incarnation, *plan_,
                               deps_.shelf.Find(plan_->corpus_digest), *std::move(transport),
                               std::move(evals));
  link_->Send(RunReady{});
  return absl::OkStatus();
}

void Agent::Handle(const AskEvals& message) {
  if (run_ == nullptr || run_->evals == nullptr) {
    return Fault(absl::FailedPreconditionError("evals asked for by a run that has none"));
  }
  run_->evals->AskMiniRun(
      {.part = message.part,
       .parts = message.parts,
       .at_once = message.at_once,
       .limit = message.limit},
      [this](const EvalAsker::MiniRunResult& result) {
        if (link_ == nullptr) return;
        link_->Send(EvalsAsked{
            .asked = result.asked, .left = result.left, .last_sequence = run_->uplink.Flush()});
      });
}

void Agent::Handle(const PrepareStep& message) {
  if (run_ == nullptr) return Fault(absl::FailedPreconditionError("a step before its run"));
  const std::uint32_t step = message.step.step;
  const Status status = run_->replayer.PrepareStep(
      message.step, message.lanes,
      [this, step](const Primer::Result& primed) {
        if (link_ == nullptr) return;
        const Replayer::Retired& retired = run_->replayer.retired();
        link_->Send(StepReady{.step = step,
                              .primers_wanted = primed.wanted,
                              .primers_failed = primed.failed,
                              .lanes_ended = retired.lanes,
                              .calls_cut = retired.calls_cut});
      },
      message.fresh);
  if (!status.ok()) Fault(status);
}

void Agent::Handle(CommitStep message) {
  if (run_ == nullptr) return Fault(absl::FailedPreconditionError("a start before its run"));
  const std::uint64_t lost_before = run_->uplink.records_lost();
  const Status status = run_->replayer.CommitStep(
      message.step, MonoTime(Duration(message.start_agent_ns)),
      [this, lost_before](StepTally tally) {
        if (link_ == nullptr) return;  // It ended in the step's last moment.
        const std::uint64_t last = run_->uplink.Flush();
        tally.records_lost = run_->uplink.records_lost() - lost_before;
        link_->Send(StepClosed{.tally = std::move(tally), .last_sequence = last});
      });
  if (!status.ok()) Fault(status);
}

void Agent::Handle(const EndMeasure& message) {
  // Of a step that has closed meanwhile there is nothing left to end.
  if (run_ != nullptr) run_->replayer.EndMeasure(message.step, message.measure);
}

void Agent::Handle(Stop message) {
  StopReplay(message.kind == StopKind::kAbort ? Duration{0} : message.drain_limit);
}

void Agent::StopReplay(Duration drain_limit) {
  if (run_ == nullptr) {
    link_->Send(Stopped{});
    return;
  }
  run_->stopping = true;
  run_->replayer.Stop(drain_limit, [this] {
    const std::uint64_t last = run_->uplink.Flush();
    if (link_ != nullptr) link_->Send(Stopped{.last_sequence = last});
  });
}

void Agent::Shutdown(StopKind kind) {
  const Status stopped = absl::CancelledError("stopped by a signal");
  if (link_ == nullptr || run_ == nullptr) return Finish(stopped);
  // Its link closes in order once the last records are handed over; to the coordinator the agent is
  // lost, which voids the step and leaves the place to another one.
  run_->stopping = true;
  const Duration limit = kind == StopKind::kAbort ? Duration{0} : kShutdownDrain;
  run_->replayer.Stop(limit, [this, stopped] {
    run_->uplink.Flush();
    Finish(stopped);
  });
}

void Agent::OnAck(std::uint64_t sequence) {
  if (run_ != nullptr) run_->uplink.OnAck(sequence);
}

void Agent::OnClosed(const Status& reason) {
  // Re-attachment after a coordinator's restart is a later issue: without its coordinator an agent
  // hangs up on everything at once.
  const bool orderly = run_ != nullptr && run_->stopping;
  link_ = nullptr;
  if (run_ != nullptr) run_->replayer.Stop(Duration{0}, [] {});
  Finish(orderly ? absl::OkStatus() : reason);
}

void Agent::Fault(const Status& status) {
  if (link_ != nullptr) link_->Send(AgentFault{.message = std::string(MessageOf(status))});
}

// As usual until a plan says otherwise.
LivenessTimes Agent::liveness() const {
  return plan_ == nullptr ? LivenessTimes{} : LivenessAt(plan_->liveness_percent);
}

void Agent::WatchCoordinator() {
  watch_ = deps_.scheduler.After(liveness().heartbeat, [this] {
    const Duration silent = deps_.scheduler.Now() - heard_;
    if (run_ != nullptr && silent > liveness().dead_man && !paused_) {
      paused_ = true;
      run_->replayer.Pause();
    }
    if (run_ != nullptr && silent > liveness().lost && !run_->stopping) GiveUp();
    WatchCoordinator();
  });
}

// Its lanes have lost what they were: a coordinator that wakes up must not take this agent for one
// that still plays. The link ends, so that it hears of a lost agent and finds another.
void Agent::GiveUp() {
  run_->stopping = true;
  run_->replayer.Stop(Duration{0}, [this] {
    run_->uplink.Flush();
    Finish(absl::UnavailableError(fmt::format(
        "the coordinator was silent for more than {:.0f} s: this agent hung up and leaves its run",
        ToSeconds(liveness().lost))));
  });
}

void Agent::Finish(const Status& status) {
  if (finished_) return;
  finished_ = true;
  watch_.Cancel();
  finish_ = deps_.scheduler.After(Duration{0}, [this, status] { deps_.finished(status); });
}

}  // namespace plimsoll
