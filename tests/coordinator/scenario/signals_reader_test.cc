// The section `signals` of a scenario: what is read, and each way of writing it wrong.
#include "coordinator/scenario/signals_reader.h"

#include "coordinator/scenario/scenario_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRest =
    "name: s\n"
    "target: {url: \"http://h/v1\", model: m}\n"
    "corpus: {synthetic: agentx}\n"
    "mix: {heavy: 50%, light: 50%}\n"
    "sweep: {sessions: [1]}\n"
    "bar: {errors: 2%}\n"
    "fleet: {local: 1}\n";

std::vector<std::string> ProblemsOf(const std::string& signals, std::optional<SignalsSpec>* spec) {
  Problems problems("s.yaml");
  const Scenario scenario = ReadScenario(kRest + signals, "dir", problems);
  if (spec != nullptr) *spec = scenario.signals;
  return problems.Lines();
}

SignalsSpec SpecOf(const std::string& signals) {
  std::optional<SignalsSpec> spec;
  EXPECT_THAT(ProblemsOf(signals, &spec), IsEmpty());
  return spec.value_or(SignalsSpec{});
}

TEST(SignalsReader, ReadsPagesOfEverySource) {
  const SignalsSpec spec = SpecOf(R"(
signals:
  gateway: {url: "http://gw:9901/stats/prometheus?usedonly", kind: envoy}
  engines:
    - {url: "https://engine-0:8000/metrics", kind: vllm, model: m, bearer_env: TOKEN, ca_file: ca.pem}
    - {url: "http://engine-1:8000/metrics", mapping: mine.yaml, name: second, where: {dp: "0"}}
  production: [{url: "http://prod/stats", kind: envoy}]
  every: 500ms
  timeout: 3s
  judge: server
  kv_full: {fill: 90%, for: 10s}
  drain: {within: 30s, tolerance: 5%}
)");
  ASSERT_EQ(spec.targets.size(), 4u);
  EXPECT_EQ(spec.targets[0].source, "gateway");
  EXPECT_EQ(spec.targets[0].name, "gw:9901");
  EXPECT_EQ(spec.targets[0].url, "http://gw:9901/stats/prometheus?usedonly");
  EXPECT_EQ(spec.targets[0].mapping.kind, "envoy");
  const SignalTargetSpec& first = spec.targets[1];
  EXPECT_EQ(first.source, "engines");
  EXPECT_EQ(first.name, "engine-0:8000");
  EXPECT_EQ(first.model, "m");
  EXPECT_EQ(first.bearer_env, "TOKEN");
  EXPECT_EQ(first.ca_file, "dir/ca.pem");
  const SignalTargetSpec& second = spec.targets[2];
  EXPECT_EQ(second.name, "second");
  EXPECT_EQ(second.mapping.kind, "");
  EXPECT_EQ(second.mapping.file, "dir/mine.yaml");
  ASSERT_EQ(second.where.size(), 1u);
  EXPECT_EQ(second.where[0].label, "dp");
  EXPECT_EQ(spec.targets[3].source, "production");
  EXPECT_EQ(spec.every, 500ms);
  EXPECT_EQ(spec.timeout, 3s);
  EXPECT_EQ(spec.judge, JudgeMode::kServer);
  EXPECT_EQ(spec.kv_full, 0.9);
  EXPECT_EQ(spec.kv_full_for, 10s);
  EXPECT_EQ(spec.drain_within, 30s);
  EXPECT_EQ(spec.drain_tolerance, 0.05);
}

TEST(SignalsReader, ItsDefaults) {
  const SignalsSpec spec =
      SpecOf("signals: {engines: {url: \"http://e:1/metrics\", kind: vllm}}\n");
  ASSERT_EQ(spec.targets.size(), 1u) << "a single page needs no list";
  EXPECT_EQ(spec.every, 1s);
  EXPECT_EQ(spec.judge, JudgeMode::kBoth);
  EXPECT_FALSE(spec.prometheus.has_value());
  std::optional<SignalsSpec> none;
  EXPECT_THAT(ProblemsOf("", &none), IsEmpty());
  EXPECT_FALSE(none.has_value());
}

TEST(SignalsReader, PrometheusByUrlAloneLooksForEveryKindAndMissesNone) {
  const SignalsSpec spec = SpecOf("signals: {prometheus: \"http://prom:9090/\"}\n");
  ASSERT_TRUE(spec.prometheus.has_value());
  EXPECT_EQ(spec.prometheus->url, "http://prom:9090");
  EXPECT_EQ(spec.prometheus->every, 5s);
  std::vector<std::string> sources;
  for (const PrometheusSourceSpec& source : spec.prometheus->sources) {
    EXPECT_TRUE(source.optional);
    EXPECT_THAT(source.split, ElementsAre("instance"));
    sources.push_back(source.source + " " + source.mapping.kind);
  }
  EXPECT_THAT(sources,
              ElementsAre("gateway envoy", "gateway envoy_ai_gateway", "gateway modelplane",
                          "engines llamacpp", "engines sglang", "engines vllm"));
}

TEST(SignalsReader, PrometheusWithItsSourcesNamed) {
  const SignalsSpec spec = SpecOf(R"(
signals:
  prometheus:
    url: https://prom/base
    bearer_env: PROM_TOKEN
    every: 15s
    engines: {kind: vllm, where: {job: vllm, pod: {prefix: glm-}}, split: [namespace, pod]}
    gateway: [{kind: envoy, where: {job: envoy}}, {mapping: mine.yaml}]
)");
  ASSERT_TRUE(spec.prometheus.has_value());
  EXPECT_EQ(spec.prometheus->bearer_env, "PROM_TOKEN");
  EXPECT_EQ(spec.prometheus->every, 15s);
  ASSERT_EQ(spec.prometheus->sources.size(), 3u);
  EXPECT_EQ(spec.prometheus->sources[0].source, "gateway");
  EXPECT_EQ(spec.prometheus->sources[1].mapping.file, "dir/mine.yaml");
  EXPECT_EQ(spec.prometheus->sources[2].where.size(), 2u);
  EXPECT_THAT(spec.prometheus->sources[2].split, ElementsAre("namespace", "pod"));
  EXPECT_FALSE(spec.prometheus->sources[2].optional);
}

struct Wrong {
  const char* signals;
  const char* words;
};

TEST(SignalsReader, WhatIsWrongIsSaidWithLinePathAndWhatWouldBeRight) {
  const Wrong all[] = {
      {"signals: {}\n", "s.yaml:8: signals: name no server, write e.g. engines: [{url:"},
      {"signals: [a]\n", "s.yaml:8: signals: is a list, it must be a map"},
      {"signals: {engines: []}\n", "signals.engines: is empty"},
      {"signals: {engines: [{kind: vllm}]}\n", "signals.engines[0].url: is missing, write e.g."},
      {"signals: {engines: [{url: \"e:1/metrics\", kind: vllm}]}\n",
       "signals.engines[0].url: is not an http or https URL"},
      {"signals: {engines: [{url: \"http://u:p@e/metrics\", kind: vllm}]}\n",
       "has credentials in it, name a variable in bearer_env instead"},
      {"signals: {engines: [{url: \"http://e/metrics\"}]}\n",
       "signals.engines[0].kind: is missing, write one of envoy, envoy_ai_gateway, llamacpp,"},
      {"signals: {engines: [{url: \"http://e/metrics\", kind: vlm}]}\n",
       "signals.engines[0].kind: "},
      {"signals: {engines: [{url: \"http://e/m\", kind: vllm, mapping: a.yaml}]}\n",
       "names a kind of server and a mapping file, keep one of them"},
      {"signals: {engines: [{url: \"http://e/m\", kind: vllm, bearer_env: \"a b\"}]}\n",
       "signals.engines[0].bearer_env: is not the name of a variable"},
      {"signals: {engines: [{url: \"http://e/m\", kind: vllm, ca_file: a}]}\n",
       "signals.engines[0].ca_file: is for https"},
      {"signals: {engines: [{url: \"http://e/m\", kind: vllm, urll: x}]}\n",
       "signals.engines[0].urll: "},
      {"signals: {engines: [{url: \"http://e/a\", kind: vllm}, {url: \"http://e/b\", kind: "
       "vllm}]}\n",
       "signals.engines: has two pages named e, give each a name of its own"},
      {"signals: {engine: {url: \"http://e/m\", kind: vllm}}\n", "signals.engine: "},
      {"signals: {engines: {url: \"http://e/m\", kind: vllm}, every: 1ms}\n",
       "signals.every: is 1ms, it must be from 100ms to 5m"},
      {"signals: {engines: {url: \"http://e/m\", kind: vllm}, timeout: 2h}\n",
       "signals.timeout: is 2h, it must be from 100ms to 1m"},
      {"signals: {engines: {url: \"http://e/m\", kind: vllm}, judge: servers}\n",
       "signals.judge: "},
      {"signals: {engines: {url: \"http://e/m\", kind: vllm}, kv_full: {fill: 0%}}\n",
       "signals.kv_full.fill: is always reached"},
      {"signals: {engines: {url: \"http://e/m\", kind: vllm}, drain: {within: 30h}}\n",
       "signals.drain.within: is 30h, it must be at most 24h"},
      {"signals: {prometheus: \"prom:9090\"}\n",
       "signals.prometheus: is not an http or https URL, write e.g. \"http://prometheus:9090\""},
      {"signals: {prometheus: {engines: {kind: vllm}}}\n", "signals.prometheus.url: is missing"},
      {"signals: {prometheus: {url: \"http://p\", engines: {kind: vllm, split: []}}}\n",
       "signals.prometheus.engines.split: is empty"},
  };
  for (const Wrong& one : all) {
    const std::vector<std::string> lines = ProblemsOf(one.signals, nullptr);
    ASSERT_FALSE(lines.empty()) << one.signals;
    EXPECT_THAT(lines, ::testing::Contains(HasSubstr(one.words))) << one.signals;
  }
}

}  // namespace
}  // namespace plimsoll
