// The YAML form: values, defaults, and every problem with its line.
#include "gateway/server/gateway_config.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

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
  - {kind: malformed_tool_calls, probability: 0.1}
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
  EXPECT_EQ(config->faults[1].kind, FaultKind::kMalformedToolCalls);
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
  EXPECT_EQ(
      problems,
      "g.yaml:1: modle: is not a known key, did you mean \"model\"?\n"
      "g.yaml:3: engine.copies: is 0, it must be from 1 to 256\n"
      "g.yaml:4: engine.prefill_base: \"5\" has no unit, write e.g. \"5s\" or \"5ms\"\n"
      "g.yaml:5: engine.kv_blocks: \"1.5\" is too large or too fine for a count, write e.g. "
      "\"15\", \"64k\" "
      "(64,000) or \"64Ki\" (65,536)\n"
      "g.yaml:7: faults[0].kind: is \"explode\", it must be refuse, engine_refuse, crash, html, "
      "slow_start, context_limit, error_after_200, truncate, stall, garbage, "
      "malformed_tool_calls, wrong_answers, uncapped, orphan, slower, cache_off, kv_full, "
      "stuck_queue, metrics_missing, metrics_stale, metrics_reset, metrics_partial or "
      "gauges_frozen\n"
      "g.yaml:7: faults[0].for: \"soon\" is not a duration, write e.g. \"250ms\", \"5.3s\", "
      "\"2m\" or \"1h\"\n"
      "g.yaml:8: html: is \"perhaps\", write true or false");
}

TEST(GatewayConfig, MetricsAreOneKindOrSeveral) {
  const auto kinds = [](std::string_view yaml) { return ParseGatewayConfig(yaml, "g")->metrics; };
  EXPECT_EQ(kinds(""), std::vector{MetricKind::kVllm});
  EXPECT_EQ(kinds("metrics: llamacpp"), std::vector{MetricKind::kLlamaCpp});
  EXPECT_EQ(kinds("metrics: [envoy, sglang, envoy_ai_gateway]"),
            (std::vector{MetricKind::kEnvoy, MetricKind::kSglang, MetricKind::kAiGateway}));
  EXPECT_THAT(ProblemsOf("metrics: vlm"),
              HasSubstr("g.yaml:1: metrics: is \"vlm\", it must be vllm"));
  EXPECT_THAT(ProblemsOf("metrics: [vlm]"), HasSubstr("\"vlm\" is none of vllm, sglang, llamacpp"));
  EXPECT_THAT(ProblemsOf("metrics: []"), HasSubstr("g.yaml:1: metrics: "));
  EXPECT_THAT(ProblemsOf("metrics: [vllm, sglang]"), HasSubstr("names several engines"));
}

TEST(GatewayConfig, AnswersAreLookedForBesideTheFile) {
  const std::string folder = ::testing::TempDir();
  const auto write = [&](const std::string& name, std::string_view text) {
    std::ofstream(folder + name) << text;
    return folder + name;
  };
  const std::string config =
      write("answers-test.yaml", "answers: answers-test.jsonl\nretries: 2\n");
  write("answers-test.jsonl", R"({"id": "a", "kind": "k", "prompt": "Six?", )"
                              R"("expect": {"exact": "6"}, "reference": "6"})");
  const auto loaded = LoadGatewayConfig(config);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->answers->cases().size(), 1u);
  EXPECT_EQ(loaded->retries, 2u);
  write("answers-test.jsonl", "{");
  EXPECT_THAT(std::string(MessageOf(LoadGatewayConfig(config).status())),
              HasSubstr("answers-test.jsonl:1: "));
  write("answers-test.yaml", "answers: no-such.jsonl\n");
  EXPECT_THAT(std::string(MessageOf(LoadGatewayConfig(config).status())),
              HasSubstr("no-such.jsonl: cannot be read"));
}

TEST(GatewayConfig, FaultsOfMetricsAndCopiesTakeTheirOwnKeys) {
  const auto config = ParseGatewayConfig(R"(
engine: {copies: 3}
faults:
  - {kind: metrics_missing, form: hang, copies: [2]}
  - {kind: metrics_partial, form: families, families: [a, b], pages: gateway}
  - {kind: crash, copies: [0, 1], in_flight_min: 4, down: 30s}
)",
                                         "g");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->faults[0].form, FaultForm::kHang);
  EXPECT_EQ(config->faults[0].pages, FaultPages::kEngines);
  EXPECT_EQ(config->faults[1].families, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config->faults[1].pages, FaultPages::kGateway);
  EXPECT_EQ(config->faults[2].down, Duration(30s));
  const std::string problems = ProblemsOf(
      "faults:\n"
      "- {kind: metrics_reset, for: 3s}\n"
      "- {kind: metrics_partial, form: families}\n"
      "- {kind: metrics_stale, pages: gateway, copies: [0]}\n"
      "- {kind: crash, down: 3s}\n"
      "- {kind: crash, copies: [0], down: 3s}\n"
      "- {kind: metrics_missing, probability: 3%}\n"
      "- {kind: malformed_tool_calls, form: blank}\n");
  EXPECT_THAT(problems, HasSubstr("g.yaml:2: faults[0].for: is not for this kind"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:3: faults[1].families: is missing"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:4: faults[2].copies: the gateway's page is of no copy"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:5: faults[3].down: is for copies"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:6: faults[4].down: is for copies"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:7: faults[5].probability: is not for this kind"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:8: faults[6].form: is \"blank\""));
}

TEST(GatewayConfig, EachKindOfFaultTakesItsOwnKeys) {
  const std::string problems = ProblemsOf(
      "faults:\n"
      "- {kind: refuse, after_tokens: 3}\n"
      "- {kind: slow_start}\n"
      "- {kind: context_limit, probability: 0.5, tokens: 8k}\n"
      "- {kind: truncate, form: rest}\n"
      "- {kind: slower, factor: .nan, copies: [1]}\n"
      "- {kind: stall, probability: 120%}\n"
      "- {at: 3s}\n"
      "- crash\n");
  EXPECT_THAT(problems, HasSubstr("g.yaml:2: faults[0].after_tokens: is not a known key"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:3: faults[1].for: is missing, write e.g. for: 30s"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:4: faults[2].probability: is not for this kind"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:5: faults[3].form: is \"rest\", it must be close, end or "
                                  "reset; did you mean \"reset\"?"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:6: faults[4].factor: is \".nan\", it must be a number"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:6: faults[4].copies[0]: is 1, it must be from 0 to 0"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:7: faults[5].probability: "));
  EXPECT_THAT(problems, HasSubstr("g.yaml:8: faults[6].kind: is missing, write e.g. kind: refuse"));
  EXPECT_THAT(problems, HasSubstr("g.yaml:9: faults[7]: is a text, it must be a map"));
}

TEST(GatewayConfig, WrongShapesAndBrokenYamlAreErrors) {
  EXPECT_THAT(ProblemsOf("model: [x\n"), HasSubstr("g.yaml:"));
  EXPECT_THAT(ProblemsOf("- a\n- b\n"), HasSubstr("it must be a map"));
  EXPECT_THAT(ProblemsOf("engine: 5\n"), HasSubstr("engine: is a text, it must be a map"));
  EXPECT_THAT(ProblemsOf("faults: {}\n"), HasSubstr("faults: must be a list"));
  EXPECT_THAT(ProblemsOf("model: {}\n"), HasSubstr("model: is a map, it must be a text"));
  EXPECT_THAT(ProblemsOf("prefix: v1\n"), HasSubstr("prefix: must be a path"));
  EXPECT_THAT(ProblemsOf("prefix: /\n"), HasSubstr("prefix: must be a path"));
  EXPECT_THAT(ProblemsOf("faults: [{kind: html, probability: 0.5}]\n"),
              HasSubstr("strikes all the time"));
  EXPECT_THAT(ProblemsOf("seed: .nan\n"), HasSubstr("seed: "));
  EXPECT_THAT(ProblemsOf("model: a\nmodel: b\n"), HasSubstr("g.yaml:2: model: "));
  EXPECT_FALSE(LoadGatewayConfig("/nowhere/g.yaml").ok());
}

std::string ReadFile(const std::string& name) {
  std::ifstream in(std::string(PLIMSOLL_SOURCE_DIR) + "/" + name);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

// All texts between `open` and the next `close`, without them.
std::vector<std::string> Between(const std::string& text, const std::string& open,
                                 const std::string& close) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    at += open.size();
    found.push_back(text.substr(at, text.find(close, at) - at));
  }
  return found;
}

TEST(GatewayConfig, ThePageShowsTheDefaultsAndEveryKindOfFault) {
  const std::string page = ReadFile("docs/gateway.md");
  const auto blocks = Between(page, "```yaml\n", "```");
  ASSERT_EQ(blocks.size(), 1u);
  const auto shown = ParseGatewayConfig(blocks[0], "docs/gateway.md");
  ASSERT_TRUE(shown.ok()) << shown.status();
  GatewayConfig defaults;
  EXPECT_NEAR(shown->engine.prefill_base_s, defaults.engine.prefill_base_s, 1e-12);
  defaults.engine.prefill_base_s = shown->engine.prefill_base_s;
  EXPECT_EQ(shown->host, defaults.host);
  EXPECT_EQ(shown->port, defaults.port);
  EXPECT_EQ(shown->prefix, defaults.prefix);
  EXPECT_EQ(shown->model, defaults.model);
  EXPECT_EQ(shown->context_limit, defaults.context_limit);
  EXPECT_EQ(shown->output_natural, defaults.output_natural);
  EXPECT_EQ(shown->stop_probability, defaults.stop_probability);
  EXPECT_EQ(shown->output_switches, defaults.output_switches);
  EXPECT_EQ(shown->tool_call_probability, defaults.tool_call_probability);
  EXPECT_EQ(shown->template_request_tokens, defaults.template_request_tokens);
  EXPECT_EQ(shown->template_message_tokens, defaults.template_message_tokens);
  EXPECT_EQ(shown->tokens_per_word, defaults.tokens_per_word);
  EXPECT_EQ(shown->seed, defaults.seed);
  EXPECT_EQ(shown->metrics, defaults.metrics);
  EXPECT_EQ(shown->stats_flush, defaults.stats_flush);
  EXPECT_EQ(shown->retries, defaults.retries);
  EXPECT_EQ(shown->engine, defaults.engine);
  EXPECT_TRUE(shown->faults.empty());

  std::set<FaultKind> kinds;
  for (const std::string& line : Between(page, "| `{kind: ", "}`")) {
    const auto config = ParseGatewayConfig("faults: [{kind: " + line + "}]", "docs/gateway.md");
    ASSERT_TRUE(config.ok()) << line << ": " << config.status();
    kinds.insert(config->faults.at(0).kind);
  }
  EXPECT_EQ(kinds.size(), FaultKinds().size());
}

TEST(GatewayConfig, TheExampleHasEveryKindOfFault) {
  const auto config = ParseGatewayConfig(ReadFile("deploy/gateway/faults.yaml"), "faults.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  std::set<FaultKind> kinds;
  for (const FaultRule& rule : config->faults) kinds.insert(rule.kind);
  EXPECT_EQ(kinds.size(), FaultKinds().size());
}

TEST(GatewayConfig, DeployedExamplesAreValid) {
  for (const char* name :
       {"demo.yaml", "faults.yaml", "recorded.yaml", "signals.yaml", "vllm-like.yaml"}) {
    const auto config =
        LoadGatewayConfig(std::string(PLIMSOLL_SOURCE_DIR) + "/deploy/gateway/" + name);
    EXPECT_TRUE(config.ok()) << config.status();
  }
}

}  // namespace
}  // namespace plimsoll
