// The service over real gRPC.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "common/rpc/grpc_fence.h"
#include "gmock/gmock.h"
#include "plimsoll/v1/api.grpc.pb.h"
#include "tests/coordinator/api/loop_rig.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

class GrpcResultsTest : public testing::LoopRig {
 protected:
  void SetUp() override {
    Listen({.http = "", .grpc = "127.0.0.1:0"});
    grpc::ChannelArguments arguments = rpc::ClientArguments();
    // Its probes would widen the window of a reader that does not read, by megabytes.
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    stub_ = v1::Results::NewStub(
        grpc::CreateCustomChannel(grpc_, grpc::InsecureChannelCredentials(), arguments));
  }
  // Longer than a loaded machine under a sanitizer takes.
  static std::unique_ptr<grpc::ClientContext> Context() {
    auto context = std::make_unique<grpc::ClientContext>();
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    return context;
  }

  // A reader and the context that must outlive it.
  std::pair<std::unique_ptr<grpc::ClientContext>, std::unique_ptr<grpc::ClientReader<v1::RunEvent>>>
  Watch(const std::string& id) {
    v1::WatchRunRequest request;
    request.set_id(id);
    auto context = Context();
    auto reader = stub_->WatchRun(context.get(), request);
    return {std::move(context), std::move(reader)};
  }

  std::unique_ptr<v1::Results::Stub> stub_;
};

TEST_F(GrpcResultsTest, ListsAndGets) {
  Do([&] {
    runs_.BeginRun("r1");
    runs_.AddStep("r1", 2);
  });
  v1::ListRunsResponse runs;
  ASSERT_TRUE(stub_->ListRuns(Context().get(), v1::ListRunsRequest(), &runs).ok());
  ASSERT_EQ(runs.runs_size(), 1);
  EXPECT_TRUE(runs.runs(0).live());
  v1::GetRunRequest request;
  request.set_id("r");
  v1::Run run;
  ASSERT_TRUE(stub_->GetRun(Context().get(), request, &run).ok());
  EXPECT_EQ(run.summary().id(), "r1");
  EXPECT_EQ(run.steps_size(), 1);
  v1::ListAgentsResponse agents;
  ASSERT_TRUE(stub_->ListAgents(Context().get(), v1::ListAgentsRequest(), &agents).ok());
  EXPECT_EQ(agents.agents_size(), 2);
}

TEST_F(GrpcResultsTest, RefusesInWords) {
  v1::GetRunRequest request;
  request.set_id("none");
  v1::Run run;
  const grpc::Status unknown = stub_->GetRun(Context().get(), request, &run);
  EXPECT_EQ(unknown.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(unknown.error_message(), HasSubstr("keeps no run yet"));
  v1::ListRunsRequest many;
  many.set_limit(5000);
  v1::ListRunsResponse runs;
  const grpc::Status refused = stub_->ListRuns(Context().get(), many, &runs);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const auto [context, reader] = Watch("none");
  v1::RunEvent event;
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  request.set_id(std::string(100'000, 'x'));
  EXPECT_EQ(stub_->GetRun(Context().get(), request, &run).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(GrpcResultsTest, WatchesToTheEnd) {
  Do([&] { runs_.BeginRun("r1"); });
  const auto [context, reader] = Watch("r1");
  v1::RunEvent event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.run().summary().id(), "r1");
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_TRUE(event.has_live());
  Do([&] {
    runs_.AddStep("r1", 1);
    runs_.EndRun("r1");
    api_->Look();
  });
  do {
    ASSERT_TRUE(reader->Read(&event));
  } while (event.has_live());
  EXPECT_EQ(event.step().step(), 1u);
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.run().summary().state(), v1::RUN_STATE_FINISHED);
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(GrpcResultsTest, AReaderThatDoesNotReadHoldsNobodyUpAndMissesNoStep) {
  Do([&] {
    runs_.BeginRun("r1");
    RunInfo run = testing::ARun("r1", 1'800'000'000);
    run.message.append(std::size_t{2} << 20, '#');  // Beyond HTTP/2's window.
    ASSERT_TRUE(runs_.repo.PutRun(run).ok());
  });
  const auto [context, deaf] = Watch("r1");
  v1::ListRunsResponse runs;
  for (std::size_t step = 0; step < 3; ++step) {
    Do([&] {
      runs_.AddStep("r1", step);
      for (int i = 0; i < 40; ++i) api_->Look();
    });
    ASSERT_TRUE(stub_->ListRuns(Context().get(), v1::ListRunsRequest(), &runs).ok());
  }
  Do([&] {
    runs_.EndRun("r1");
    api_->Look();
  });
  v1::RunEvent event;
  std::set<std::uint32_t> steps;
  std::size_t lives = 0;
  while (deaf->Read(&event)) {
    if (event.has_step()) steps.insert(event.step().step());
    for (const v1::Step& step : event.run().steps()) steps.insert(step.step());
    lives += event.has_live() ? 1 : 0;
  }
  EXPECT_TRUE(deaf->Finish().ok());
  EXPECT_EQ(steps.size(), 3u);
  EXPECT_LT(lives, 60u);
}

TEST_F(GrpcResultsTest, TheEndOfTheServerReachesItsReaders) {
  Do([&] { runs_.BeginRun("r1"); });
  const auto [context, reader] = Watch("r1");
  v1::RunEvent event;
  ASSERT_TRUE(reader->Read(&event));
  Finish();
  while (reader->Read(&event)) {
  }
  const grpc::Status ended = reader->Finish();
  EXPECT_EQ(ended.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ended.error_message(), "the coordinator has ended");
}

TEST_F(GrpcResultsTest, GoesAlthoughAReaderIsStillThere) {
  Do([&] { runs_.BeginRun("r1"); });
  const auto [context, reader] = Watch("r1");
  v1::RunEvent event;
  ASSERT_TRUE(reader->Read(&event));
  Do([&] { api_.reset(); });  // Returns: the stream is cut at the server's deadline.
  while (reader->Read(&event)) {
  }
  EXPECT_FALSE(reader->Finish().ok());
}

}  // namespace
}  // namespace plimsoll
