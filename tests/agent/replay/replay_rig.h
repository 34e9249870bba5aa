// Lanes on a transport that does as it is told, in virtual time: a small session tree, a step of
// 10 s of warm-up and 60 s measured in blocks of 20 s, and the checks that every step must pass.
#pragma once

#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "agent/replay/replayer.h"
#include "gtest/gtest.h"
#include "tests/fakes/fixed_transport.h"
#include "tests/fakes/sim_scheduler.h"
#include "tests/fakes/stalling_scheduler.h"

namespace plimsoll {

// Says what it is told to say.
class Load final : public SelfLoad {
 public:
  void Reset() override {
    if (clock != nullptr) reset_at.push_back(clock->Now());
  }
  Duration loop_lag_max() const override { return lag_max; }
  Duration loop_stalled() const override { return stalled; }
  double cpu_share_max() const override { return cpu_share; }
  Duration wall_moved() const override { return moved; }
  HostLoad host() override { return machine; }

  explicit Load(const Scheduler* with = nullptr) : clock(with) {}
  const Scheduler* clock;
  std::vector<MonoTime> reset_at;
  Duration lag_max = 3ms;
  Duration stalled{};
  Duration moved{};
  double cpu_share = 0.25;
  HostLoad machine;
};

class Sink final : public RecordSink {
 public:
  void AddEval(const EvalRecord& record) override { evals.push_back(record); }
  std::vector<EvalRecord> evals;
  void Add(const CallRecord& record) override { records.push_back(record); }
  std::vector<CallRecord> records;
};

inline Call MakeCall(std::uint32_t stream, std::int32_t ref, std::uint32_t kept,
                     std::uint32_t tokens) {
  return {.stream = stream,
          .ref = ref,
          .kept_blocks = kept,
          .tokens_in = tokens,
          .tokens_out = 20,
          .delay_ms = 500,
          .service_ms = 1000};
}

// Main call 0 fans out into two joined streams (1, 2-3) and an async one (4); main goes on with
// 5, 6.
inline Session Tree() {
  Session s;
  s.id = "tree";
  s.tier = Tier::kLight;
  s.streams = {{},
               {.parent_call = 0, .join_call = 5},
               {.parent_call = 0, .join_call = 5},
               {.parent_call = 0}};
  s.calls = {MakeCall(0, -1, 0, 200), MakeCall(1, -1, 0, 100), MakeCall(2, -1, 0, 100),
             MakeCall(2, 2, 1, 150),  MakeCall(3, -1, 0, 90),  MakeCall(0, 0, 3, 300),
             MakeCall(0, 5, 4, 400)};
  return s;
}

struct Rig {
  explicit Rig(std::uint32_t lanes, ThinkTime think = ThinkTime::kNone,
               std::vector<Session> sessions = {Tree()})
      : Rig(lanes, PlanWith(think), std::move(sessions)) {}
  // `how`: the settings of the replay; what a rig needs of a plan is filled in.
  Rig(std::uint32_t lanes, const RunPlan& how, std::vector<Session> sessions) : plan(how) {
    auto c = std::make_shared<Corpus>();
    c->models = {"m"};
    c->sessions = std::move(sessions);
    plan.seed = 3;
    plan.nonce = 9;
    plan.tiers = {{.name = "light", .tier = Tier::kLight, .share = 1}};
    index = std::make_unique<CorpusIndex>(c, plan);
    if (plan.evals) {
      auto set = ReadEvalSet("rig", plan.evals->set_text);
      EXPECT_TRUE(set.ok()) << set.status();
      asker = std::make_unique<EvalAsker>(loop, transport, sink, plan, *std::move(set));
    }
    replayer = std::make_unique<Replayer>(loop, transport, sink, load, plan, *index, asker.get());
    const std::vector<std::uint32_t> slots = {0};
    specs = AssignLanes(plan.tiers, lanes, slots);
  }

  static RunPlan PlanWith(ThinkTime think) {
    RunPlan plan;
    plan.think_time = think;
    return plan;
  }
  StepPlan Plan(std::uint32_t step) const {
    return {.step = step,
            .sessions = static_cast<std::uint32_t>(specs.size()),
            .warm_up = 10s,
            .measure = 60s,
            .block = 20s,
            .drain_limit = 30s,
            .prime_limit = 20s};
  }
  void StartStep(std::uint32_t step = 0, Duration ahead = 2s) { StartPlan(Plan(step), ahead); }
  void StartPlan(const StepPlan& step_plan, Duration ahead = 2s, bool fresh = false) {
    bool ready = false;
    EXPECT_TRUE(replayer
                    ->PrepareStep(
                        step_plan, specs,
                        [&](const Primer::Result& r) {
                          primed = r;
                          ready = true;
                        },
                        fresh)
                    .ok());
    while (!ready && scheduler.RunOne()) {
    }
    EXPECT_TRUE(ready);
    start = scheduler.Now() + ahead;
    primers_wanted = transport.sent.size();
    EXPECT_TRUE(
        replayer->CommitStep(step_plan.step, start, [&](const StepTally& t) { tally = t; }).ok());
  }
  void RunToClose() {
    tally.reset();
    const MonoTime limit = scheduler.Now() + 1h;
    while (!tally.has_value() && scheduler.RunOne(limit)) {
    }
    ASSERT_TRUE(tally.has_value());
  }

  SimScheduler scheduler;
  StallingScheduler loop{scheduler};  // The lanes': the transport's goes on while it stalls.
  FixedTransport transport{scheduler};
  Sink sink;
  Load load{&scheduler};
  RunPlan plan;
  std::unique_ptr<CorpusIndex> index;
  std::unique_ptr<EvalAsker> asker;  // Where the plan has evals.
  std::unique_ptr<Replayer> replayer;
  std::vector<LaneSpec> specs;
  Primer::Result primed;
  std::size_t primers_wanted = 0;
  MonoTime start{};
  std::optional<StepTally> tally;
};

inline void ExpectConserved(const StepTally& tally, std::int64_t measure_ns) {
  const std::uint64_t ended =
      std::accumulate(tally.outcomes.begin(), tally.outcomes.end(), std::uint64_t{0});
  EXPECT_EQ(tally.attempts_released, ended);
  for (const LaneTally& lane : tally.lanes) {
    EXPECT_EQ(std::accumulate(lane.state_ns.begin(), lane.state_ns.end(), std::int64_t{0}),
              measure_ns)
        << "lane " << lane.lane;
    const PlaySums& plays = lane.plays;
    EXPECT_EQ(plays.calls_total, plays.calls_before + plays.calls_skipped + plays.calls_released +
                                     plays.calls_remaining);
  }
}

}  // namespace plimsoll
