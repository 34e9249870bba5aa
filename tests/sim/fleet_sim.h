// The whole rig but its sockets in one thread, in virtual time, from one seed: coordinator, agents,
// the engine model, links with delay and loss.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/control/agent.h"
#include "coordinator/run/run_driver.h"
#include "gateway/engine/engine.h"
#include "gateway/faults/engine_faults.h"
#include "tests/fakes/engine_transport.h"
#include "tests/fakes/memory_network.h"
#include "tests/fakes/sim_scheduler.h"
#include "tests/fakes/stalling_scheduler.h"
#include "tests/fakes/stepping_clock.h"
#include "tests/sim/sim_hooks.h"
#include "tests/sim/sim_servers.h"

namespace plimsoll {

// What a simulated agent's process says of itself.
struct SimLoad {
  Duration loop_lag_max{};
  Duration loop_stalled{};
  double cpu_share_max = 0;
  HostLoad host{};
};

struct SimOptions {
  std::shared_ptr<const Corpus> corpus;  // Shared by all agents, as one file would be.
  RunPlan plan;                          // seed, nonce, tiers …; the digest is filled in.
  RunSettings settings;
  Bar bar;
  EngineConfig engine;
  EngineSeeds engine_seeds;
  std::vector<FaultRule> faults;  // Of the gateway; times run from the run's start.
  MemoryNetworkOptions network;
  EngineTransportOptions target;
  Status preflight;                      // What the one call finds.
  std::uint64_t agent_descriptors = 0;   // What each agent says it may open; 0: it cannot say.
  Duration clock_spread = 300s;          // Agents' clocks differ by up to this.
  std::shared_ptr<const EvalSet> evals;  // What plan.evals says.
  // Asked of each agent at the end of each measured time. Empty: a simulated host has nothing else
  // to do, and is never the bottleneck.
  std::function<SimLoad(std::uint32_t slot, MonoTime now)> load;
  SimServers* servers = nullptr;  // Whose pages the run reads; null: no server is asked.
  ServerRules server_rules;
  SimHooks* hooks = nullptr;  // Null: the run has none.
  RunHooks hook_specs;        // Those that settings.hooks have a time for.
};

class FleetSim {
 public:
  explicit FleetSim(SimOptions options);
  ~FleetSim();

  // Runs to the end, at most `limit` of virtual time; what did not end by then has code kInternal.
  RunResult Run(Duration limit = 24h);
  // At `at` of virtual time: the agent's process is gone, or the network around it falls silent.
  void KillAgentAt(Duration at, std::uint32_t slot);
  void SilenceAgentAt(Duration at, std::uint32_t slot);
  // The agent's timers fire no more for so long: its releases leave late.
  void StallAgentAt(Duration at, std::uint32_t slot, Duration length);
  // No batch of records and no ack passes from here to there, while the control streams go on.
  void LoseBatchesBetween(Duration from, Duration to);
  // The wall clock of an agent's machine, or of the coordinator's, is set by so much; what is
  // monotonic goes on.
  void SetAgentWallAt(Duration at, std::uint32_t slot, Duration by);
  void SetCoordinatorWallAt(Duration at, Duration by);
  // The coordinator's loop runs nothing for so long, while its links stay up.
  void StallCoordinatorAt(Duration at, Duration length);
  void StopAt(Duration at, int count);
  // A rule of the kill switch trips.
  void TripAt(Duration at, const std::string& reason);
  void At(Duration at, std::function<void()> task);
  // The journal's next append fails, as a full disk does.
  void FailStoreAt(Duration at);
  // Every second of the run, from its start on.
  void Watch(std::function<void(const LiveStatus&)> look);

  SimScheduler& scheduler() { return scheduler_; }
  Engine& engine() { return *engine_; }
  const std::vector<CallRecord>& records() const;
  const std::vector<EvalRecord>& evals() const;
  // Of the steps that were closed, by number.
  const std::map<std::uint32_t, std::vector<Cell>>& cells() const;
  const std::vector<std::string>& said() const { return said_; }
  // What the fleet showed before the first step.
  const std::vector<Finding>& found() const { return found_; }
  std::uint64_t agents_started() const { return started_; }

 private:
  class Host;  // One agent process.
  class Journal;
  class Spawner;

  SimOptions options_;
  SimScheduler scheduler_;
  StallingScheduler coordinator_{scheduler_};
  SteppingClock wall_{scheduler_};  // The coordinator's.
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<EngineFaults> engine_faults_;
  MemoryNetwork network_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Spawner> spawner_;
  std::vector<std::unique_ptr<Host>> hosts_;  // By slot, local ones.
  std::unique_ptr<RunDriver> driver_;
  std::vector<std::string> said_;
  std::vector<Finding> found_;
  std::vector<Timer> timers_;
  Timer watch_;
  std::uint64_t started_ = 0;
  bool ended_ = false;
  RunResult result_;
};

}  // namespace plimsoll
