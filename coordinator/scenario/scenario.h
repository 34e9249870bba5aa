// What a person wrote in a scenario file, as values. Every default of the language stands here (and
// in common/plan/plan.h for the types shared with agents), and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/config/quantities.h"
#include "common/plan/plan.h"
#include "coordinator/hooks/hook_runner.h"
#include "coordinator/judge/bar.h"
#include "coordinator/scenario/evals_spec.h"
#include "coordinator/scenario/kill_switch_spec.h"
#include "coordinator/scenario/notify_spec.h"
#include "coordinator/scenario/signals_spec.h"

namespace plimsoll {

// What the rollout applies; its files are kept with the run and compared, never interpreted.
struct Recipe {
  std::vector<std::string> files;  // As written; relative to the scenario's folder.
  std::string note;
  friend bool operator==(const Recipe&, const Recipe&) = default;
};

// Exactly one of `file` and `synthetic` is set.
struct CorpusSource {
  std::string file;       // As to be opened: relative paths are already relative to the scenario.
  std::string synthetic;  // Family of generated sessions: "agentx".
  // Of the generator: the options of common/corpus/synth.h, with its defaults.
  std::uint64_t seed = 1;
  std::uint32_t heavy = 32;  // Sessions of each tier.
  std::uint32_t mid = 0;
  std::uint32_t light = 32;
  std::uint32_t scale = 1;  // Divides all token counts.
  friend bool operator==(const CorpusSource&, const CorpusSource&) = default;
};

struct Sweep {
  std::vector<std::uint32_t> sessions;  // Strictly rising; at least one.
  std::optional<std::uint32_t> target;  // One of them; absent: the first.
  Duration warm_up = 2min;
  Duration measure = 5min;  // A whole number of blocks.
  Duration block = 1min;
  Duration drain_limit = 2min;
  Duration prime_limit = 1min;
  // For all steps, from the first one's preparation on. Absent: no limit, and nothing to refine
  // with.
  std::optional<Duration> budget;
  bool refine = true;  // What is left of the budget goes between the last that held and the first
                       // that did not.
  bool extend = true;  // A step that is too close gets more time once.
  bool fail_early = true;  // A step that clearly misses ends before its time.
  bool drain_between_steps = false;
  friend bool operator==(const Sweep&, const Sweep&) = default;
};

struct FleetSpec {
  std::uint32_t local = 0;             // Agent processes to start here; 0: agents dial in.
  std::uint32_t agents = 0;            // Agents to wait for when local is 0.
  std::string listen = "127.0.0.1:0";  // Host:port; port 0: any free one.
  Duration wait = 60s;                 // For the fleet to be complete.
  std::uint32_t size() const { return local > 0 ? local : agents; }
  friend bool operator==(const FleetSpec&, const FleetSpec&) = default;
};

// How sessions are replayed: the sections `replay` and `failure`.
struct ReplaySpec {
  ThinkTime think_time = ThinkTime::kNone;
  Duration think_time_cap = 60s;
  OutputMode output_mode = OutputMode::kRecorded;
  std::uint32_t output_tokens = 0;  // Of kFixed; > 0.
  std::uint32_t output_divisor = 1;
  bool isolate_prefixes = false;
  ContextLimit context_limit;
  History history = History::kRecorded;
  FailurePolicy failure;
  friend bool operator==(const ReplaySpec&, const ReplaySpec&) = default;
};

// What the deployment costs while a run holds it.
struct CostSpec {
  std::uint32_t nodes = 0;  // At least one.
  Money per_node_hour;      // Above zero.
  friend bool operator==(const CostSpec&, const CostSpec&) = default;
};

// What a run is given of the night.
struct ScenarioWindow {
  // From the run's begin to the end of its rollback. Absent: no limit.
  std::optional<Duration> length;
  std::string between;  // When it may be held: "22:00-06:00 Europe/Berlin". Empty: any time.
  friend bool operator==(const ScenarioWindow&, const ScenarioWindow&) = default;
};

struct Scenario {
  std::string name;
  Recipe recipe;
  TargetPlan target;
  CorpusSource corpus;
  std::vector<TierPlan> mix;  // In the file's order; shares without a common divisor.
  Sweep sweep;
  // Tiers that get a sweep of their own after the mix's, with the same steps.
  std::vector<TierPlan> tier_ladders;
  Bar bar;
  std::optional<SignalsSpec> signals;  // Absent: nobody but the client is asked.
  std::optional<KillSwitchSpec> kill_switch;
  // A hang-up that does not reach the engine is a warning then, and blocks the run otherwise.
  bool cancellation_may_be_lost = false;
  FleetSpec fleet;
  ReplaySpec replay;
  std::optional<CostSpec> cost;
  std::optional<EvalsSpec> evals;  // Absent: none is asked.
  RunHooks hooks;                  // Empty ones are not there.
  Duration guardian_grace = 10s;   // A dead coordinator's restart is awaited so long.
  ScenarioWindow window;
  std::vector<NotifySpec> notify;  // Webhooks.
  std::uint64_t seed = 1;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// The plan of one step of the sweep; `step` is its index in the run, repeats counted apart.
StepPlan MakeStepPlan(const Sweep& sweep, std::uint32_t step, std::uint32_t sessions);

// "keep" or "drain", as the key between_steps is written.
const char* BetweenStepsWord(const Sweep& sweep);

}  // namespace plimsoll
