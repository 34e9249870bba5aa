// Ends that vanish, speak out of turn or are not there.
#include <chrono>
#include <future>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "common/base/limits.h"
#include "plimsoll/v1/control.grpc.pb.h"
#include "tests/integration/rpc/rig.h"

namespace plimsoll::test {
namespace {

using RpcFailure = Rig;

bool Says(const Status& status, std::string_view words) {
  return MessageOf(status).find(words) != std::string_view::npos;
}

TEST_F(RpcFailure, AgentGoneClosesItsLinkAfterTheBatchesThatHadArrived) {
  const LinkId id = Attach();
  agent_loop.Do([&] {
    for (std::uint64_t i = 1; i <= 20; ++i) link->SendBatch(ABatch(i));
  });
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.batches.size() == 20; }));
  const auto start = std::chrono::steady_clock::now();
  HangUp();
  ASSERT_TRUE(fleet.WaitFor([&] { return !fleet.closed.empty(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(fleet.closed[0].first, id);
  EXPECT_EQ(fleet.closed[0].second.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(fleet.batches_at_close, 20u);
  Answer(id, Ping{});  // To a link that is gone: nothing.
  fleet_loop.Do([&] { server->Ack(id, 1); });
  EXPECT_EQ(fleet.closed.size(), 1u);
}

TEST_F(RpcFailure, ServerGoneClosesTheAgentsLinkOnce) {
  Attach();
  agent_loop.Do([&] { link->SendBatch(ABatch(1)); });
  StopServer();
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_EQ(agent.closed[0].code(), absl::StatusCode::kUnavailable) << agent.closed[0];
  EXPECT_TRUE(Says(agent.closed[0], address)) << agent.closed[0];
  agent_loop.Do([&] {
    link->Send(Pong{});
    link->SendBatch(ABatch(2));
    link->Close();
  });
  HangUp();
  EXPECT_EQ(agent.closed.size(), 1u);
}

TEST_F(RpcFailure, NoServerClosesWithAddressAndReasonWhenPatienceEnds) {
  StartServer();
  StopServer();
  Dial(400ms);
  Send(AHello());
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_EQ(agent.closed[0].code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Says(agent.closed[0], address)) << agent.closed[0];
  EXPECT_TRUE(Says(agent.closed[0], "0.4 s")) << agent.closed[0];
}

TEST_F(RpcFailure, ClosingSaysWhichBatchesTheCoordinatorDidNotTake) {
  StartServer();
  Dial(kPatience, 100ms);
  Send(AHello());
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.messages.size() == 1; }));
  Answer(fleet.messages[0].first, Welcome{});
  // No more than the window is read, of which ten are acked.
  SendBatches(1, 3 * limits::kBatchWindow);
  ASSERT_TRUE(fleet.WaitFor([&] { return fleet.batches.size() == limits::kBatchWindow; }));
  fleet_loop.Do([&] { server->Ack(fleet.messages[0].first, 10); });
  ASSERT_TRUE(agent.WaitFor([&] { return agent.acks.size() == 1; }));
  Close();
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_EQ(agent.closed[0].code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(Says(agent.closed[0], address)) << agent.closed[0];
  EXPECT_TRUE(Says(agent.closed[0], "within 0.1 s")) << agent.closed[0];
  EXPECT_TRUE(Says(agent.closed[0], "batches 11 to 192 may be lost")) << agent.closed[0];
}

TEST_F(RpcFailure, ClosingBeforeThereIsAServerSaysWhatWasNotSent) {
  address = "127.0.0.1:1";
  Dial();
  Send(AHello());
  SendBatches(1, 3);
  Close();
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_EQ(agent.closed[0].code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Says(agent.closed[0], "one message was not sent")) << agent.closed[0];
  EXPECT_TRUE(Says(agent.closed[0], "batches 1 to 3 may be lost")) << agent.closed[0];
}

TEST_F(RpcFailure, AnAddressThatIsNoneClosesTheLink) {
  address = "nowhere";
  Dial();
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_TRUE(Says(agent.closed[0], "nowhere")) << agent.closed[0];
}

TEST_F(RpcFailure, FirstMessageOtherThanHelloIsRefusedInWordsAndNeverReported) {
  StartServer();
  Dial();
  Send(Pong{});
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_TRUE(Says(agent.closed[0], "must be Hello")) << agent.closed[0];
  EXPECT_TRUE(fleet.messages.empty());
  EXPECT_TRUE(fleet.closed.empty());
}

TEST_F(RpcFailure, SecondHelloAndSecondIncarnationAreRefused) {
  const LinkId id = Attach();
  AgentRecorder other;
  std::unique_ptr<GrpcCoordinatorLink> twin;
  agent_loop.Do([&] {
    twin = std::make_unique<GrpcCoordinatorLink>(
        GrpcCoordinatorLinkOptions{.coordinator = address, .incarnation = kIncarnation},
        agent_loop.loop(), other);
    twin->Send(AHello());
  });
  ASSERT_TRUE(other.WaitFor([&] { return !other.closed.empty(); }));
  EXPECT_TRUE(Says(other.closed[0], "attached already")) << other.closed[0];
  agent_loop.Do([&] { twin.reset(); });
  EXPECT_EQ(fleet.messages.size(), 1u);

  Send(AHello());
  ASSERT_TRUE(fleet.WaitFor([&] { return !fleet.closed.empty(); }));
  EXPECT_EQ(fleet.closed[0].first, id);
  EXPECT_EQ(fleet.closed[0].second.code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_TRUE(Says(agent.closed[0], "second")) << agent.closed[0];
}

TEST_F(RpcFailure, AMessageOutOfRangeEndsTheLinkInWords) {
  Attach();
  Send(StepReady{.step = 9999});
  ASSERT_TRUE(fleet.WaitFor([&] { return !fleet.closed.empty(); }));
  EXPECT_TRUE(Says(fleet.closed[0].second, "StepReady.step")) << fleet.closed[0].second;
  ASSERT_TRUE(agent.WaitFor([&] { return !agent.closed.empty(); }));
  EXPECT_TRUE(Says(agent.closed[0], "StepReady.step")) << agent.closed[0];
}

TEST_F(RpcFailure, ABatchOfAnotherIncarnationEndsTheLink) {
  Attach();
  RecordBatch batch = ABatch(1);
  batch.incarnation = 99;
  agent_loop.Do([&] { link->SendBatch(batch); });
  ASSERT_TRUE(fleet.WaitFor([&] { return !fleet.closed.empty(); }));
  EXPECT_EQ(fleet.closed[0].second.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(fleet.batches.empty());
}

TEST_F(RpcFailure, AnUploadOfAnUnknownIncarnationOrWithoutSetupIsRefusedInWords) {
  StartServer();
  auto stub =
      v1::Records::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  const auto refusal = [&](const v1::UploadMessage& first) {
    grpc::ClientContext context;
    auto stream = stub->Upload(&context);
    stream->Write(first);
    return stream->Finish();
  };
  v1::UploadMessage unknown;
  unknown.mutable_setup()->set_incarnation(5);
  EXPECT_EQ(refusal(unknown).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_NE(refusal(unknown).error_message().find("incarnation"), std::string::npos);
  v1::UploadMessage batch;
  batch.mutable_batch();
  EXPECT_EQ(refusal(batch).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(RpcFailure, OnlyLoopbackIsListenedOnWithoutLeave) {
  fleet_loop.Do([&] {
    const auto refused = GrpcFleetServer::Listen({.listen = "0.0.0.0:0"}, fleet_loop.loop(), fleet);
    ASSERT_FALSE(refused.ok());
    EXPECT_TRUE(Says(refused.status(), "loopback")) << refused.status();
    const auto allowed = GrpcFleetServer::Listen({.listen = "0.0.0.0:0", .allow_plaintext = true},
                                                 fleet_loop.loop(), fleet);
    EXPECT_TRUE(allowed.ok()) << allowed.status();
  });
}

TEST_F(RpcFailure, AnAddressInUseIsRefused) {
  StartServer();
  fleet_loop.Do([&] {
    const auto second = GrpcFleetServer::Listen({.listen = address}, fleet_loop.loop(), fleet);
    ASSERT_FALSE(second.ok());
    EXPECT_TRUE(Says(second.status(), address)) << second.status();
  });
}

}  // namespace
}  // namespace plimsoll::test
