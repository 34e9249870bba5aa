// Links that work: messages, batches and acks between real ends over loopback.
#include <algorithm>
#include <optional>

#include "common/base/limits.h"
#include "tests/integration/rpc/deaf_port.h"
#include "tests/integration/rpc/rig.h"

namespace plimsoll::test {
namespace {

using RpcLink = Rig;

CoordinatorMessage APlan() {
  PrepareRun prepare;
  prepare.plan.run_id = "run-1";
  prepare.plan.corpus_digest = std::string(64, 'a');
  prepare.plan.tiers = {{.name = "light", .tier = Tier::kLight, .share = 1}};
  prepare.plan.target.url = "http://127.0.0.1:8080/v1";
  prepare.plan.target.model = "m";
  return prepare;
}

TEST_F(RpcLink, CarriesMessagesBothWaysInOrder) {
  const LinkId id = Attach();
  EXPECT_EQ(fleet.messages[0].second, AgentMessage(AHello()));
  EXPECT_EQ(agent.messages[0], CoordinatorMessage(Welcome{.agent_slot = 3}));
  const CorpusChunk chunk{.digest = std::string(64, 'b'),
                          .total_bytes = limits::kCorpusChunkBytes,
                          .bytes = std::string(limits::kCorpusChunkBytes, 'x')};
  Answer(id, APlan());
  Answer(id, chunk);
  for (std::uint64_t i = 0; i < 200; ++i) Answer(id, Ping{.sequence = i});
  ASSERT_TRUE(agent.WaitFor([&] { return agent.messages.size() == 203; }));
  EXPECT_EQ(agent.messages[1], APlan());
  EXPECT_EQ(agent.messages[2], CoordinatorMessage(chunk));
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(agent.messages[3 + i], CoordinatorMessage(Ping{.sequence = i}));
  }
  Send(RunReady{});
  for (std::uint64_t i = 0; i < 200; ++i) Send(Pong{.sequence = i, .agent_ns = -5});
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.messages.size() == 202; }));
  EXPECT_EQ(fleet.messages[1].second, AgentMessage(RunReady{}));
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(fleet.messages[2 + i].second, AgentMessage(Pong{.sequence = i, .agent_ns = -5}));
  }
}

TEST_F(RpcLink, CarriesTenThousandBatchesInOrderAndTheirAcks) {
  const LinkId id = Attach();
  fleet.on_batch = [&](LinkId from, const RecordBatch& batch) {
    EXPECT_EQ(from, id);
    server->Ack(from, batch.sequence);
  };
  constexpr std::uint64_t kBatches = 10'000;
  for (std::uint64_t first = 1; first <= kBatches; first += 1000) {
    agent_loop.Do([&] {
      for (std::uint64_t i = first; i < first + 1000; ++i) link->SendBatch(ABatch(i, i % 7));
    });
    ASSERT_TRUE(agent.WaitFor([&] { return agent.acks.size() == first + 999; }));
  }
  ASSERT_EQ(fleet.batches.size(), kBatches);
  for (std::uint64_t i = 1; i <= kBatches; ++i) {
    ASSERT_EQ(fleet.batches[i - 1], ABatch(i, i % 7));
    ASSERT_EQ(agent.acks[i - 1], i);
  }
}

TEST_F(RpcLink, ReadsNoMoreThanTheWindowUntilAcked) {
  const LinkId id = Attach();
  agent_loop.Do([&] {
    for (std::uint64_t i = 1; i <= 3 * limits::kBatchWindow; ++i) link->SendBatch(ABatch(i));
  });
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.batches.size() == limits::kBatchWindow; }));
  // Control goes on while records wait, and shows that time has passed for both.
  for (int round = 0; round < 50; ++round) Send(Pong{});
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.messages.size() == 51; }));
  EXPECT_EQ(fleet.batches.size(), limits::kBatchWindow);
  fleet_loop.Do([&] { server->Ack(id, 10); });
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.batches.size() == limits::kBatchWindow + 10; }));
  fleet_loop.Do([&] { server->Ack(id, limits::kBatchWindow + 10); });
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.batches.size() == 2 * limits::kBatchWindow + 10; }));
  EXPECT_EQ(fleet.batches.size(), 2 * limits::kBatchWindow + 10);
}

TEST_F(RpcLink, KeepsWhatIsSentThroughAttemptsThatFailUntilTheServerIsUp) {
  std::optional<DeafPort> deaf(std::in_place);
  address = deaf->address();
  Dial();
  Send(AHello());
  SendBatches(1, 1);
  for (int attempt = 0; attempt < 3; ++attempt) ASSERT_TRUE(deaf->HangUpOnOne());
  deaf.reset();
  EXPECT_TRUE(agent.closed.empty());
  StartServer(address);
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.messages.size() == 1; }));
  Answer(fleet.messages[0].first, Welcome{});
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.batches.size() == 1; }));
  EXPECT_EQ(fleet.batches[0], ABatch(1));
}

TEST_F(RpcLink, AgentClosesInOrderAndNothingSentIsLost) {
  Attach();
  agent_loop.Do([&] {
    for (std::uint64_t i = 1; i <= 40; ++i) link->SendBatch(ABatch(i));
    link->Send(Stopped{.last_sequence = 40});
    link->Close();
  });
  ASSERT_TRUE(fleet.WaitFor([&] { return !fleet.closed.empty(); }));
  EXPECT_TRUE(fleet.closed[0].second.ok()) << fleet.closed[0].second;
  EXPECT_EQ(fleet.batches_at_close, 40u);
  EXPECT_EQ(fleet.messages.back().second, AgentMessage(Stopped{.last_sequence = 40}));
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_TRUE(agent.closed[0].ok()) << agent.closed[0];
}

TEST_F(RpcLink, AgentMayCloseBeforeTheCoordinatorsFirstWord) {
  StartServer();
  Dial();
  Send(AHello());
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.messages.size() == 1; }));
  SendBatches(1, 40);
  Close();
  SendBatches(41, 41);  // Too late.
  Answer(fleet.messages[0].first, Welcome{});
  ASSERT_TRUE(fleet.WaitFor([&] { return !fleet.closed.empty(); }));
  EXPECT_EQ(fleet.batches_at_close, 40u);
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_TRUE(agent.closed[0].ok()) << agent.closed[0];
}

TEST_F(RpcLink, CoordinatorClosesInOrderAndReadsWhatTheAgentHadSent) {
  const LinkId id = Attach();
  fleet.on_batch = [&](LinkId, const RecordBatch& batch) {
    if (batch.sequence == 1) server->Close(id);
  };
  SendBatches(1, 40);
  ASSERT_TRUE(fleet.WaitFor([&] { return !fleet.closed.empty(); }));
  EXPECT_EQ(fleet.batches_at_close, 40u);
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_TRUE(agent.closed[0].ok()) << agent.closed[0];
}

TEST_F(RpcLink, CoordinatorClosesInOrderAfterItsLastWords) {
  const LinkId id = Attach();
  fleet_loop.Do([&] {
    server->Send(id, Refuse{.reason = "another build"});
    server->Close(id);
    server->Send(id, Ping{});  // Too late.
  });
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_TRUE(agent.closed[0].ok()) << agent.closed[0];
  EXPECT_EQ(agent.messages.back(), CoordinatorMessage(Refuse{.reason = "another build"}));
  ASSERT_TRUE(fleet.WaitFor([&] { return !fleet.closed.empty(); }));
  EXPECT_TRUE(fleet.closed[0].second.ok()) << fleet.closed[0].second;
}

}  // namespace
}  // namespace plimsoll::test
