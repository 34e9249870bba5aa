// The run machine: a pure function (state, event) → (state, actions). Every phase, every deadline
// and every way a run can end is decided here; run_driver only carries the actions out.
//
//   phase         leaves when                       deadline          what happens on failure
//   preflight     the call ended well               its own           exit 4
//   gather        the fleet is complete             gather_limit      exit 4, names who is missing
//   prepare_run   every agent is ready              kPrepareLimit     exit 4
//   mini_evals    the askers have asked the set     its limit + 30 s  what has come counts; a lost
//                 (only with evals)                                   agent ends the run, exit 4
//   prepare_step  every agent has primed            prime + 30 s      the sweep ends, exit 3
//                                                                     (also on repeated losses)
//   step          every agent has closed it         its time + 30 s   judged without it: no data
//   replace       the lost agents are back, ready   replace_limit     the sweep ends, exit 3
//   stop          nothing is in flight, all stored  drain + 15 s      ends anyway
//   settle        servers show the level of before  back_limit        ends anyway, and says so
//                 (where they are asked, and load was sent)
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"
#include "common/plan/messages.h"
#include "coordinator/judge/sweep_policy.h"
#include "coordinator/planning/run_settings.h"

namespace plimsoll {

// Design section 10.
enum class ExitCode : int {
  kHeld = 0,
  kMissed = 1,
  kTooClose = 2,
  kNoData = 3,
  kCouldNotRun = 4,
  kStopped = 5,
  kRollbackFailed = 6,
  kUsage = 64,
  kInternal = 70,
};

enum class RunPhase : std::uint8_t {
  kPreflight,
  kGather,
  kPrepareRun,
  kPrepareStep,
  kStep,
  kReplace,
  kStop,
  kDone,
  kMiniEvals,  // Between kPrepareRun and the first step.
  kSettle,     // After kStop. Numbers are sent: what comes later stands last.
};
inline constexpr RunPhase kLastPhase = RunPhase::kSettle;
inline constexpr int kRunPhases = static_cast<int>(kLastPhase) + 1;
const char* Name(RunPhase phase);

namespace event {
struct Begin {};
struct PreflightDone {
  Status status;
};
struct FleetComplete {
  std::vector<std::string> names;  // By slot.
};
struct AgentFailedToStart {
  std::string message;
};  // A local process that ended before it said Hello.
struct RunReadyBy {
  std::uint32_t slot;
};
// Its part of the mini run is asked, and every record of it is stored.
struct EvalsAskedBy {
  std::uint32_t slot;
};
struct StepReadyBy {
  std::uint32_t slot;
  std::uint32_t step;
};
// The agent closed the step and every record of it is stored.
struct StepClosedBy {
  std::uint32_t slot;
  std::uint32_t step;
};
struct StepJudged {
  StepVerdict verdict;
  double requests_in_flight;
  Duration elapsed{};                         // Since the first step's preparation.
  SweepEvent ends_sweep = SweepEvent::kNone;  // What the step met.
};
// The running step was looked at after `after_blocks` blocks, and it clearly misses. Its measured
// time can end at `measure`.
struct LookFailed {
  std::uint32_t step;
  std::uint32_t after_blocks;
  Duration measure;
  std::string reason;
};
struct AgentLost {
  std::uint32_t slot;
  std::string reason;
};
struct AgentReplaced {
  std::uint32_t slot;
  std::string name;
};
struct AgentFaulted {
  std::uint32_t slot;
  std::string message;
};
// Nothing of the agent is in flight and every record of it is stored.
struct StoppedBy {
  std::uint32_t slot;
};
// Servers show what they did before the first step.
struct DeploymentBack {};
struct DeadlinePassed {};
struct StopRequested {
  int count;
};  // 1 drains, 2 aborts, 3 waits for nobody any more.
struct StoreFailed {
  std::string message;
};  // Nothing is judged on what cannot be kept.
}  // namespace event
using MachineEvent =
    std::variant<event::Begin, event::PreflightDone, event::FleetComplete,
                 event::AgentFailedToStart, event::RunReadyBy, event::StepReadyBy,
                 event::StepClosedBy, event::StepJudged, event::AgentLost, event::AgentReplaced,
                 event::AgentFaulted, event::StoppedBy, event::DeadlinePassed, event::StopRequested,
                 event::StoreFailed, event::LookFailed, event::EvalsAskedBy, event::DeploymentBack>;

namespace action {
struct RunPreflight {};
struct GatherFleet {};  // Starts the local agents, or says where to dial in.
struct PrepareRun {
  std::uint32_t slot;
};  // Plan and corpus to one agent.
struct PrepareStep {
  StepPlan plan;
  std::string note;
  bool fresh = false;  // The lanes alive end first; of the step all are new.
};
// The running step's measured time ends at `measure`.
struct EndMeasure {
  Duration measure;
};
// The first slots ask the eval set, each its part.
struct AskEvals {
  MiniRunSettings settings;
};
struct CommitStep {};    // Common start of the prepared step.
struct JudgeStep {};     // From what has arrived; the answer is StepJudged.
struct BreakOffStep {};  // It will not be judged: what it measured so far is kept as such.
struct RestartAgent {
  std::uint32_t slot;
};  // Local ones only.
struct StopAgents {
  StopKind kind;
  Duration drain_limit;
};
struct AwaitBack {};  // The load has ended; the answer is DeploymentBack.
struct SetDeadline {
  Duration after;
};  // Replaces the one before.
struct ClearDeadline {};
struct Say {
  std::string line;
};  // For people, as it happens.
struct Finish {
  ExitCode code;
  std::string reason;
};
}  // namespace action
using MachineAction =
    std::variant<action::RunPreflight, action::GatherFleet, action::PrepareRun, action::PrepareStep,
                 action::CommitStep, action::JudgeStep, action::BreakOffStep, action::RestartAgent,
                 action::StopAgents, action::SetDeadline, action::ClearDeadline, action::Say,
                 action::Finish, action::EndMeasure, action::AskEvals, action::AwaitBack>;

struct MachineState {
  RunPhase phase = RunPhase::kPreflight;
  StepPlan step;            // Prepared or running.
  std::string step_note;    // Why it is not just the next planned one; empty if it is.
  StepOrigin origin;        // Of the step.
  bool fresh = false;       // The step's lanes are all new.
  std::uint32_t lanes = 0;  // Of the step prepared last: those that may be alive.
  std::size_t ladder = 0;   // 0: the mix's; n: RunSettings::tier_ladders[n - 1].
  std::string mix_end;      // Why the mix's sweep ended; empty: it has not.
  bool look = true;         // Whether the step may be failed early.
  Duration elapsed{};       // As the last verdict said.
  std::uint32_t steps_made = 0;
  std::set<std::uint32_t> waiting_for;  // Slots from which the phase still wants an answer.
  std::set<std::uint32_t> lost;         // Slots without an agent, or whose new agent is not ready.
  // Agents lost since the last common start, outside of a measured step.
  std::uint32_t prepare_losses = 0;
  std::vector<std::string> names;  // Of the agents, by slot; empty until the fleet is complete.
  bool fleet_complete = false;     // Every slot was taken, perhaps before it was wanted.
  bool judging = false;            // JudgeStep of `step` is out, answered or not.
  SweepHistory history;            // Input of the sweep's policy.
  ExitCode end_code = ExitCode::kHeld;  // Of kStop: what the run will end with.
  std::string end_reason;
  bool aborting = false;  // Of kStop: agents were told to hang up.
  int stop_requests = 0;
};

class RunMachine {
 public:
  explicit RunMachine(RunSettings settings) : settings_(std::move(settings)) {}

  // Events that the phase does not expect change nothing.
  static std::pair<MachineState, std::vector<MachineAction>> Next(const RunSettings& settings,
                                                                  MachineState state,
                                                                  const MachineEvent& event);

  std::vector<MachineAction> Apply(const MachineEvent& event);
  const MachineState& state() const { return state_; }

 private:
  const RunSettings settings_;
  MachineState state_;
};

}  // namespace plimsoll
