// Ends that are destroyed while everything is moving.
#include <chrono>

#include "common/base/rng.h"
#include "tests/integration/rpc/rig.h"

namespace plimsoll::test {
namespace {

using RpcShutdown = Rig;

TEST_F(RpcShutdown, UnderLoadIsCleanAndQuickFiftyTimes) {
  constexpr std::uint64_t kSeed = 11;
  RecordProperty("seed", static_cast<int>(kSeed));
  Rng rng(kSeed);
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    fleet.messages.clear();
    fleet.batches.clear();
    agent.messages.clear();
    agent.acks.clear();
    fleet.on_message = [&](LinkId id, const AgentMessage& message) {
      if (std::holds_alternative<Hello>(message)) server->Send(id, Welcome{});
      for (int i = 0; i < 20; ++i) server->Send(id, Ping{});
    };
    fleet.on_batch = [&](LinkId id, const RecordBatch& batch) { server->Ack(id, batch.sequence); };
    StartServer();
    Dial();
    Send(AHello());
    agent_loop.Do([&] {
      for (std::uint64_t i = 1; i <= 200; ++i) link->SendBatch(ABatch(i, 100));
      for (int i = 0; i < 50; ++i) link->Send(Pong{});
    });
    // From nothing delivered to much of it.
    const std::size_t enough = rng.Below(150);
    ASSERT_TRUE(fleet.WaitFor([&] { return fleet.batches.size() >= enough; }));
    if (rng.Chance(0.5)) {
      HangUp();
      StopServer();
    } else {
      StopServer();
      HangUp();
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(100));
}

TEST_F(RpcShutdown, ALinkMayBeDestroyedFromItsOwnEvent) {
  StartServer();
  agent.on_message = [&](const CoordinatorMessage&) { link.reset(); };
  Dial();
  Send(AHello());
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.messages.size() == 1; }));
  Answer(fleet.messages[0].first, Welcome{});
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.closed.size() == 1; }));
  EXPECT_EQ(agent.messages.size(), 1u);
  EXPECT_TRUE(agent.closed.empty());
}

TEST_F(RpcShutdown, AServerMayBeDestroyedFromItsOwnEvent) {
  StartServer();
  fleet.on_message = [&](LinkId, const AgentMessage&) { server.reset(); };
  Dial();
  Send(AHello());
  ASSERT_TRUE(agent.WaitFor([&] { return agent.closed.size() == 1; }));
  EXPECT_TRUE(fleet.closed.empty());
}

TEST_F(RpcShutdown, ALinkThatNeverConnectedEndsAtOnce) {
  address = "127.0.0.1:1";
  Dial(60s);
  const auto start = std::chrono::steady_clock::now();
  HangUp();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  Dial(60s);
  agent_loop.Do([&] { link->Close(); });
  ASSERT_TRUE(agent.WaitFor([&] { return agent.closed.size() == 1; }));
  EXPECT_TRUE(agent.closed[0].ok());
}

}  // namespace
}  // namespace plimsoll::test
