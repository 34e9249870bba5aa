// Same seed, plan and nonce give the same schedule and the same bytes, whatever the number of
// agents; N lanes are the first N of N + 1.
#include <array>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "agent/replay/replayer.h"
#include "common/chat/chat_body.h"
#include "gtest/gtest.h"
#include "tests/fakes/fixed_transport.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

class Load final : public SelfLoad {
 public:
  void Reset() override {}
  Duration loop_lag_max() const override { return Duration{0}; }
  Duration loop_stalled() const override { return Duration{0}; }
  double cpu_share_max() const override { return 0; }
};

// What one lane sent: when after the start, and the body to the byte.
struct Sent {
  std::int64_t offset_ns;
  std::uint64_t body_hash;
  friend bool operator==(const Sent&, const Sent&) = default;
};
using Schedule = std::map<std::uint64_t, std::vector<Sent>>;  // By play id.

std::uint64_t HashBody(const FixedTransport::Sent& sent) {
  std::vector<LiveMessage> live;
  for (const auto& [message, json] : sent.live) live.push_back({message, json});
  ChatBody body(sent.prompt, {.model = "m", .max_tokens = sent.max_tokens, .live = live});
  std::string bytes(body.size(), '\0');
  std::size_t at = 0;
  // An odd capacity, so that words and messages are cut anywhere.
  while (const std::size_t n = body.Read(bytes.data() + at, 997)) at += n;
  EXPECT_EQ(at, bytes.size());
  return HashBytes(bytes);
}

class NoSink final : public RecordSink {
 public:
  void Add(const CallRecord&) override {}
  void AddEval(const EvalRecord&) override {}
};

// The first seconds of `lanes` lanes over `agents` agents, each on a target with fixed service
// times.
Schedule PlayOn(std::uint32_t agents, std::uint32_t lanes, std::uint64_t seed,
                RunPlan plan = SmallRun().plan, FidelityCounts* counts = nullptr) {
  plan.seed = seed;
  const CorpusIndex index(ScaledCorpus(), plan);
  std::vector<std::uint32_t> slots(agents);
  std::iota(slots.begin(), slots.end(), 0u);
  const std::vector<LaneSpec> all = AssignLanes(plan.tiers, lanes, slots);
  Schedule schedule;
  for (std::uint32_t slot = 0; slot < agents; ++slot) {
    SimScheduler scheduler;
    FixedTransport transport(scheduler);
    transport.content = [](const FixedTransport::Sent& sent) {
      return fmt::format("answer {:016x} with a \"quote\"\n", sent.call_key);
    };
    // One call in seven fails, by its key: the same one whatever the number of agents.
    transport.answer = [&](std::size_t n) {
      const bool fails = plan.failure != FailurePolicy{} && transport.sent[n].call_key % 7 == 0;
      return FixedTransport::Answer{.outcome = fails ? Outcome::kHttpError : Outcome::kOk};
    };
    NoSink sink;
    Load load;
    Replayer replayer(scheduler, transport, sink, load, plan, index);
    std::vector<LaneSpec> mine;
    for (const LaneSpec& lane : all) {
      if (lane.agent_slot == slot) mine.push_back(lane);
    }
    const StepPlan step{.sessions = lanes,
                        .warm_up = 1s,
                        .measure = 20s,
                        .block = 10s,
                        .drain_limit = 1s,
                        .prime_limit = 1s};
    EXPECT_TRUE(replayer.PrepareStep(step, mine, [](const Primer::Result&) {}).ok());
    scheduler.Advance(2s);
    const std::size_t primers = transport.sent.size();
    const MonoTime start = scheduler.Now() + 1s;
    const auto closed = [counts](const StepTally& tally) {
      for (const LaneTally& lane : tally.lanes) {
        if (counts != nullptr) counts->Add(lane.fidelity);
      }
    };
    EXPECT_TRUE(replayer.CommitStep(0, start, closed).ok());
    scheduler.RunUntil(start + 60s);
    for (std::size_t i = primers; i < transport.sent.size(); ++i) {
      const FixedTransport::Sent& sent = transport.sent[i];
      schedule[sent.play_id].push_back({(sent.at - start).count(), HashBody(sent)});
    }
  }
  return schedule;
}

TEST(Schedule, IsTheSameToTheByteWith1And2And5Agents) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Schedule one = PlayOn(1, 11, seed);
    EXPECT_GT(one.size(), 10u);
    EXPECT_EQ(one, PlayOn(2, 11, seed)) << "seed " << seed;
    EXPECT_EQ(one, PlayOn(5, 11, seed)) << "seed " << seed;
  }
}

struct Mode {
  const char* name;
  void (*set)(RunPlan*);
  bool (*shows)(const FidelityCounts&);  // That the mode was at work.
};
class ScheduleMode : public ::testing::TestWithParam<Mode> {};

TEST_P(ScheduleMode, IsTheSameToTheByteWith1And2And5Agents) {
  RunPlan plan = SmallRun().plan;
  GetParam().set(&plan);
  std::array<FidelityCounts, 3> counts;
  const Schedule one = PlayOn(1, 11, 5, plan, &counts[0]);
  EXPECT_GT(one.size(), 10u);
  EXPECT_NE(one, PlayOn(1, 11, 5)) << "the mode changes something";
  EXPECT_EQ(one, PlayOn(2, 11, 5, plan, &counts[1]));
  EXPECT_EQ(one, PlayOn(5, 11, 5, plan, &counts[2]));
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(counts[0], counts[2]);
  EXPECT_TRUE(GetParam().shows(counts[0]));
}

bool Always(const FidelityCounts&) {
  return true;
}

INSTANTIATE_TEST_SUITE_P(
    Modes, ScheduleMode,
    ::testing::Values(Mode{"think_time",
                           [](RunPlan* p) {
                             p->think_time = ThinkTime::kRecorded;
                             p->think_time_cap = 1s;
                           },
                           [](const FidelityCounts& c) { return c.pause_removed_ns > 0; }},
                      Mode{"live_history", [](RunPlan* p) { p->history = History::kLive; },
                           [](const FidelityCounts& c) { return c.turns_live > 20; }},
                      Mode{"skip_calls",
                           [](RunPlan* p) {
                             p->context_limit = {6000, OverLimit::kSkipCalls};
                           },
                           Always},
                      Mode{"end_session",
                           [](RunPlan* p) {
                             p->context_limit = {6000, OverLimit::kEndSession};
                           },
                           Always},
                      Mode{"drop_sessions",
                           [](RunPlan* p) {
                             p->context_limit = {9000, OverLimit::kDropSessions};
                           },
                           Always},
                      Mode{"drop_long_starts",
                           [](RunPlan* p) {
                             p->context_limit = {4000, OverLimit::kDropLongStarts};
                           },
                           Always},
                      Mode{"failures_of_streams",
                           [](RunPlan* p) {
                             p->failure.silence = Silence::kStream;
                             p->failure.end_play = {};
                             p->failure.attempts_max = 2;
                           },
                           Always}),
    [](const auto& mode) { return mode.param.name; });

TEST(Schedule, AnotherSeedOrNonceIsAnother) {
  EXPECT_NE(PlayOn(1, 4, 1), PlayOn(1, 4, 2));
}

TEST(Schedule, NLanesAreTheFirstNOfNPlusOne) {
  const std::vector<std::vector<TierPlan>> mixes = {
      {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
       {.name = "light", .tier = Tier::kLight, .share = 1}},
      {{.name = "a", .tier = Tier::kHeavy, .share = 70},
       {.name = "b", .tier = Tier::kMid, .share = 20},
       {.name = "c", .tier = Tier::kLight, .share = 10}}};
  for (const auto& tiers : mixes) {
    for (std::uint32_t agents = 1; agents <= 6; ++agents) {
      std::vector<std::uint32_t> slots(agents);
      std::iota(slots.begin(), slots.end(), 0u);
      const std::vector<LaneSpec> most = AssignLanes(tiers, 100, slots);
      for (std::uint32_t n = 0; n < 100; ++n) {
        const std::vector<LaneSpec> some = AssignLanes(tiers, n, slots);
        ASSERT_TRUE(std::equal(some.begin(), some.end(), most.begin())) << n << " of " << agents;
      }
    }
  }
  const Schedule small = PlayOn(2, 6, 9);
  const Schedule large = PlayOn(2, 7, 9);
  for (const auto& [play, sent] : small) {
    ASSERT_TRUE(large.contains(play));
    EXPECT_EQ(sent, large.at(play));
  }
}

TEST(Schedule, TiersFollowTheirSharesAndAgentsTheirTurn) {
  const std::vector<TierPlan> tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 3},
                                       {.name = "light", .tier = Tier::kLight, .share = 1}};
  const std::vector<std::uint32_t> slots = {0, 1, 2};
  for (std::uint32_t n = 1; n <= 60; ++n) {
    std::map<std::uint8_t, int> per_tier;
    std::map<std::pair<std::uint8_t, std::uint32_t>, int> per_agent;
    for (const LaneSpec& lane : AssignLanes(tiers, n, slots)) {
      EXPECT_EQ(lane.rank, static_cast<std::uint32_t>(per_tier[lane.tier]));
      ++per_tier[lane.tier];
      ++per_agent[{lane.tier, lane.agent_slot}];
    }
    EXPECT_NEAR(per_tier[0], 0.75 * n, 1.0);
    for (const auto& [key, lanes] : per_agent) {
      EXPECT_NEAR(lanes, per_tier[key.first] / 3.0, 1.0);
    }
  }
}

TEST(Schedule, RotationUsesATiersSessionsEvenly) {
  const RunPlan plan = SmallRun().plan;
  const SessionRotation rotation(*ScaledCorpus(), plan.tiers, 4);
  // 8 lanes x 20 plays over 32 sessions: 5 each, give or take.
  std::map<std::uint32_t, int> uses;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    for (std::uint32_t play = 0; play < 20; ++play) ++uses[*rotation.SessionFor(0, rank, play)];
  }
  EXPECT_EQ(uses.size(), 32u);
  for (const auto& [session, n] : uses) EXPECT_NEAR(n, 5, 3) << session;
}

}  // namespace
}  // namespace plimsoll
