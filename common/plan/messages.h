// The conversation of coordinator and agent, as values. common/wire maps them to proto; tests/sim
// passes them as they are. Every instant in them is on the *agent's* monotonic clock, nanoseconds.
//
//   agent                coordinator
//   Hello          ─►
//                  ◄─    Welcome | Refuse
//                  ◄─    Ping …                 Pong ─►            (every second, both ways alive)
//                  ◄─    PrepareRun, CorpusChunk … (unless the agent holds it)
//   RunReady       ─►
//                  ◄─    AskEvals               (the mini run, if the plan has evals)
//   EvalsAsked     ─►                           (asked and judged, records on their way)
//                  ◄─    PrepareStep            (lanes made, added ones primed)
//   StepReady      ─►
//                  ◄─    CommitStep             (common start)
//                  ◄─    EndMeasure             (only of a step that is decided before its time)
//   StepClosed     ─►                           (all measured calls ended, records acked)
//                  ◄─    PrepareStep … | Stop
//   Stopped        ─►
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/plan/plan.h"
#include "common/record/batch.h"
#include "common/record/tally.h"

namespace plimsoll {

inline constexpr std::uint32_t kProtocolVersion = 1;

struct Hello {
  std::uint32_t protocol_version = kProtocolVersion;
  std::string build;              // Version of the program; a mismatch is refused in words.
  std::string name;               // Unique in the fleet; by default host:pid.
  std::uint64_t incarnation = 0;  // Drawn at start: a restarted agent is another one.
  std::uint32_t cores = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t descriptors_max = 0;
  std::uint32_t ports = 0;           // Ephemeral ports for one destination.
  std::vector<std::string> corpora;  // Digests held.
  friend bool operator==(const Hello&, const Hello&) = default;
};
struct Pong {
  std::uint64_t sequence = 0;  // Of the Ping.
  std::int64_t agent_ns = 0;
  std::uint32_t calls_in_flight = 0;
  std::uint32_t lanes = 0;
  friend bool operator==(const Pong&, const Pong&) = default;
};
struct RunReady {
  friend bool operator==(const RunReady&, const RunReady&) = default;
};
// The agent's part of the mini run is over.
struct EvalsAsked {
  std::uint32_t asked = 0;
  std::uint32_t left = 0;           // Not asked, since the time was over.
  std::uint64_t last_sequence = 0;  // Every batch of it is at or below it.
  friend bool operator==(const EvalsAsked&, const EvalsAsked&) = default;
};
struct StepReady {
  std::uint32_t step = 0;
  std::uint32_t primers_wanted = 0;
  std::uint32_t primers_failed = 0;
  std::uint32_t lanes_ended = 0;  // Surplus ones.
  std::uint32_t calls_cut = 0;    // Of those, at the step's drain limit.
  friend bool operator==(const StepReady&, const StepReady&) = default;
};
struct StepClosed {
  StepTally tally;
  std::uint64_t last_sequence = 0;  // Every batch of the step is at or below it.
  friend bool operator==(const StepClosed&, const StepClosed&) = default;
};
struct Stopped {
  std::uint64_t last_sequence = 0;
  friend bool operator==(const Stopped&, const Stopped&) = default;
};
// The agent cannot do what it was told; the run ends with this in words.
struct AgentFault {
  std::string message;
  friend bool operator==(const AgentFault&, const AgentFault&) = default;
};
using AgentMessage =
    std::variant<Hello, Pong, RunReady, StepReady, StepClosed, Stopped, AgentFault, EvalsAsked>;

struct Welcome {
  std::uint32_t agent_slot = 0;
  friend bool operator==(const Welcome&, const Welcome&) = default;
};
struct Refuse {
  std::string reason;
  friend bool operator==(const Refuse&, const Refuse&) = default;
};
struct Ping {
  std::uint64_t sequence = 0;
  friend bool operator==(const Ping&, const Ping&) = default;
};
struct PrepareRun {
  RunPlan plan;
  friend bool operator==(const PrepareRun&, const PrepareRun&) = default;
};
struct CorpusChunk {
  std::string digest;
  std::uint64_t total_bytes = 0;
  std::uint64_t offset = 0;  // Chunks come in order, without gaps.
  std::string bytes;
  friend bool operator==(const CorpusChunk&, const CorpusChunk&) = default;
};
// Ask this part of the mini run: of its turns every `parts`-th, from `part` on.
struct AskEvals {
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  std::uint32_t at_once = 1;  // So many in flight at most.
  Duration limit{};           // What is open then is cut, and nothing more is asked.
  friend bool operator==(const AskEvals&, const AskEvals&) = default;
};
struct PrepareStep {
  StepPlan step;
  std::vector<LaneSpec> lanes;  // This agent's, all of them; those it already runs go on, and
                                // those that it runs and are not listed end first.
  bool fresh = false;           // None goes on: all that it runs end first, and these are new.
  friend bool operator==(const PrepareStep&, const PrepareStep&) = default;
};
struct CommitStep {
  std::uint32_t step = 0;
  std::int64_t start_agent_ns = 0;  // The common start, on this agent's monotonic clock.
  friend bool operator==(const CommitStep&, const CommitStep&) = default;
};
// The step is decided: its measured time ends early. Calls in flight then are cut.
struct EndMeasure {
  std::uint32_t step = 0;
  Duration measure{};  // The measured time, less than planned; it ends ahead of this message.
  friend bool operator==(const EndMeasure&, const EndMeasure&) = default;
};
enum class StopKind : std::uint8_t { kDrain = 0, kAbort = 1 };  // Sent: never renumber.
struct Stop {
  StopKind kind = StopKind::kDrain;
  Duration drain_limit{};  // kDrain: calls still open after it are cut.
  friend bool operator==(const Stop&, const Stop&) = default;
};
using CoordinatorMessage = std::variant<Welcome, Refuse, Ping, PrepareRun, CorpusChunk, PrepareStep,
                                        CommitStep, Stop, EndMeasure, AskEvals>;

}  // namespace plimsoll
