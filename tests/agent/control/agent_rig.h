// An agent between a recording link and a transport that does as it is told, in virtual time.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/control/agent.h"
#include "agent/control/memory_shelf.h"
#include "common/wire/corpus_codec.h"
#include "gtest/gtest.h"
#include "tests/fakes/fixed_transport.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {

class Link final : public CoordinatorLink {
 public:
  void Send(AgentMessage message) override { sent.push_back(std::move(message)); }
  void SendBatch(const RecordBatch& batch) override { batches.push_back(batch); }
  template <typename T>
  std::vector<T> Of() const {
    std::vector<T> picked;
    for (const AgentMessage& m : sent) {
      if (const auto* t = std::get_if<T>(&m)) picked.push_back(*t);
    }
    return picked;
  }
  std::string Faults() const {
    std::string words;
    for (const auto& fault : Of<AgentFault>()) words += fault.message + "\n";
    return words;
  }
  std::vector<AgentMessage> sent;
  std::vector<RecordBatch> batches;
};

class Load final : public SelfLoad {
 public:
  void Reset() override {}
  Duration loop_lag_max() const override { return 0s; }
  Duration loop_stalled() const override { return Duration{0}; }
  double cpu_share_max() const override { return 0; }
};

// Hands the agent a transport that the rig keeps.
class Lent final : public CallTransport {
 public:
  explicit Lent(CallTransport& to) : to_(to) {}
  std::unique_ptr<Call> Start(const CallRequest& request, CallObserver& observer) override {
    return to_.Start(request, observer);
  }

 private:
  CallTransport& to_;
};

inline std::string CorpusBytes() {
  Corpus corpus;
  corpus.models = {"m"};
  Session s;
  s.id = "chain";
  s.tier = Tier::kLight;
  s.streams = {{}};
  for (int c = 0; c < 8; ++c) {
    s.calls.push_back({.ref = c - 1,
                       .kept_blocks = c == 0 ? 0u : 3u,
                       .tokens_in = 200,
                       .tokens_out = 10,
                       .service_ms = 1000});
  }
  corpus.sessions = {s};
  return EncodeCorpus(corpus);
}

struct AgentRig {
  AgentRig() {
    plan.corpus_digest = Sha256Hex(bytes);
    plan.tiers = {{.name = "light", .tier = Tier::kLight, .share = 1}};
    agent = std::make_unique<Agent>(
        AgentDeps{
            .scheduler = scheduler,
            .self_load = load,
            .shelf = shelf,
            .make_transport = [this](const RunPlan&) -> StatusOr<std::unique_ptr<CallTransport>> {
              if (!may.ok()) return may;
              return std::make_unique<Lent>(transport);
            },
            .finished = [this](Status s) { finished.push_back(std::move(s)); }},
        Hello{.build = "1.0", .name = "a", .incarnation = 7});
    agent->Attach(link);
    agent->OnMessage(Welcome{.agent_slot = 2});
  }
  CorpusChunk Chunk(std::size_t offset, std::size_t count) const {
    return {plan.corpus_digest, bytes.size(), offset, bytes.substr(offset, count)};
  }
  void Prepare() {
    agent->OnMessage(PrepareRun{plan});
    agent->OnMessage(Chunk(0, 10));
    agent->OnMessage(Chunk(10, std::string::npos));
    ASSERT_EQ(link.Of<RunReady>().size(), 1u) << link.Faults();
  }
  void StartStep() {
    Prepare();
    agent->OnMessage(PrepareStep{.step = {.step = 4,
                                          .sessions = 2,
                                          .warm_up = 5s,
                                          .measure = 20s,
                                          .block = 10s,
                                          .drain_limit = 10s,
                                          .prime_limit = 10s},
                                 .lanes = {{.lane = 0, .rank = 0}, {.lane = 1, .rank = 1}}});
    Advance(5s);
    ASSERT_EQ(link.Of<StepReady>().size(), 1u);
    EXPECT_EQ(link.Of<StepReady>()[0].step, 4u);
    EXPECT_EQ(link.Of<StepReady>()[0].primers_wanted, 2u);
    start = scheduler.Now() + 2s;
    agent->OnMessage(CommitStep{4, start.time_since_epoch().count()});
  }
  // With a coordinator that is heard every second.
  void Advance(Duration d) {
    for (; d > 0s; d -= 1s) {
      scheduler.Advance(std::min<Duration>(d, 1s));
      agent->OnMessage(Ping{++pings});
    }
  }

  SimScheduler scheduler;
  Load load;
  MemoryShelf shelf;
  FixedTransport transport{scheduler};
  Link link;
  Status may;
  std::string bytes = CorpusBytes();
  RunPlan plan;
  std::vector<Status> finished;
  std::uint64_t pings = 0;
  MonoTime start{};
  std::unique_ptr<Agent> agent;
};

}  // namespace plimsoll
