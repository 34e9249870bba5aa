#include "tests/sim/fleet_sim.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/wall_watch.h"
#include "tests/fakes/skewed_scheduler.h"

namespace plimsoll {
namespace {

constexpr char kBuild[] = "sim";
constexpr char kDigest[] = "00000000000000000000000000000000000000000000000000000000000000aa";

// Says of its process what the options say. Its wall clock may be set.
class ScriptedLoad final : public SelfLoad {
 public:
  ScriptedLoad(const SimOptions& options, const Clock& clock, std::uint32_t slot)
      : options_(options), clock_(clock), wall_(clock), slot_(slot) {}
  void Reset() override { wall_.Reset(); }
  Duration loop_lag_max() const override { return Now().loop_lag_max; }
  Duration loop_stalled() const override { return Now().loop_stalled; }
  double cpu_share_max() const override { return Now().cpu_share_max; }
  Duration wall_moved() const override {
    wall_.Look();
    return wall_.moved();
  }
  HostLoad host() override { return Now().host; }

 private:
  SimLoad Now() const { return options_.load ? options_.load(slot_, clock_.MonoNow()) : SimLoad{}; }

  const SimOptions& options_;
  const Clock& clock_;
  mutable WallWatch wall_;  // Looked at when asked: nothing samples it on the way.
  const std::uint32_t slot_;
};

class SharedShelf final : public CorpusShelf {
 public:
  explicit SharedShelf(std::shared_ptr<const Corpus> corpus) : corpus_(std::move(corpus)) {}
  std::vector<std::string> digests() const override { return {kDigest}; }
  std::shared_ptr<const Corpus> Find(const std::string& digest) const override {
    return digest == kDigest ? corpus_ : nullptr;
  }
  Status Add(const std::string&, std::string) override {
    return absl::UnimplementedError("simulated agents hold their corpus");
  }

 private:
  std::shared_ptr<const Corpus> corpus_;
};

}  // namespace

class FleetSim::Host {
 public:
  Host(FleetSim& sim, std::uint32_t index, std::uint64_t incarnation)
      : loop_(sim.scheduler_),
        scheduler_(loop_,
                   FromSeconds(ToSeconds(sim.options_.clock_spread) *
                               Rng(MixKey(sim.options_.network.seed, incarnation)).Uniform())),
        wall_(sim.scheduler_),
        load_(sim.options_, wall_, index),
        shelf_(sim.options_.corpus) {
    Hello hello;
    hello.build = kBuild;
    hello.name = fmt::format("sim-{}-{}", index, incarnation);
    hello.incarnation = incarnation;
    hello.cores = 2;
    hello.descriptors_max = sim.options_.agent_descriptors;
    agent_ = std::make_unique<Agent>(
        AgentDeps{.scheduler = scheduler_,
                  .self_load = load_,
                  .shelf = shelf_,
                  .make_transport =
                      [this, &sim](const RunPlan&) -> StatusOr<std::unique_ptr<CallTransport>> {
                    std::unique_ptr<CallTransport> calls = std::make_unique<EngineTransport>(
                        scheduler_, *sim.engine_, sim.options_.target);
                    SimServers* const servers = sim.options_.servers;
                    return servers == nullptr ? std::move(calls) : servers->Count(std::move(calls));
                  },
                  .finished = [this, &sim](const Status&) { sim.network_.HangUp(id); }},
        std::move(hello));
    link_ = sim.network_.Dial(*agent_);
    id = sim.network_.last_link();
    agent_->Attach(*link_);
  }
  void Stall(Duration length) { loop_.Stall(length); }
  void SetWall(Duration by) { wall_.Set(by); }
  LinkId id = 0;

 private:
  StallingScheduler loop_;
  SkewedScheduler scheduler_;
  SteppingClock wall_;
  ScriptedLoad load_;
  SharedShelf shelf_;
  std::unique_ptr<CoordinatorLink> link_;
  std::unique_ptr<Agent> agent_;
};

class FleetSim::Journal final : public RunJournal {
 public:
  Status Append(const RecordBatch& batch) override {
    if (failing) return absl::ResourceExhaustedError("no space left on the simulated disk");
    records.insert(records.end(), batch.records.begin(), batch.records.end());
    evals.insert(evals.end(), batch.evals.begin(), batch.evals.end());
    return absl::OkStatus();
  }
  std::uint64_t records_kept() const override { return records.size() + evals.size(); }
  Status CloseStep(const StepSummary& step, const std::string&,
                   const std::vector<Cell>& cells) override {
    if (failing) return absl::ResourceExhaustedError("no space left on the simulated disk");
    cells_by_step[step.plan.step] = cells;
    return absl::OkStatus();
  }
  std::vector<CallRecord> records;
  std::vector<EvalRecord> evals;
  std::map<std::uint32_t, std::vector<Cell>> cells_by_step;
  bool failing = false;
};

class FleetSim::Spawner final : public AgentSpawner {
 public:
  explicit Spawner(FleetSim& sim) : sim_(sim) {}
  Status Start(std::uint32_t index) override {
    sim_.hosts_.resize(std::max<std::size_t>(sim_.hosts_.size(), index + 1));
    sim_.hosts_[index] = std::make_unique<Host>(sim_, index, ++sim_.started_);
    return absl::OkStatus();
  }
  void EndAll() override {}

 private:
  FleetSim& sim_;
};

FleetSim::FleetSim(SimOptions options)
    : options_(std::move(options)), network_(scheduler_, coordinator_, options_.network) {
  options_.plan.corpus_digest = kDigest;
  options_.settings.local_agents = true;
  engine_ = std::make_unique<Engine>(scheduler_, options_.engine, options_.engine_seeds);
  engine_faults_ = std::make_unique<EngineFaults>(scheduler_, *engine_, options_.faults);
  options_.target.rules = options_.faults;
  options_.target.moment = [this] { return engine_faults_->Moment(); };
  if (options_.hooks != nullptr) options_.hooks->Attach(coordinator_);
  if (options_.servers != nullptr) options_.servers->Attach(scheduler_, *engine_);
  journal_ = std::make_unique<Journal>();
  spawner_ = std::make_unique<Spawner>(*this);
  driver_ = std::make_unique<RunDriver>(
      RunSpec{.plan = options_.plan,
              .settings = options_.settings,
              .bar = options_.bar,
              .corpus = options_.corpus,
              .corpus_bytes = {},
              .build = kBuild,
              .evals = options_.evals,
              .servers = options_.server_rules,
              .hooks = options_.hook_specs},
      RunDeps{.scheduler = coordinator_,
              .links = network_,
              .journal = *journal_,
              .spawner = spawner_.get(),
              .signals = options_.servers,
              .hooks = options_.hooks,
              .clock = &wall_,
              .preflight =
                  [this](std::function<void(PreflightReport)> done) {
                    scheduler_.Post([this, done = std::move(done)] { done(options_.preflight); });
                  },
              .found = [this](Finding finding) { found_.push_back(std::move(finding)); },
              .say = [this](const std::string& line) { said_.push_back(line); },
              .step_judged = [](const RunStep&) {},
              .finished =
                  [this](RunResult result) {
                    result_ = std::move(result);
                    ended_ = true;
                  }});
  network_.SetServer(driver_->link_events());
}

FleetSim::~FleetSim() {
  if (options_.hooks != nullptr) options_.hooks->Detach();
  if (options_.servers != nullptr) options_.servers->Detach();
}

RunResult FleetSim::Run(Duration limit) {
  const MonoTime end = scheduler_.Now() + limit;
  driver_->Start();
  while (!ended_ && scheduler_.RunOne(end)) {
  }
  return std::move(result_);
}

void FleetSim::At(Duration at, std::function<void()> task) {
  timers_.push_back(scheduler_.At(MonoTime{} + at, std::move(task)));
}

void FleetSim::KillAgentAt(Duration at, std::uint32_t slot) {
  At(at, [this, slot] { hosts_[slot].reset(); });
}

void FleetSim::SilenceAgentAt(Duration at, std::uint32_t slot) {
  At(at, [this, slot] { network_.Silence(hosts_[slot]->id); });
}

void FleetSim::StallAgentAt(Duration at, std::uint32_t slot, Duration length) {
  At(at, [this, slot, length] { hosts_[slot]->Stall(length); });
}

void FleetSim::LoseBatchesBetween(Duration from, Duration to) {
  At(from, [this] { network_.SetBatchLoss(1); });
  At(to, [this] { network_.SetBatchLoss(options_.network.batch_loss); });
}

void FleetSim::SetAgentWallAt(Duration at, std::uint32_t slot, Duration by) {
  At(at, [this, slot, by] { hosts_[slot]->SetWall(by); });
}

void FleetSim::SetCoordinatorWallAt(Duration at, Duration by) {
  At(at, [this, by] { wall_.Set(by); });
}

void FleetSim::StallCoordinatorAt(Duration at, Duration length) {
  At(at, [this, length] { coordinator_.Stall(length); });
}

void FleetSim::StopAt(Duration at, int count) {
  At(at, [this, count] { driver_->RequestStop(count); });
}

void FleetSim::TripAt(Duration at, const std::string& reason) {
  At(at, [this, reason] { driver_->Trip(reason); });
}

void FleetSim::FailStoreAt(Duration at) {
  At(at, [this] { journal_->failing = true; });
}

void FleetSim::Watch(std::function<void(const LiveStatus&)> look) {
  watch_ = scheduler_.After(1s, [this, look = std::move(look)]() mutable {
    if (ended_) return;
    look(driver_->Live());
    Watch(std::move(look));
  });
}

const std::vector<CallRecord>& FleetSim::records() const {
  return journal_->records;
}

const std::vector<EvalRecord>& FleetSim::evals() const {
  return journal_->evals;
}

const std::map<std::uint32_t, std::vector<Cell>>& FleetSim::cells() const {
  return journal_->cells_by_step;
}

}  // namespace plimsoll
