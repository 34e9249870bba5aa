// One copy of the engine that fails alone, and who sees a refusal: over real sockets.
#include "tests/gateway/server/gateway_fixture.h"

namespace plimsoll {
namespace {

constexpr std::string_view kBase = R"(
model: m
metrics: [vllm, envoy, envoy_ai_gateway]
engine: {copies: 2, prefill_base: 1ms, decode_tokens_per_s: 100}
noise: {call_sigma: 0, session_sigma: 0, drift_sigma: 0, cold_share: 0}
)";
const std::string kListener = R"({envoy_http_conn_manager_prefix="http-10080"})";
const std::string kCluster = R"({envoy_cluster_name="httproute/m/rule/0"})";

class CopyFaultsTest : public GatewayTest {
 protected:
  void StartWith(std::string_view yaml) {
    const auto config = ParseGatewayConfig(fmt::format("{}{}\n", kBase, yaml), "test.yaml");
    ASSERT_TRUE(config.ok()) << config.status();
    Start(*config);
  }
  std::string SessionOf(std::uint32_t copy) {
    for (int i = 0;; ++i) {
      const std::string id = fmt::format("s{}", i);
      if (gateway_->engine().CopyOf(HashBytes(id)) == copy) {
        return fmt::format("X-Session-ID: {}\r\n", id);
      }
    }
  }
  int Short(std::uint32_t copy) {
    return Ask(Body("one two", R"("max_tokens":2,)"), SessionOf(copy)).status;
  }
  std::unique_ptr<RawClient> Long(std::uint32_t copy) {
    auto client = std::make_unique<RawClient>(port_);
    client->Request("POST", "/v1/chat/completions", SessionOf(copy),
                    Body("one", R"("stream":true,"max_tokens":100000,"ignore_eos":true,)"));
    EXPECT_TRUE(client->ReadUntil("plimsoll_sent_ns"));
    return client;
  }
  std::string Copy(int copy) { return Get(fmt::format("/metrics/engine/{}", copy)).body; }
  static double ValueOf(const std::string& page, const std::string& series) {
    const std::size_t at = page.find("\n" + series + " ");
    return at == std::string::npos ? -1 : std::stod(page.substr(at + series.size() + 2));
  }
};

const std::string kPrompt = R"(vllm:prompt_tokens_total{engine="0",model_name="m"})";

TEST_F(CopyFaultsTest, ACopyThatCrashesTakesItsStreamsAlong) {
  StartWith("faults: [{kind: crash, copies: [1], in_flight_min: 2, down: 1h}]");
  EXPECT_EQ(Short(1), 200);
  EXPECT_EQ(ValueOf(Copy(1), kPrompt), 2);
  const auto lost = Long(1);
  const auto kept = Long(0);
  EXPECT_EQ(Short(1), 503) << "this one is too many";
  EXPECT_FALSE(lost->ReadUntil("data: [DONE]"));
  EXPECT_EQ(Get("/metrics/engine/1").status, 0) << "nobody is there";
  EXPECT_THAT(Get("/metrics").body, Not(HasSubstr(R"(engine="1")")));
  EXPECT_EQ(Short(1), 503);
  EXPECT_EQ(Short(0), 200);
  EXPECT_TRUE(kept->ReadUntil("plimsoll_sent_ns")) << "the other copy goes on";
  const std::string envoy = Get("/metrics/envoy").body;
  EXPECT_EQ(ValueOf(envoy, "envoy_cluster_upstream_rq_rx_reset" + kCluster), 1);
  EXPECT_EQ(ValueOf(envoy, R"(envoy_http_downstream_rq_xx{envoy_http_conn_manager_prefix=)"
                           R"("http-10080",envoy_response_code_class="5"})"),
            2);
}

TEST_F(CopyFaultsTest, ACopyComesBackAnew) {
  StartWith("faults: [{kind: crash, copies: [1], in_flight_min: 1, down: 300ms}]");
  const std::string prompt = Body(Words(640), R"("max_tokens":2,)");
  EXPECT_EQ(Ask(prompt, SessionOf(1)).status, 200);
  EXPECT_THAT(Ask(prompt, SessionOf(1)).body, HasSubstr(R"("cached_tokens":576)"));
  const double started = ValueOf(Copy(1), "process_start_time_seconds");
  const auto lost = Long(1);
  EXPECT_EQ(Short(1), 503);
  EXPECT_FALSE(lost->ReadUntil("data: [DONE]"));
  const MonoTime limit = clock_.MonoNow() + 10s;
  while (Get("/metrics/engine/1").status != 200 && clock_.MonoNow() < limit) {
  }
  const std::string back = Copy(1);
  EXPECT_EQ(ValueOf(back, kPrompt), 0);
  EXPECT_GT(ValueOf(back, "process_start_time_seconds"), started);
  EXPECT_THAT(Ask(prompt, SessionOf(1)).body, HasSubstr(R"("cached_tokens":0)"));
  EXPECT_EQ(ValueOf(Copy(1), kPrompt), 640);
}

TEST_F(CopyFaultsTest, ACopyMayCrashAtAnInstant) {
  StartWith("faults: [{kind: crash, copies: [1], at: 500ms, from: first_request, for: 500ms}]");
  Short(0);
  const MonoTime limit = clock_.MonoNow() + 10s;
  while (Get("/metrics/engine/1").status == 200 && clock_.MonoNow() < limit) {
  }
  while (Get("/metrics/engine/1").status != 200 && clock_.MonoNow() < limit) {
  }
  EXPECT_LT(clock_.MonoNow(), limit);
  EXPECT_EQ(Short(1), 200);
}

TEST_F(CopyFaultsTest, ACopyMayCrashUnderLoadOnly) {
  StartWith("faults: [{kind: crash, copies: [0], in_flight_min: 2, down: 1h}]");
  EXPECT_EQ(Short(0), 200);
  const auto first = Long(0);
  const auto second = Long(1);
  EXPECT_EQ(Short(1), 200) << "the rule is of copy 0's requests";
  EXPECT_EQ(Short(0), 503);
  EXPECT_FALSE(first->ReadUntil("data: [DONE]"));
  EXPECT_EQ(Short(0), 503);
  EXPECT_EQ(Short(1), 200);
}

TEST_F(CopyFaultsTest, RetriesHideACopyThatIsGoneFromTheCallers) {
  StartWith("retries: 1\nfaults: [{kind: crash, copies: [1]}]");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Short(1), 200);
  EXPECT_EQ(ValueOf(Copy(0), kPrompt), 6);
  const std::string envoy = Get("/metrics/envoy").body;
  EXPECT_EQ(ValueOf(envoy, "envoy_cluster_upstream_rq_retry" + kCluster), 3);
  EXPECT_EQ(ValueOf(envoy, "envoy_cluster_upstream_rq_total" + kCluster), 6);
  EXPECT_EQ(ValueOf(envoy, "envoy_http_downstream_rq_total" + kListener), 3);
}

TEST_F(CopyFaultsTest, OneCopyMayAnswerWithErrorsAlone) {
  StartWith("faults: [{kind: engine_refuse, status: 500, copies: [1]}]");
  EXPECT_EQ(Short(0), 200);
  EXPECT_EQ(Short(1), 500);
  const std::string http =
      R"(http_requests_total{handler="/v1/chat/completions",method="POST",status=)";
  EXPECT_EQ(ValueOf(Copy(1), http + R"("5xx"})"), 1);
  EXPECT_EQ(ValueOf(Copy(0), http + R"("5xx"})"), -1);
}

// A refusal that the engine never sees is on Envoy's page alone.
TEST_F(CopyFaultsTest, WhoSeesARefusalDependsOnWhoseItIs) {
  for (const bool by_engine : {false, true}) {
    StartWith(fmt::format("faults: [{{kind: {}, status: 429, from: first_request}}]",
                          by_engine ? "engine_refuse" : "refuse"));
    EXPECT_EQ(Short(0), 429);
    EXPECT_EQ(Short(0), 429);
    const std::string envoy = Get("/metrics/envoy").body;
    EXPECT_EQ(ValueOf(envoy, R"(envoy_http_downstream_rq_xx{envoy_http_conn_manager_prefix=)"
                             R"("http-10080",envoy_response_code_class="4"})"),
              2);
    EXPECT_EQ(ValueOf(envoy, "envoy_cluster_upstream_rq_total" + kCluster), by_engine ? 2 : 0);
    EXPECT_EQ(Get("/metrics/envoy_ai_gateway").body.find("_OTHER") != std::string::npos, by_engine);
    const std::string http =
        R"(http_requests_total{handler="/v1/chat/completions",method="POST",status="4xx"})";
    EXPECT_EQ(ValueOf(Copy(0), http), by_engine ? 2 : -1);
    TearDown();
  }
}

TEST_F(CopyFaultsTest, EnvoySeesWhoIsOpenAndWhoHungUp) {
  StartWith("faults: [{kind: orphan, copies: [1]}]");
  const std::string open = "envoy_http_downstream_rq_active" + kListener;
  {
    const auto first = Long(0);
    const auto orphan = Long(1);
    EXPECT_EQ(ValueOf(Get("/metrics/envoy").body, open), 2);
  }
  EXPECT_TRUE(
      EngineGetsTo([](const EngineGauges& g) { return g.running == 1 && g.cancelled == 1; }));
  const MonoTime limit = clock_.MonoNow() + 10s;
  while (ValueOf(Get("/metrics/envoy").body, open) != 0 && clock_.MonoNow() < limit) {
  }
  const std::string envoy = Get("/metrics/envoy").body;
  EXPECT_EQ(ValueOf(envoy, open), 0);
  EXPECT_EQ(ValueOf(envoy, "envoy_http_downstream_rq_rx_reset" + kListener), 2);
  EXPECT_EQ(ValueOf(envoy, "envoy_cluster_upstream_rq_cancelled" + kCluster), 2);
  // More in the engine than open at the gateway: work that nobody waits for.
  EXPECT_EQ(ValueOf(Copy(1), R"(vllm:num_requests_running{engine="0",model_name="m"})"), 1);
}

}  // namespace
}  // namespace plimsoll
