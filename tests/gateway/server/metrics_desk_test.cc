// Pages of metrics over real sockets: which path is which page, the format that is asked for, and
// the faults of pages.
#include "tests/gateway/server/gateway_fixture.h"

namespace plimsoll {
namespace {

constexpr std::string_view kNoise =
    "model: m\nnoise: {call_sigma: 0, session_sigma: 0, drift_sigma: 0, cold_share: 0}\n";

class MetricsDeskTest : public GatewayTest {
 protected:
  void StartWith(std::string_view yaml) {
    const auto config = ParseGatewayConfig(fmt::format("{}{}\n", kNoise, yaml), "test.yaml");
    ASSERT_TRUE(config.ok()) << config.status();
    Start(*config);
  }
  // Sessions whose copy is this one.
  std::string SessionOf(std::uint32_t copy) {
    for (int i = 0;; ++i) {
      const std::string id = fmt::format("s{}", i);
      if (gateway_->engine().CopyOf(HashBytes(id)) == copy) {
        return fmt::format("X-Session-ID: {}\r\n", id);
      }
    }
  }
  RawClient::Answer Short(std::uint32_t copy) {
    return Ask(Body("one two", R"("max_tokens":2,)"), SessionOf(copy));
  }
  // The number after `series` on the page; -1: it is not there.
  static double ValueOf(const std::string& page, const std::string& series) {
    const std::size_t at = page.find("\n" + series + " ");
    return at == std::string::npos ? -1 : std::stod(page.substr(at + series.size() + 2));
  }
  double Value(const std::string& path, const std::string& series) {
    return ValueOf(Get(path).body, series);
  }
  // Asks again and again, until the value is that or ten seconds have passed.
  bool GetsTo(const std::string& path, const std::string& series, double value) {
    const MonoTime limit = clock_.MonoNow() + 10s;
    while (Value(path, series) != value) {
      if (clock_.MonoNow() > limit) return false;
    }
    return true;
  }
};

const std::string kVllmPrompt = R"(vllm:prompt_tokens_total{engine="0",model_name="m"})";
const std::string kRequests =
    R"(envoy_http_downstream_rq_total{envoy_http_conn_manager_prefix="http-10080"})";

TEST_F(MetricsDeskTest, EachKindHasItsPath) {
  StartWith("engine: {copies: 2}\nmetrics: [sglang, envoy, envoy_ai_gateway]");
  Short(0);
  Short(1);
  const std::string all = Get("/metrics").body;
  EXPECT_THAT(all, HasSubstr(R"(sglang:prompt_tokens_total{model_name="m"} 4.0)"));
  EXPECT_THAT(all, HasSubstr(R"(sglang:num_running_reqs{dp_rank="1",engine_type="unified")"));
  EXPECT_EQ(Get("/metrics/sglang").body, Get("/metrics").body);
  for (const int copy : {0, 1}) {
    const auto page = Get(fmt::format("/metrics/engine/{}", copy));
    EXPECT_THAT(page.body, HasSubstr(R"(sglang:prompt_tokens_total{model_name="m"} 2.0)"));
    EXPECT_THAT(page.body, Not(HasSubstr("dp_rank")));
  }
  for (const char* path : {"/metrics/envoy", "/stats/prometheus"}) {
    const auto page = Get(path);
    EXPECT_EQ(ValueOf(page.body, kRequests), 2) << page.body;
    EXPECT_EQ(page.headers.at("content-type"), "text/plain; charset=UTF-8");
  }
  EXPECT_THAT(Get("/metrics/envoy_ai_gateway").body,
              HasSubstr("gen_ai_server_request_duration_seconds_count{gen_ai_operation_name"));
  for (const char* path : {"/metrics/engine/2", "/metrics/engine/", "/metrics/engine/x",
                           "/metrics/engine/1x", "/metrics/vllm", "/metrics/"}) {
    EXPECT_EQ(Get(path).status, 404) << path;
  }
  EXPECT_EQ(Get("/metricsx").status, 404);
  RawClient client(port_);
  client.Request("POST", "/metrics");
  EXPECT_EQ(client.ReadAnswer().status, 405);
}

TEST_F(MetricsDeskTest, PagesAreNotCountedAsRequests) {
  StartWith("metrics: [envoy]");
  Get("/metrics");
  Get("/health");
  EXPECT_EQ(Value("/metrics", kRequests), 0);
  Get("/v1/models");
  Get("/v1/nothing");
  EXPECT_EQ(Value("/metrics", kRequests), 2);
  EXPECT_EQ(Get("/metrics/engine/0").status, 404) << "no engine's names were asked for";
}

TEST_F(MetricsDeskTest, LlamaCppHasAPageForEachCopyOnly) {
  StartWith("engine: {copies: 2}\nmetrics: llamacpp");
  EXPECT_EQ(Get("/metrics").status, 404);
  const auto page = Get("/metrics/engine/1");
  EXPECT_THAT(page.body, StartsWith("# HELP llamacpp:prompt_tokens_total"));
  EXPECT_GT(std::stoll(page.headers.at("process-start-time-unix")), 1'700'000'000);
}

TEST_F(MetricsDeskTest, OpenMetricsIsServedToWhoeverListsIt) {
  StartWith("metrics: [vllm, envoy]");
  const auto ask = [&](std::string_view path, std::string_view accept) {
    RawClient client(port_);
    client.Request("GET", path, fmt::format("Accept: {}\r\n", accept));
    return client.ReadAnswer();
  };
  for (const char* accept : {"application/openmetrics-text",
                             "text/plain;q=1, Application/OpenMetrics-Text;version=1.0.0;q=0.5"}) {
    const auto page = ask("/metrics", accept);
    EXPECT_EQ(page.headers.at("content-type"),
              "application/openmetrics-text; version=1.0.0; charset=utf-8");
    EXPECT_THAT(page.body, EndsWith("\n# EOF\n"));
    EXPECT_THAT(page.body,
                HasSubstr("# TYPE vllm:prompt_tokens counter\nvllm:prompt_tokens_total{"));
  }
  for (const char* accept : {"", "text/plain", "application/openmetrics-text2", ",,;,"}) {
    const auto page = ask("/metrics", accept);
    EXPECT_EQ(page.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_THAT(page.body, HasSubstr("# TYPE vllm:prompt_tokens_total counter\n"));
  }
  EXPECT_THAT(ask("/metrics/envoy", "application/openmetrics-text").body, Not(HasSubstr("# EOF")));
}

TEST_F(MetricsDeskTest, APageMayBeMissing) {
  StartWith(R"(
engine: {copies: 2}
metrics: [vllm, envoy]
faults:
  - {kind: metrics_missing, copies: [1]}
  - {kind: metrics_missing, form: close, pages: gateway})");
  EXPECT_EQ(Get("/metrics/engine/1").status, 404);
  EXPECT_EQ(Get("/metrics/engine/0").status, 200);
  EXPECT_EQ(Get("/metrics").status, 200) << "the other copy's numbers are still to be had";
  EXPECT_EQ(Get("/metrics/envoy").status, 0) << "the connection closed";
}

TEST_F(MetricsDeskTest, APageThatHangsHoldsNothingUp) {
  StartWith("faults: [{kind: metrics_missing, form: hang}]");
  RawClient first(port_);
  first.Request("GET", "/metrics");
  RawClient second(port_);
  second.Request("GET", "/metrics");
  EXPECT_EQ(Short(0).status, 200);
  first.Close();
  EXPECT_EQ(Short(0).status, 200);
  EXPECT_EQ(second.received(), "");
}

TEST_F(MetricsDeskTest, APageMayBeStale) {
  StartWith(R"(
engine: {copies: 2}
metrics: [vllm, envoy]
faults:
  - {kind: metrics_stale, copies: [1]}
  - {kind: metrics_stale, pages: gateway, at: 1h})");
  for (const std::uint32_t copy : {0u, 1u}) EXPECT_EQ(Short(copy).status, 200);
  EXPECT_EQ(Value("/metrics/engine/0", kVllmPrompt), 2);
  EXPECT_EQ(Value("/metrics/engine/1", kVllmPrompt), 0);
  const std::string all = Get("/metrics").body;
  EXPECT_EQ(ValueOf(all, kVllmPrompt), 2);
  EXPECT_EQ(ValueOf(all, R"(vllm:prompt_tokens_total{engine="1",model_name="m"})"), 0);
  EXPECT_EQ(Value("/metrics/envoy", kRequests), 2) << "not yet";
}

TEST_F(MetricsDeskTest, AStalePageComesBack) {
  StartWith(R"(
metrics: [vllm, envoy]
faults: [{kind: metrics_stale, from: first_request, for: 300ms}])");
  Short(0);
  EXPECT_TRUE(GetsTo("/metrics", kVllmPrompt, 2));
  EXPECT_EQ(Value("/metrics/envoy", kRequests), 1);
}

TEST_F(MetricsDeskTest, CountersMayStartAgain) {
  for (const bool restart : {false, true}) {
    StartWith(fmt::format(R"(
metrics: [vllm, envoy]
faults: [{{kind: metrics_reset, at: 1500ms, from: first_request, form: {}}}])",
                          restart ? "restart" : "counters"));
    const double started = Value("/metrics", "process_start_time_seconds");
    Short(0);
    EXPECT_TRUE(GetsTo("/metrics", kVllmPrompt, 0));
    EXPECT_EQ(Value("/metrics/envoy", kRequests), 0);
    EXPECT_EQ(Value("/metrics", "process_start_time_seconds") > started, restart);
    Short(0);
    EXPECT_EQ(Value("/metrics", kVllmPrompt), 2) << "it strikes once";
    TearDown();
  }
}

TEST_F(MetricsDeskTest, APageMayBePartial) {
  StartWith(R"(
metrics: [vllm, envoy]
faults:
  - {kind: metrics_partial, pages: gateway}
  - {kind: metrics_partial, form: families, families: ["vllm:time_to_first_token_seconds"]})");
  const auto cut = Get("/metrics/envoy");
  EXPECT_EQ(cut.status, 200);
  EXPECT_TRUE(cut.whole);
  EXPECT_THAT(cut.body, Not(EndsWith("\n")));
  const std::string page = Get("/metrics").body;
  EXPECT_THAT(page, Not(HasSubstr("time_to_first_token")));
  EXPECT_THAT(page, HasSubstr("vllm:inter_token_latency_seconds_count"));
}

TEST_F(MetricsDeskTest, GaugesMayFreezeAfterAnAbort) {
  const std::string running = R"(vllm:num_requests_running{engine="0",model_name="m"})";
  for (const bool frozen : {false, true}) {
    StartWith(frozen ? "faults: [{kind: gauges_frozen}]" : "");
    {
      RawClient client(port_);
      client.Request("POST", "/v1/chat/completions", "",
                     Body("one", R"("stream":true,"max_tokens":100000,"ignore_eos":true,)"));
      ASSERT_TRUE(client.ReadUntil("plimsoll_sent_ns"));
      EXPECT_EQ(Value("/metrics", running), 1);
    }
    EXPECT_TRUE(EngineGetsTo([](const EngineGauges& g) { return g.cancelled == 1; }));
    EXPECT_EQ(Value("/metrics", running), frozen ? 1 : 0);
    Short(0);
    EXPECT_EQ(Value("/metrics", running), 0) << "the engine has stepped";
    TearDown();
  }
}

}  // namespace
}  // namespace plimsoll
