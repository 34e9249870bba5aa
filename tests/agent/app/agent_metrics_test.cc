// The agent's page: every number, read as Prometheus reads it, and served over a real socket.
#include "agent/app/agent_metrics.h"

#include <thread>

#include "agent/app/metrics_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/metrics/page_reader.h"
#include "tests/fakes/raw_client.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using testing::ReadMetrics;

TEST(AgentMetrics, ShowsWhatItDoes) {
  AgentNow now{.in_run = true, .slot = 2, .lanes = 8, .calls_in_flight = 7};
  now.records.attempts[static_cast<std::size_t>(Outcome::kOk)] = 40;
  now.records.attempts[static_cast<std::size_t>(Outcome::kCut)] = 1;
  now.records.body_resends = 3;
  now.records.records_queued = 5;
  now.records.records_acked = 36;
  now.records.records_lost = 6;
  now.records.batch_resends = 4;
  now.coordinator_silent_for = 250ms;
  const auto samples =
      ReadMetrics(
          MetricsPage(AgentMetrics(
              now, {.loop_lag_last_second = 2ms, .loop_lag_max = 30ms, .cpu_share_max = 0.5})))
          .samples;
  EXPECT_EQ(samples.at("plimsoll_agent_in_run"), 1);
  EXPECT_EQ(samples.at("plimsoll_agent_slot"), 2);
  EXPECT_EQ(samples.at("plimsoll_agent_lanes"), 8);
  EXPECT_EQ(samples.at("plimsoll_agent_calls_in_flight"), 7);
  EXPECT_EQ(samples.at("plimsoll_agent_attempts_total{outcome=\"ok\"}"), 40);
  EXPECT_EQ(samples.at("plimsoll_agent_attempts_total{outcome=\"cut\"}"), 1);
  EXPECT_EQ(samples.at("plimsoll_agent_attempts_total{outcome=\"refused\"}"), 0);
  EXPECT_EQ(samples.at("plimsoll_agent_body_resends_total"), 3);
  EXPECT_EQ(samples.at("plimsoll_agent_records_queued"), 5);
  EXPECT_EQ(samples.at("plimsoll_agent_records_acked_total"), 36);
  EXPECT_EQ(samples.at("plimsoll_agent_records_lost_total"), 6);
  EXPECT_EQ(samples.at("plimsoll_agent_batch_resends_total"), 4);
  EXPECT_EQ(samples.at("plimsoll_agent_loop_lag_seconds"), 0.002);
  EXPECT_EQ(samples.at("plimsoll_agent_loop_lag_max_seconds"), 0.03);
  EXPECT_EQ(samples.at("plimsoll_agent_cpu_max_share"), 0.5);
  EXPECT_EQ(samples.at("plimsoll_agent_coordinator_silent_seconds"), 0.25);
}

TEST(MetricsServer, ServesThePageAndNothingElse) {
  EventLoop loop;
  const auto server = MetricsServer::Listen(loop, "127.0.0.1:0", [] { return "a 1\n"; });
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string& address = (*server)->address();
  const auto port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  std::thread thread([&loop] { loop.Run(); });
  RawClient client(port);
  EXPECT_TRUE(client.Request("GET", "/metrics"));
  const auto page = client.ReadAnswer();
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "a 1\n");
  EXPECT_EQ(page.headers.at("content-type"), kMetricsContentType);
  EXPECT_TRUE(client.Request("GET", "/"));
  EXPECT_EQ(client.ReadAnswer().status, 404);
  EXPECT_TRUE(client.Request("POST", "/metrics"));
  EXPECT_EQ(client.ReadAnswer().status, 405);
  loop.Stop();
  thread.join();
}

TEST(MetricsServer, PlainTextStaysOnLoopback) {
  EventLoop loop;
  const auto far = MetricsServer::Listen(loop, "0.0.0.0:9100", [] { return ""; });
  EXPECT_TRUE(absl::IsInvalidArgument(far.status()));
  EXPECT_THAT(std::string(far.status().message()), HasSubstr("loopback only"));
  EXPECT_TRUE(
      absl::IsInvalidArgument(MetricsServer::Listen(loop, "9100", [] { return ""; }).status()));
}

}  // namespace
}  // namespace plimsoll
