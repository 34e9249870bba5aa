// The YAML form: values, defaults, and every problem with its line.
#include "gateway/server/gateway_config.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

std::string ProblemsOf(std::string_view yaml) {
  const auto config = ParseGatewayConfig(yaml, "g.yaml");
  EXPECT_FALSE(config.ok());
  return std::string(MessageOf(config.status()));
}

TEST(GatewayConfig, EmptyIsTheDefaults) {
  const auto config = ParseGatewayConfig("", "g.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->port, 8000);
  EXPECT_EQ(config->engine.running_max, 64u);
  EXPECT_TRUE(config->faults.empty());
}

TEST(GatewayConfig, ReadsEveryKey) {
  const auto config = ParseGatewayConfig(R"(
listen: {host: 0.0.0.0, port: 0}
prefix: /api/v1
model: m
context_limit: 1000
output_natural: 10
stop_probability: 0.1
output_switches: reject
tool_call_probability: 0.5
template: {request_tokens: 11, message_tokens: 4, tokens_per_word: 1.25}
seed: 7
engine: {copies: 2, running_max: 3, prefill_tokens_per_s: 5000, prefill_base: 20ms,
         decode_tokens_per_s: 40, decode_slowdown: 0.1, decode_during_prefill: 0.25,
         kv_blocks: 99, prefix_cache: false}
noise: {call_sigma: 0, session_sigma: 0.1, drift_sigma: 0.2, drift_time: 5m, cold_share: 0.3, cold_factor: 4}
faults:
  - {kind: refuse, status: 503, retry_after: 1.5s, at: 20s, for: 10s, from: first_request}
  - {kind: bad_tool_calls, probability: 0.1}
  - {kind: truncate, after_tokens: 3, probability: 0.5}
html: true
)",
                                         "g.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->host, "0.0.0.0");
  EXPECT_EQ(config->port, 0);
  EXPECT_EQ(config->prefix, "/api/v1");
  EXPECT_EQ(config->seed, 7u);
  EXPECT_EQ(config->engine.copies, 2u);
  EXPECT_DOUBLE_EQ(config->engine.prefill_base_s, 0.02);
  EXPECT_DOUBLE_EQ(config->engine.decode_during_prefill, 0.25);
  EXPECT_FALSE(config->engine.prefix_cache);
  EXPECT_EQ(config->engine.noise.call_sigma, 0);
  EXPECT_EQ(config->engine.noise.drift_time, Duration(5min));
  EXPECT_DOUBLE_EQ(config->stop_probability, 0.1);
  EXPECT_EQ(config->output_switches, OutputSwitches::kReject);
  EXPECT_DOUBLE_EQ(config->tool_call_probability, 0.5);
  EXPECT_EQ(config->template_request_tokens, 11u);
  EXPECT_EQ(config->template_message_tokens, 4u);
  EXPECT_DOUBLE_EQ(config->tokens_per_word, 1.25);
  ASSERT_EQ(config->faults.size(), 4u);
  EXPECT_EQ(config->faults[0].status, 503);
  EXPECT_EQ(config->faults[0].retry_after, Duration(1500ms));
  EXPECT_EQ(config->faults[0].span, Duration(10s));
  EXPECT_TRUE(config->faults[0].from_first_request);
  EXPECT_EQ(config->faults[1].kind, FaultKind::kBadToolCalls);
  EXPECT_EQ(config->faults[2].kind, FaultKind::kTruncate);
  EXPECT_EQ(config->faults[2].after_tokens, 3u);
  EXPECT_EQ(config->faults[3].kind, FaultKind::kHtml);
}

TEST(GatewayConfig, ListsAllProblemsWithTheirLines) {
  const std::string problems = ProblemsOf(
      "modle: x\n"
      "engine:\n"
      "  copies: 0\n"
      "  prefill_base: 5\n"
      "  kv_blocks: 1.5\n"
      "faults:\n"
      "  - {kind: explode, for: soon}\n"
      "html: perhaps\n");
  EXPECT_THAT(problems, HasSubstr("g.yaml:1: modle: unknown key"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:3: engine.copies: expected 1 to 256"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:4: engine.prefill_base: expected a duration"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:5: engine.kv_blocks: expected a whole number"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:7: faults[0].kind: 'explode' is not a fault"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:7: faults[0].for: expected a duration"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:8: html: expected true or false"));
}

TEST(GatewayConfig, WrongShapesAndBrokenYamlAreErrors) {
  EXPECT_THAT(ProblemsOf("model: [x\n"), HasSubstr("g.yaml:"));
  EXPECT_THAT(ProblemsOf("- a\n- b\n"), HasSubstr("expected a mapping"));
  EXPECT_THAT(ProblemsOf("engine: 5\n"), HasSubstr("engine: expected a mapping"));
  EXPECT_THAT(ProblemsOf("faults: {}\n"), HasSubstr("faults: expected a list"));
  EXPECT_THAT(ProblemsOf("model: {}\n"), HasSubstr("model: expected a text"));
  EXPECT_THAT(ProblemsOf("prefix: v1\n"), HasSubstr("prefix: expected a path"));
  EXPECT_THAT(ProblemsOf("faults: [{kind: html, probability: 0.5}]\n"), HasSubstr("every request"));
  EXPECT_THAT(ProblemsOf("seed: .nan\n"), HasSubstr("seed: expected"));
  EXPECT_FALSE(LoadGatewayConfig("/nowhere/g.yaml").ok());
}

TEST(GatewayConfig, DeployedExamplesAreValid) {
  for (const char* name : {"demo.yaml", "vllm-like.yaml"}) {
    const auto config =
        LoadGatewayConfig(std::string(PLIMSOLL_SOURCE_DIR) + "/deploy/gateway/" + name);
    EXPECT_TRUE(config.ok()) << config.status();
  }
}

}  // namespace
}  // namespace plimsoll
