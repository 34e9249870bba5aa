// The fleet in virtual time, on links that a test holds in its hand: slots, refusals, clocks,
// losses and replacements.
#include "coordinator/fleet/fleet.h"

#include <functional>
#include <map>
#include <set>

#include "common/base/limits.h"
#include "gtest/gtest.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

class Links final : public AgentLinks {
 public:
  void Send(LinkId link, CoordinatorMessage message) override {
    if (const auto* ping = std::get_if<Ping>(&message)) {
      pings[link].push_back(ping->sequence);
      if (on_ping) on_ping(link, ping->sequence);
    } else {
      sent[link].push_back(std::move(message));
    }
  }
  void Ack(LinkId link, std::uint64_t sequence) override { acks[link] = sequence; }
  void Close(LinkId link) override { closed.push_back(link); }

  std::function<void(LinkId, std::uint64_t)> on_ping;
  std::map<LinkId, std::vector<std::uint64_t>> pings;
  std::map<LinkId, std::vector<CoordinatorMessage>> sent;
  std::map<LinkId, std::uint64_t> acks;
  std::vector<LinkId> closed;
};

class Events final : public FleetEvents {
 public:
  void OnFleetComplete() override { ++complete; }
  void OnAgentLost(std::uint32_t slot, const std::string& reason) override {
    lost.emplace_back(slot, reason);
    if (on_lost) on_lost();
  }
  void OnAgentReplaced(std::uint32_t slot) override { replaced.push_back(slot); }
  void OnAgentMessage(std::uint32_t slot, AgentMessage message) override {
    messages.emplace_back(slot, std::move(message));
  }
  void OnAgentBatch(std::uint32_t slot, RecordBatch) override { batches.push_back(slot); }
  void OnAgentRefused(const std::string& name, const std::string& reason) override {
    refused.emplace_back(name, reason);
  }
  std::function<void()> on_lost;
  int complete = 0;
  std::vector<std::pair<std::uint32_t, std::string>> lost;
  std::vector<std::uint32_t> replaced;
  std::vector<std::pair<std::uint32_t, AgentMessage>> messages;
  std::vector<std::uint32_t> batches;
  std::vector<std::pair<std::string, std::string>> refused;
};

Hello Agent(const std::string& name, std::uint32_t cores = 4, std::uint64_t memory = 8) {
  return {.build = "1.0", .name = name, .incarnation = 5, .cores = cores, .memory_bytes = memory};
}

struct FleetRig {
  explicit FleetRig(std::uint32_t size = 2, LivenessTimes liveness = {})
      : fleet(scheduler, links, events, size, "1.0", liveness) {
    links.on_ping = [this](LinkId link, std::uint64_t sequence) {
      if (silent.contains(link)) return;
      answers.push_back(scheduler.After(delay, [this, link, sequence] {
        const MonoTime read = scheduler.Now() + skew[link];
        answers.push_back(scheduler.After(delay, [this, link, sequence, read] {
          fleet.OnMessage(link, Pong{.sequence = sequence,
                                     .agent_ns = read.time_since_epoch().count(),
                                     .calls_in_flight = 3,
                                     .lanes = 5});
        }));
      }));
    };
  }
  // Links 1 and 2 as agents "a" and "b".
  void Complete() {
    fleet.OnMessage(1, Agent("a"));
    fleet.OnMessage(2, Agent("b"));
    ASSERT_EQ(events.complete, 1);
  }

  SimScheduler scheduler{MonoTime(100s)};
  Links links;
  Events events;
  std::map<LinkId, Duration> skew;
  std::set<LinkId> silent;
  Duration delay = 1ms;
  std::vector<Timer> answers;
  Fleet fleet;
};

TEST(Fleet, SlotsGoByCoresThenMemoryThenName) {
  FleetRig rig(4);
  rig.fleet.OnMessage(1, Agent("b", 4, 8));
  rig.fleet.OnMessage(2, Agent("small", 2, 99));
  rig.fleet.OnMessage(3, Agent("a", 4, 8));
  EXPECT_EQ(rig.fleet.present(), 3u);
  EXPECT_EQ(rig.events.complete, 0);
  EXPECT_TRUE(rig.links.sent.empty()) << "no slot before all are here";
  rig.fleet.OnMessage(4, Agent("z", 4, 16));
  EXPECT_EQ(rig.events.complete, 1);
  const std::pair<LinkId, std::uint32_t> expected[] = {{4, 0}, {3, 1}, {1, 2}, {2, 3}};
  for (const auto& [link, slot] : expected) {
    ASSERT_EQ(rig.links.sent[link].size(), 1u);
    EXPECT_EQ(std::get<Welcome>(rig.links.sent[link][0]).agent_slot, slot);
    EXPECT_TRUE(rig.fleet.alive(slot));
  }
  EXPECT_EQ(rig.fleet.hello(0).name, "z");
  EXPECT_FALSE(rig.fleet.alive(4));
}

TEST(Fleet, RefusesInWords) {
  struct {
    std::string what;
    std::function<void(Hello*)> change;
    std::string words;
  } const cases[] = {
      {"protocol", [](Hello* h) { h->protocol_version = 9; }, "speaks protocol 9"},
      {"build", [](Hello* h) { h->build = "0.9"; }, "is build 0.9, this coordinator 1.0"},
      {"name", [](Hello* h) { h->name = "a"; }, "named a is already here"},
      {"full", [](Hello*) {}, "complete with 2 agents"},
  };
  for (const auto& c : cases) {
    FleetRig rig;
    rig.Complete();
    Hello hello = Agent("late");
    c.change(&hello);
    rig.fleet.OnMessage(3, hello);
    ASSERT_EQ(rig.events.refused.size(), 1u) << c.what;
    EXPECT_NE(rig.events.refused[0].second.find(c.words), std::string::npos)
        << rig.events.refused[0].second;
    EXPECT_EQ(std::get<Refuse>(rig.links.sent[3].at(0)).reason, rig.events.refused[0].second);
    EXPECT_EQ(rig.links.closed, std::vector<LinkId>{3});
    rig.fleet.OnClosed(3, absl::UnavailableError("closed"));
    EXPECT_TRUE(rig.events.lost.empty()) << "who was never in is not lost";
    EXPECT_EQ(rig.fleet.present(), 2u);
  }
}

TEST(Fleet, PassesMessagesAndBatchesOnButNotPongsOrStrangers) {
  FleetRig rig;
  rig.fleet.OnMessage(2, Agent("b"));
  rig.fleet.OnBatch(2, {});
  rig.fleet.OnMessage(2, RunReady{});
  EXPECT_TRUE(rig.events.batches.empty());
  EXPECT_TRUE(rig.events.messages.empty()) << "no slot yet";
  rig.fleet.OnMessage(1, Agent("a"));
  rig.fleet.OnMessage(2, StepReady{.step = 4});
  rig.fleet.OnMessage(77, StepReady{.step = 4});
  rig.fleet.OnBatch(2, {});
  rig.fleet.OnBatch(77, {});
  ASSERT_EQ(rig.events.messages.size(), 1u);
  EXPECT_EQ(rig.events.messages[0].first, 1u);
  EXPECT_EQ(rig.events.batches, std::vector<std::uint32_t>{1});
  rig.scheduler.Advance(3s);
  EXPECT_EQ(rig.events.messages.size(), 1u);
  EXPECT_EQ(rig.fleet.calls_in_flight(), 6u) << "as pongs say";
  rig.fleet.Ack(1, 9);
  rig.fleet.Send(0, Stop{});
  rig.fleet.SendAll(Stop{});
  EXPECT_EQ(rig.links.acks, (std::map<LinkId, std::uint64_t>{{2, 9}}));
  EXPECT_EQ(rig.links.sent[1].size(), 3u);
  EXPECT_EQ(rig.links.sent[2].size(), 2u);
}

TEST(Fleet, LearnsASkewedClockWithinASecond) {
  FleetRig rig;
  rig.skew = {{1, 250s}, {2, -90s}};
  rig.Complete();
  EXPECT_FALSE(rig.fleet.clocks_known());
  rig.scheduler.Advance(1s);
  EXPECT_TRUE(rig.fleet.clocks_known());
  EXPECT_EQ(rig.fleet.clock(0).offset, Duration(250s));
  EXPECT_EQ(rig.fleet.clock(1).offset, Duration(-90s));
  EXPECT_EQ(rig.fleet.clock(1).uncertainty, Duration(1ms));
}

TEST(Fleet, AForgedOrLatePongChangesNoClock) {
  FleetRig rig;
  rig.silent = {1};
  rig.Complete();
  rig.scheduler.Advance(2s);
  rig.fleet.OnMessage(1, Pong{.sequence = 4'000'000, .agent_ns = 1});
  EXPECT_FALSE(rig.fleet.clocks_known());
  EXPECT_EQ(rig.fleet.clock(0).offset, Duration(0s));
  const std::vector<std::uint64_t> pings = rig.links.pings[1];
  rig.fleet.OnMessage(1, Pong{.sequence = pings[2], .agent_ns = 1});
  const Duration once = rig.fleet.clock(0).offset;
  EXPECT_NE(once, Duration(0s));
  rig.fleet.OnMessage(1, Pong{.sequence = pings[0], .agent_ns = 1});
  EXPECT_EQ(rig.fleet.clock(0).offset, once) << "pongs come in order: an older one is no answer";
}

TEST(Fleet, ASilentAgentIsLostAfterFifteenSeconds) {
  FleetRig rig;
  rig.Complete();
  rig.scheduler.Advance(10s);
  rig.silent = {2};
  rig.scheduler.Advance(15s - 100ms);
  EXPECT_TRUE(rig.events.lost.empty());
  rig.scheduler.Advance(2s);
  ASSERT_EQ(rig.events.lost.size(), 1u);
  EXPECT_EQ(rig.events.lost[0].first, 1u);
  EXPECT_NE(rig.events.lost[0].second.find("silent for 1"), std::string::npos);
  EXPECT_EQ(rig.links.closed, std::vector<LinkId>{2});
  EXPECT_FALSE(rig.fleet.alive(1));
  rig.fleet.OnClosed(2, absl::UnavailableError("closed"));
  rig.fleet.OnMessage(2, RunReady{});
  EXPECT_EQ(rig.events.lost.size(), 1u) << "lost once";
  EXPECT_TRUE(rig.events.messages.empty());
  EXPECT_TRUE(rig.fleet.alive(0));
}

TEST(Fleet, InARehearsalSilenceIsShorterAndPingsAreMore) {
  FleetRig rig(2, LivenessAt(20));
  rig.Complete();
  rig.scheduler.Advance(10s);
  const std::size_t before = rig.links.pings[1].size();
  rig.scheduler.Advance(2s);
  EXPECT_EQ(rig.links.pings[1].size(), before + 10) << "five a second";
  rig.silent = {2};
  rig.scheduler.Advance(3s - 100ms);
  EXPECT_TRUE(rig.events.lost.empty());
  rig.scheduler.Advance(500ms);
  ASSERT_EQ(rig.events.lost.size(), 1u);
  EXPECT_NE(rig.events.lost[0].second.find("silent for 3"), std::string::npos);
  EXPECT_TRUE(rig.fleet.alive(0));
}

TEST(Fleet, AnyMessageOrBatchIsALifeSign) {
  FleetRig rig;
  rig.Complete();
  rig.silent = {1, 2};
  for (int i = 0; i < 6; ++i) {
    rig.scheduler.Advance(10s);
    rig.fleet.OnMessage(1, RunReady{});
    rig.fleet.OnBatch(2, {});
  }
  EXPECT_TRUE(rig.events.lost.empty());
}

// A coordinator whose loop stood still: its clock jumps while no timer runs.
class StallingScheduler final : public Scheduler {
 public:
  explicit StallingScheduler(SimScheduler& base) : base_(base) {}
  MonoTime Now() const override { return base_.Now() + stalled_; }
  void Stall(Duration d) { stalled_ += d; }
  Timer At(MonoTime due, Task task) override { return base_.At(due - stalled_, std::move(task)); }
  void Post(Task task) override { base_.Post(std::move(task)); }

 private:
  void CancelTimer(std::uint64_t) override {}
  SimScheduler& base_;
  Duration stalled_{};
};

TEST(Fleet, WhenTheCoordinatorItselfStalledNobodyWasLate) {
  SimScheduler sim(MonoTime(100s));
  StallingScheduler scheduler(sim);
  Links links;
  Events events;
  Fleet fleet(scheduler, links, events, 1, "1.0");
  fleet.OnMessage(1, Agent("a"));
  sim.Advance(500ms);
  scheduler.Stall(40s);
  sim.Advance(2s);  // Its first tick after the stall finds 40 s of silence, its own.
  EXPECT_TRUE(events.lost.empty());
  sim.Advance(10s);
  EXPECT_TRUE(events.lost.empty());
  sim.Advance(5s);
  EXPECT_EQ(events.lost.size(), 1u) << "silence of its own after the stall counts";
}

TEST(Fleet, ASuccessorTakesTheLostSlot) {
  FleetRig rig(3);
  for (const LinkId link : {1u, 2u, 3u}) {
    rig.fleet.OnMessage(link, Agent(std::string(1, static_cast<char>('a' + link - 1))));
  }
  rig.fleet.OnClosed(2, absl::UnavailableError("connection reset"));
  ASSERT_EQ(rig.events.lost.size(), 1u);
  EXPECT_EQ(rig.events.lost[0], std::make_pair(1u, std::string("connection reset")));
  EXPECT_EQ(rig.fleet.present(), 2u);
  rig.fleet.OnMessage(9, Agent("c"));
  EXPECT_EQ(rig.events.refused.size(), 1u) << "c is alive";
  rig.fleet.OnMessage(10, Agent("b", 64));
  EXPECT_EQ(rig.events.replaced, std::vector<std::uint32_t>{1});
  EXPECT_EQ(std::get<Welcome>(rig.links.sent[10].at(0)).agent_slot, 1u);
  EXPECT_EQ(rig.fleet.hello(1).cores, 64u);
  EXPECT_EQ(rig.events.complete, 1) << "once";
  EXPECT_FALSE(rig.fleet.clocks_known()) << "the successor's clock is not known yet";
  rig.fleet.OnClosed(2, absl::UnavailableError("late"));
  EXPECT_EQ(rig.events.lost.size(), 1u);
}

TEST(Fleet, WhoLeavesBeforeTheFleetIsCompleteIsForgotten) {
  FleetRig rig;
  rig.fleet.OnMessage(1, Agent("a"));
  rig.fleet.OnClosed(1, absl::UnavailableError("gone"));
  EXPECT_EQ(rig.fleet.present(), 0u);
  rig.fleet.OnMessage(2, Agent("a"));
  EXPECT_EQ(rig.events.complete, 0);
  rig.fleet.OnMessage(3, Agent("b"));
  EXPECT_EQ(rig.events.complete, 1);
  EXPECT_TRUE(rig.events.lost.empty());
}

TEST(Fleet, OnceDisbandedItIsSilent) {
  FleetRig rig;
  rig.Complete();
  rig.fleet.Disband();
  EXPECT_EQ(rig.links.closed.size(), 2u);
  rig.fleet.OnClosed(1, absl::UnavailableError("closed"));
  rig.fleet.OnMessage(2, RunReady{});
  rig.fleet.OnMessage(5, Agent("c"));
  rig.scheduler.Advance(1min);
  EXPECT_TRUE(rig.events.lost.empty());
  EXPECT_TRUE(rig.events.messages.empty());
  EXPECT_EQ(rig.scheduler.pending(), 0u);
}

TEST(Fleet, DisbandedByWhoHearsOfALossItReportsNoOther) {
  FleetRig rig;
  rig.Complete();
  rig.silent = {1, 2};
  rig.events.on_lost = [&] { rig.fleet.Disband(); };
  rig.scheduler.Advance(1min);
  EXPECT_EQ(rig.events.lost.size(), 1u);
  EXPECT_EQ(rig.scheduler.pending(), 0u) << "it went on ticking";
}

}  // namespace
}  // namespace plimsoll
