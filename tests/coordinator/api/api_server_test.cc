// The pages over real sockets: shapes, errors, watching, a reader that does not read.
#include "coordinator/api/api_server.h"

#include <google/protobuf/util/json_util.h>

#include "gmock/gmock.h"
#include "plimsoll/v1/api.pb.h"
#include "tests/common/metrics/page_reader.h"
#include "tests/coordinator/api/loop_rig.h"
#include "tests/fakes/raw_client.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ApiServerTest : public testing::LoopRig {
 protected:
  void SetUp() override { Listen({.http = "127.0.0.1:0", .grpc = ""}); }

  RawClient::Answer Get(std::string_view target, std::string_view headers = "",
                        std::string_view method = "GET") {
    RawClient client(http_port());
    EXPECT_TRUE(client.Request(method, target, headers));
    return client.ReadAnswer();
  }
  template <typename Message>
  Message Read(const std::string& json) {
    Message message;
    const auto read = google::protobuf::util::JsonStringToMessage(json, &message);
    EXPECT_TRUE(read.ok()) << read.ToString() << "\n" << json;
    return message;
  }
};

TEST_F(ApiServerTest, ListsRuns) {
  Do([&] {
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(
          runs_.repo.PutRun(testing::ARun("r" + std::to_string(i), i, RunState::kFinished)).ok());
    }
  });
  const auto answer = Get("/api/v1/runs?limit=2");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("content-type"), "application/json");
  EXPECT_EQ(answer.headers.at("cache-control"), "no-store");
  const auto runs = Read<v1::ListRunsResponse>(answer.body);
  ASSERT_EQ(runs.runs_size(), 2);
  EXPECT_EQ(runs.runs(0).id(), "r4");
  EXPECT_EQ(runs.runs(1).id(), "r3");
  const auto text = Get("/api/v1/runs", "Accept: text/plain\r\n");
  EXPECT_EQ(text.headers.at("content-type"), "text/plain; charset=utf-8");
  EXPECT_THAT(text.body, HasSubstr("r4  1970-01-01 00:00:04 UTC  finished, exit 1\n"));
}

TEST_F(ApiServerTest, ShowsARunAsJsonAsTextAndAsAReport) {
  Do([&] {
    runs_.BeginRun("r1");
    runs_.AddStep("r1", 0);
  });
  const auto run = Read<v1::Run>(Get("/api/v1/runs/r1").body);
  EXPECT_EQ(run.steps_size(), 1);
  EXPECT_TRUE(run.summary().live());
  EXPECT_EQ(run.live().calls_in_flight(), 13u);
  EXPECT_THAT(Get("/api/v1/runs/r1", "Accept: text/plain\r\n").body, HasSubstr("recipe-7"));
  EXPECT_THAT(Get("/api/v1/runs/r1/report").body, HasSubstr("\"schema_version\": 1"));
  const auto agents = Read<v1::ListAgentsResponse>(Get("/api/v1/agents").body);
  EXPECT_EQ(agents.run_id(), "r1");
  EXPECT_EQ(agents.agents_size(), 2);
}

TEST_F(ApiServerTest, EveryErrorIsACodeAndASentence) {
  const struct {
    const char* method;
    const char* target;
    int status;
    const char* code;
  } cases[] = {{"GET", "/nope", 404, "NOT_FOUND"},
               {"GET", "/api/v1/runs/none", 404, "NOT_FOUND"},
               {"GET", "/api/v1/runs/none/watch", 404, "NOT_FOUND"},
               {"GET", "/api/v1/runs/no%20id", 400, "INVALID_ARGUMENT"},
               {"GET", "/api/v1/runs?limit=x", 400, "INVALID_ARGUMENT"},
               {"POST", "/api/v1/runs", 405, "UNIMPLEMENTED"},
               {"BREW", "/metrics", 405, "UNIMPLEMENTED"}};
  for (const auto& one : cases) {
    const auto answer = Get(one.target, "", one.method);
    EXPECT_EQ(answer.status, one.status) << one.target;
    const auto error = Read<v1::ErrorAnswer>(answer.body);
    EXPECT_EQ(error.code(), one.code) << one.target;
    EXPECT_GT(error.message().size(), 10u) << one.target;
    EXPECT_EQ(answer.headers.contains("allow"), one.status == 405);
  }
  EXPECT_EQ(Get("/api/v1/runs?" + std::string(3000, 'q')).status, 414);
  EXPECT_EQ(Get("/" + std::string(40'000, 'q')).status, 431);
  const auto text = Get("/nope", "Accept: text/plain\r\n");
  EXPECT_THAT(text.body, StartsWith("there is no page /nope"));
}

TEST_F(ApiServerTest, HeadHasNoBody) {
  EXPECT_EQ(Get("/healthz").body, "ok\n");
  RawClient client(http_port());
  ASSERT_TRUE(client.Request("HEAD", "/healthz"));
  ASSERT_TRUE(client.ReadUntil("\r\n\r\n"));
  EXPECT_THAT(client.received(), HasSubstr("Content-Length: 3"));
}

TEST_F(ApiServerTest, AStoreThatCannotBeReadIsUnhealthyAndSaysWhy) {
  Do([&] { runs_.broken = absl::UnavailableError("store x: reading: the disk is away"); });
  const auto answer = Get("/healthz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("the disk is away"));
  EXPECT_EQ(Get("/metrics").status, 200);
}

TEST_F(ApiServerTest, MetricsAreAPageThatPrometheusReads) {
  Do([&] { runs_.BeginRun("r1"); });
  const auto answer = Get("/metrics");
  EXPECT_EQ(answer.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(testing::ReadMetrics(answer.body).samples.at("plimsoll_lanes"), 14);
}

TEST_F(ApiServerTest, AWatcherSeesStepsAndTheEnd) {
  Do([&] { runs_.BeginRun("r1"); });
  RawClient client(http_port());
  ASSERT_TRUE(client.Request("GET", "/api/v1/runs/r1/watch"));
  ASSERT_TRUE(client.ReadUntil("event: run\ndata: {"));
  ASSERT_TRUE(client.ReadUntil("event: live\ndata: {"));  // Within the next second.
  Do([&] {
    runs_.AddStep("r1", 0);
    api_->Look();
  });
  ASSERT_TRUE(client.ReadUntil("event: step\ndata: {"));
  Do([&] { runs_.EndRun("r1"); });
  Finish();
  const auto answer = client.ReadAnswer();
  EXPECT_TRUE(answer.whole);
  EXPECT_EQ(answer.headers.at("content-type"), "text/event-stream");
  EXPECT_TRUE(answer.body.ends_with("event: end\ndata: {}\n\n")) << answer.body;
  const std::size_t last_run = answer.body.rfind("event: run\ndata: ") + 17;
  const auto event =
      Read<v1::RunEvent>(answer.body.substr(last_run, answer.body.find('\n', last_run) - last_run));
  EXPECT_EQ(event.run().summary().state(), v1::RUN_STATE_FINISHED);
  EXPECT_EQ(event.run().steps_size(), 1);
}

TEST_F(ApiServerTest, WatchingARunThatIsOverEndsAtOnce) {
  Do([&] {
    runs_.BeginRun("r1");
    runs_.EndRun("r1");
  });
  const auto answer = Get("/api/v1/runs/r1/watch");
  EXPECT_TRUE(answer.whole);
  EXPECT_THAT(answer.body, StartsWith("event: run\ndata: {\"run\":{\"summary\":{\"id\":\"r1\""));
  EXPECT_TRUE(answer.body.ends_with("event: end\ndata: {}\n\n"));
}

TEST_F(ApiServerTest, AReaderThatDoesNotReadHoldsNobodyUp) {
  Do([&] {
    runs_.BeginRun("r1");
    // So large that the socket's buffers do not take one event.
    RunInfo run = testing::ARun("r1", 1'800'000'000);
    run.message.append(std::size_t{3} << 20, '#');
    ASSERT_TRUE(runs_.repo.PutRun(run).ok());
  });
  RawClient deaf(http_port());
  ASSERT_TRUE(deaf.Request("GET", "/api/v1/runs/r1/watch"));
  ASSERT_TRUE(deaf.ReadUntil("event: run\n"));  // It watches, from before the first step.
  // Others are answered, steps are queued for the deaf one, and statuses are not.
  for (std::size_t step = 0; step < 3; ++step) {
    Do([&] {
      runs_.AddStep("r1", step);
      for (int i = 0; i < 40; ++i) api_->Look();
    });
    EXPECT_EQ(Get("/healthz").status, 200);
  }
  Do([&] {
    runs_.EndRun("r1");
    api_->Look();
  });
  const auto answer = deaf.ReadAnswer();  // It wakes up, and has missed no step.
  EXPECT_TRUE(answer.whole);
  std::size_t steps = 0;
  std::size_t lives = 0;
  for (std::size_t at = 0; (at = answer.body.find("event: ", at)) != std::string::npos; ++at) {
    steps += answer.body.compare(at + 7, 4, "step") == 0 ? 1 : 0;
    lives += answer.body.compare(at + 7, 4, "live") == 0 ? 1 : 0;
  }
  EXPECT_EQ(steps, 3u);
  EXPECT_LT(lives, 60u);
}

TEST(ApiListenTest, PlainTextStaysOnLoopback) {
  EXPECT_TRUE(CheckApiListen({.http = "127.0.0.1:0", .grpc = "[::1]:0"}).ok());
  EXPECT_TRUE(CheckApiListen({.http = "localhost:8080", .grpc = ""}).ok());
  for (const char* listen : {"0.0.0.0:80", "10.0.0.1:80", "example.com:80", "[::]:0"}) {
    const Status http = CheckApiListen({.http = listen, .grpc = ""});
    EXPECT_TRUE(absl::IsInvalidArgument(http)) << listen;
    EXPECT_THAT(std::string(http.message()), HasSubstr("--http")) << listen;
    EXPECT_THAT(std::string(http.message()), HasSubstr("loopback only")) << listen;
    EXPECT_FALSE(CheckApiListen({.http = "", .grpc = listen}).ok()) << listen;
  }
  EXPECT_FALSE(CheckApiListen({.http = "nonsense", .grpc = ""}).ok());
}

TEST_F(ApiServerTest, AnAddressInUseIsSaid) {
  Do([&] {
    const auto second = ApiServer::Listen(loop_, runs_.Deps(), {.http = http_, .grpc = ""});
    ASSERT_TRUE(absl::IsUnavailable(second.status()));
    EXPECT_THAT(std::string(second.status().message()), HasSubstr(http_));
  });
}

}  // namespace
}  // namespace plimsoll
