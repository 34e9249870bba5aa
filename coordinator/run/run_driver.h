// Carries out the run machine's actions and feeds back what happens: fleet, ingest, judge, journal.
// Holds no decisions of its own; runs on one scheduler, in virtual time as in real.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/wall_watch.h"
#include "coordinator/fleet/fleet.h"
#include "coordinator/hooks/hook_runner.h"
#include "coordinator/hooks/hook_tries.h"
#include "coordinator/ingest/batch_gate.h"
#include "coordinator/ingest/eval_ingest.h"
#include "coordinator/ingest/step_ingest.h"
#include "coordinator/judge/bar.h"
#include "coordinator/judge/early_look.h"
#include "coordinator/run/agent_spawner.h"
#include "coordinator/run/live_status.h"
#include "coordinator/run/preflight_rules.h"
#include "coordinator/run/replay_facts.h"
#include "coordinator/run/run_journal.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/run/server_side.h"
#include "coordinator/run/signal_feed.h"

namespace plimsoll {

struct EvalSet;

struct RunSpec {
  RunPlan plan;
  RunSettings settings;
  Bar bar;
  std::shared_ptr<const Corpus>
      corpus;                // Shared with the CLI, which drew its preflight call from it.
  std::string corpus_bytes;  // Shipped to agents that do not hold plan.corpus_digest.
  std::string build;
  std::shared_ptr<const EvalSet> evals = nullptr;  // What plan.evals says; null without.
  ServerRules servers;                             // Where RunDeps::signals are.
  RunHooks hooks;                                  // Those that settings.hooks have a time for.
};

struct RunStep {
  StepSummary summary;
  std::string note;  // Why it was repeated; empty for a first try.
};

struct RunResult {
  ExitCode code = ExitCode::kInternal;
  std::string reason;
  std::vector<RunStep> steps;
  SweepHistory history;
  std::optional<DrainSummary> drain;  // Absent: nobody looked.
};

struct RunDeps {
  Scheduler& scheduler;
  AgentLinks& links;
  RunJournal& journal;
  AgentSpawner* spawner = nullptr;  // Null: agents dial in.
  SignalFeed* signals = nullptr;    // What servers say; null: no server is asked.
  HookPort* hooks = nullptr;        // Null: there are no hooks.
  const Clock* clock = nullptr;     // Whether the wall clock steps; null: nobody looks.
  // Makes preflight's calls; answers once, later.
  std::function<void(std::function<void(PreflightReport)>)> preflight;
  // What the fleet shows after preflight's own findings; kept with the run. May be null.
  std::function<void(Finding)> found;
  std::function<void(const std::string&)> say;      // A line for people, as it happens.
  std::function<void(const RunStep&)> step_judged;  // As it happens.
  // Each start of a hook, as it ended; may be empty.
  std::function<void(const HookOutcome&)> hook_ended;
  std::function<void(RunResult)> finished;  // Once; nothing is called after it.
};

class RunDriver final : public FleetEvents {
 public:
  RunDriver(RunSpec spec, RunDeps deps);
  ~RunDriver() override;

  // Whom the links' server reports to.
  AgentLinkEvents& link_events() { return fleet_; }
  // Whom the settings' hooks are run by: before Start().
  void UseHooks(HookPort& hooks) { deps_.hooks = &hooks; }
  void Start();
  // A signal: the first drains, the second aborts, the third waits for nobody any more.
  void RequestStop(int count);
  // A rule of the kill switch tripped: agents hang up at once, and the run is rolled back.
  void Trip(const std::string& reason);
  const Fleet& fleet() const { return fleet_; }
  const MachineState& state() const { return machine_.state(); }
  // How the run looks now; costs a look at every cell of the step, so about once a second.
  LiveStatus Live() const;

  void OnFleetComplete() override;
  void OnAgentLost(std::uint32_t slot, const std::string& reason) override;
  void OnAgentReplaced(std::uint32_t slot) override;
  void OnAgentMessage(std::uint32_t slot, AgentMessage message) override;
  void OnAgentBatch(std::uint32_t slot, RecordBatch batch) override;
  void OnAgentRefused(const std::string& name, const std::string& reason) override;

 private:
  // What a slot's present incarnation has sent.
  struct SlotState {
    BatchGate gate;
    std::optional<StepClosed> closing;      // Waits for its last batch.
    std::optional<EvalsAsked> evals_asked;  // The same.
    std::optional<Stopped> stopped;         // Said; its last batch may be on the way.
    std::optional<StepTally> tally;         // Of the current step.
    bool lost = false;                      // An agent of the slot, in the current step.
    Duration clock_uncertainty{};           // When the step's start was converted.
    // Counts on with every agent that the slot loses, and over all slots when lanes end.
    std::uint32_t generation = 0;
  };

  // A step that is over, judged by the client's records.
  struct Judging {
    StepEvidence evidence;
    StepVerdict verdict;
    MonoTime ended{};
  };

  void Feed(const MachineEvent& event);
  void Do(const action::RunPreflight&);
  void Do(const action::GatherFleet&);
  void Do(const action::PrepareRun& a);
  void Do(const action::PrepareStep& a);
  void Do(const action::CommitStep&);
  void Do(const action::JudgeStep&);
  void Do(const action::BreakOffStep&);
  void Do(const action::RestartAgent& a);
  void Do(const action::StopAgents& a);
  void Do(const action::SetDeadline& a);
  void Do(const action::ClearDeadline&);
  void Do(const action::Say& a);
  void Do(const action::Finish& a);
  void Do(const action::EndMeasure& a);
  void Do(const action::AskEvals& a);
  void Do(const action::AwaitBack&);
  void Do(const action::RunHook& a);
  void Do(const action::AbortHook&);
  void Do(const action::SetWindowEnd& a);

  void PlanLooks();
  void PlanReads();
  void Look(std::uint32_t done);

  static std::unique_ptr<EvalIngest> MakeEvalIngest(const EvalSet* set);
  void EvalsIfComplete(std::uint32_t slot);
  void SayMiniRun() const;
  void TakeEvals();
  void JudgeEvals(StepVerdict* verdict, RunStep* step);

  void CloseIfComplete(std::uint32_t slot);
  void StopIfComplete(std::uint32_t slot);
  void FinishJudging();
  void SayDrain();
  void SayWhatIsMissing();
  void KeepBrokenOffStep();
  void FailStore(const Status& status);
  std::vector<Suspicion> LookAt(const StepEvidence& evidence, const StepVerdict& verdict,
                                const std::optional<ServerCounts>& server);
  std::vector<AgentEvidence> AgentsOfStep() const;
  std::vector<LaneSpec> LanesOf(std::uint32_t sessions, std::size_t ladder) const;
  std::vector<LaneNeeds> NeedsOf(std::uint32_t slot) const;
  void StartGenerationIfLanesEnd(const action::PrepareStep& a);
  StepEvidence EvidenceOfStep();
  bool HasRoom(std::uint32_t slot);
  void FindFleet();
  void FindClocks();

  RunSpec spec_;  // The plan's switches as preflight found them.
  RunDeps deps_;
  RunMachine machine_;
  Fleet fleet_;
  std::vector<SlotState> slots_;
  bool clocks_found_ = false;
  const ReplayFacts replay_facts_;
  TemplateFit fit_;  // As preflight found it.
  std::unique_ptr<StepIngest> ingest_;
  const std::unique_ptr<EvalIngest> evals_;  // Null: the plan has none.
  EvalEvidence last_evals_;                  // Of the last judged step: an extension joins it.
  std::vector<std::uint32_t> evals_over_;    // Slots that wait for servers to be read without them.
  std::vector<LaneSpec> lanes_;              // Of the current step.
  std::uint64_t records_acked_ = 0;          // Of the whole run.
  std::vector<RunStep> steps_;
  std::vector<StepFigures> figures_;  // Of the ladder's steps that were judged.
  std::optional<WallWatch> wall_;     // Of the present step.
  StepEvidence last_evidence_;        // Of the last judged step: an extension joins it.
  std::optional<Judging> judging_;    // Waits for servers' pages.
  ServerSide servers_;
  std::optional<EarlyFinding> finding_;  // Of the present step: it was failed early.
  std::vector<Timer> looks_;             // Of the present step.
  std::vector<Timer> reads_;             // Of servers' pages, at its blocks' edges.
  std::optional<MonoTime> steps_from_;   // The first step's preparation.
  std::optional<Duration> broken_off_;   // Measured time of the step that was broken off.
  LiveTimes times_;                  // Of the run and the present step; `now` is filled in later.
  std::vector<MachineEvent> queue_;  // Events that arise while actions are carried out.
  bool feeding_ = false;
  bool store_failed_ = false;  // Nothing is kept any more, so no batch is waited for.
  bool finished_ = false;
  std::unique_ptr<HookTries> tries_;  // Of the hook that runs.
  Timer deadline_;
  Timer window_;
  Timer hook_done_;
  Timer commit_;
  Timer finish_;
};

}  // namespace plimsoll
