#include "coordinator/scenario/scenario_reader.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kMinimal = R"(name: m
target: {url: "http://127.0.0.1:8080/v1/", model: x}
corpus: {file: a.corpus}
mix: {heavy: 25%, light: 75%}
sweep: {sessions: [2, 4]}
bar: {errors: 2%}
fleet: {local: 2}
)";

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(ScenarioReader, MinimalScenarioHasTheDefaults) {
  const StatusOr<Scenario> read = ParseScenario(kMinimal, "m.yaml", "/etc/rig");
  ASSERT_TRUE(read.ok()) << MessageOf(read.status());
  EXPECT_EQ(read->target.url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(read->corpus.file, "/etc/rig/a.corpus");
  EXPECT_EQ(read->mix,
            (std::vector<TierPlan>{{"heavy", Tier::kHeavy, 1}, {"light", Tier::kLight, 3}}));
  Sweep sweep;
  sweep.sessions = {2, 4};
  EXPECT_EQ(read->sweep, sweep);
  EXPECT_FALSE(read->sweep.target.has_value());
  EXPECT_EQ(read->sweep.measure, 5min);
  EXPECT_EQ(read->sweep.block, 1min);
  EXPECT_EQ(read->replay, ReplaySpec{});
  EXPECT_EQ(read->fleet.size(), 2u);
  EXPECT_EQ(read->seed, 1u);
}

TEST(ScenarioReader, ReadsTheWholeLanguage) {
  const std::string text = ReadFile(std::filesystem::path(PLIMSOLL_SOURCE_DIR) /
                                    "tests/coordinator/scenario/testdata/all_keys.yaml");
  const StatusOr<Scenario> read = ParseScenario(text, "all.yaml", "d/");
  ASSERT_TRUE(read.ok()) << MessageOf(read.status());
  Scenario want;
  want.name = "all";
  want.recipe = {{"a.yaml", "b.yaml"}, "two nodes"};
  want.target = {.url = "https://[::1]:8443/v1",
                 .model = "glm",
                 .bearer_env = "TOKEN_1",
                 .ca_file = "d/ca.pem",
                 .headers = {{"x-team", "staging"}},
                 .affinity_play_header = "X-Play",
                 .affinity_parent_header = "X-Parent",
                 .max_tokens = 64'000,
                 .connect_timeout = 1s,
                 .idle_timeout = 2s,
                 .call_deadline = 3s};
  want.corpus = {.synthetic = "agentx", .seed = 9, .heavy = 5, .mid = 7, .light = 6, .scale = 8};
  want.mix = {{"light", Tier::kLight, 333}, {"heavy", Tier::kHeavy, 667}};
  want.sweep = {{1, 3, 9}, 3, 0s, 12s, 3s, 4s, 5s, 90s, false, false, false, true};
  want.tier_ladders = {{.name = "mid", .tier = Tier::kMid, .share = 0},
                       {.name = "light", .tier = Tier::kLight, .share = 0}};
  want.bar.limits = {
      {Metric::kErrors, 0, 0.01}, {Metric::kInteractivity, 0.95, 10}, {Metric::kTtft, 0.5, 5.3}};
  want.fleet = {.local = 0, .agents = 7, .listen = "[::1]:7000", .wait = 8s};
  want.replay = {ThinkTime::kRecorded,
                 9s,
                 OutputMode::kRecorded,
                 0,
                 4,
                 true,
                 {128'000, OverLimit::kSkipCalls},
                 History::kLive,
                 {2, 2s, 4s, false, 30s}};
  want.replay.failure.retry = {Outcome::kRefused, Outcome::kHttpError};
  want.replay.failure.end_play = {Outcome::kContextOverflow, Outcome::kDeadline};
  want.replay.failure.silence = Silence::kStream;
  want.seed = 77;
  EXPECT_TRUE(*read == want);
  EXPECT_EQ(read->bar, want.bar);
  EXPECT_EQ(read->target, want.target);
  EXPECT_EQ(read->mix, want.mix);
}

TEST(ScenarioReader, TenMistakesArePrintedAtOnce) {
  Problems problems("s.yaml");
  (void)ReadScenario(R"(name:
target:
  url: gateway.example/v1
  modle: glm
  auth: {bearer_env: "sk-live-0123"}
corpus: {file: a.corpus, synthetic: agentx}
mix: {heavy: 50%, light: 40%}
sweep:
  sessions: [10, 15, 15]
  measure: 5m
  block: 2m
  drain_limit: 90
bar: {ttft_p90: 5.3, errors: 2%, errors: 3%}
hooks: {rollout: [./go]}
fleet: {agents: 2, listen: "0.0.0.0:7420"}
)",
                     "", problems);
  EXPECT_THAT(
      problems.Lines(),
      ElementsAre(
          "s.yaml:1: name: is empty, it must be a text",
          "s.yaml:3: target.model: is missing, write e.g. the name that the gateway serves",
          "s.yaml:3: target.url: is not an http or https URL, write e.g. \"https://host/v1\"",
          "s.yaml:4: target.modle: is not a known key, did you mean \"model\"?",
          "s.yaml:5: target.auth.bearer_env: is not the name of an environment variable, write "
          "e.g. PLIMSOLL_TARGET_TOKEN and put the token into that variable",
          "s.yaml:6: corpus: names a file and a synthetic family, keep one of them",
          "s.yaml:7: mix: its shares are 90% in all, they must be 100%",
          "s.yaml:9: sweep.sessions[2]: is 15 after 15, each step must have more sessions than "
          "the last",
          "s.yaml:10: sweep.measure: is 5m, it must be a whole number of blocks of 2m, write e.g. "
          "4m",
          "s.yaml:12: sweep.drain_limit: \"90\" has no unit, write e.g. \"90s\" or \"90ms\"",
          "s.yaml:13: bar.errors: is given twice, keep one; the first is on line 13",
          "s.yaml:13: bar.ttft_p90: \"5.3\" has no unit, write e.g. \"5.3s\" or \"5.3ms\"",
          "s.yaml:14: hooks: bring a deployment up, and nothing takes it down again, write e.g. "
          "rollback: [hooks/rollback], or [\"true\"] if it shall stay",
          "s.yaml:15: fleet.listen: is not on the loopback; this version has no TLS, so listen on "
          "127.0.0.1 and let agents come through a tunnel"));
}

TEST(ScenarioReader, EmptyAndShapelessFilesNameWhatIsMissing) {
  Problems problems("s.yaml");
  (void)ReadScenario("", "", problems);
  EXPECT_THAT(problems.Lines(),
              ElementsAre("s.yaml: is empty, it must be a map of keys and values"));
  Problems list("s.yaml");
  (void)ReadScenario("- a\n", "", list);
  EXPECT_THAT(list.Lines(),
              ElementsAre("s.yaml:1: is a list, it must be a map of keys and values"));
  Problems bare("s.yaml");
  (void)ReadScenario("seed: 1\n", "", bare);
  EXPECT_EQ(bare.size(), 7u);  // name, target, corpus, mix, sweep, bar, fleet.
}

std::vector<std::string> ProblemsWith(const std::string& more) {
  Problems problems("s.yaml");
  (void)ReadScenario(std::string(kMinimal) + more, "", problems);
  return problems.Lines();
}

TEST(ScenarioReader, LaddersBeginWithTheMixAndNameTiersOnce) {
  EXPECT_THAT(ProblemsWith("ladders: [mix, heavy, light]\n"), ElementsAre());
  EXPECT_THAT(ProblemsWith("ladders: [light, mix]\n"),
              ElementsAre("s.yaml:8: ladders: must begin with mix, whose steps decide the target; "
                          "write e.g. [mix, light]"));
  EXPECT_THAT(ProblemsWith("ladders: [mix, fast]\n"),
              ElementsAre("s.yaml:8: ladders: lists 'fast', after mix each must be one of light, "
                          "mid, heavy"));
  EXPECT_THAT(ProblemsWith("ladders: [mix, mix]\n"),
              ElementsAre("s.yaml:8: ladders: lists 'mix', after mix each must be one of light, "
                          "mid, heavy"));
  EXPECT_THAT(ProblemsWith("ladders: [mix, light, light]\n"),
              ElementsAre("s.yaml:8: ladders: lists light twice"));
  std::string synthetic(kMinimal);
  const std::size_t at = synthetic.find("corpus: ");
  synthetic.replace(at, synthetic.find('\n', at) - at, "corpus: {synthetic: agentx}");
  Problems problems("s.yaml");
  (void)ReadScenario(synthetic + "ladders: [mix, mid]\n", "", problems);
  EXPECT_THAT(problems.Lines(),
              ElementsAre("s.yaml:8: ladders: mid has no sessions in the synthetic corpus, write "
                          "e.g. corpus.mid: 32"));
}

TEST(ScenarioReader, EachLadderHasALimitThatIsJudgedOnIt) {
  std::string heavy_only(kMinimal);
  const std::size_t at = heavy_only.find("bar: ");
  heavy_only.replace(at, heavy_only.find('\n', at) - at, "bar: {heavy: {ttft_p90: 5s}}");
  Problems fine("s.yaml");
  (void)ReadScenario(heavy_only + "ladders: [mix, heavy]\n", "", fine);
  EXPECT_THAT(fine.Lines(), ElementsAre());
  Problems problems("s.yaml");
  (void)ReadScenario(heavy_only + "ladders: [mix, heavy, light]\n", "", problems);
  EXPECT_THAT(
      problems.Lines(),
      ElementsAre("s.yaml:8: ladders: light alone has no limit in the bar; write one for all "
                  "calls, or e.g. bar: {light: {ttft_p90: 5s}}"));
}

TEST(ScenarioReader, ABudgetHoldsAtLeastAStepAndIsWhatRefinementsAreMadeOf) {
  const auto with = [](const std::string& more) {
    std::string yaml(kMinimal);
    yaml.replace(yaml.find("{sessions: [2, 4]}"), 18, "{sessions: [2, 4], " + more + "}");
    Problems problems("s.yaml");
    (void)ReadScenario(yaml, "", problems);
    return problems.Lines();
  };
  EXPECT_THAT(with("budget: 90m, refine: on"), ElementsAre());
  EXPECT_THAT(with("refine: on"),
              ElementsAre("s.yaml:5: sweep.refine: spends what is left of a budget; write e.g. "
                          "budget: 90m beside it"));
  EXPECT_THAT(with("budget: 10m"),
              ElementsAre("s.yaml:5: sweep.budget: is 10m, and a single step may take 602s; write "
                          "that much or more"));
  EXPECT_THAT(with("budget: 1000h"),
              ElementsAre("s.yaml:5: sweep.budget: is 1000h, it must be at most 168h"));
  EXPECT_EQ(with("between_steps: stop").size(), 1u);
  EXPECT_EQ(with("fail_early: maybe").size(), 1u);
}

TEST(ScenarioReader, CostHasNodesAndAPriceWithItsCurrency) {
  const StatusOr<Scenario> read = ParseScenario(
      std::string(kMinimal) + "cost: {nodes: 4, per_node_hour: 14.40 USD}\n", "m.yaml", "");
  ASSERT_TRUE(read.ok()) << MessageOf(read.status());
  EXPECT_EQ(read->cost, (CostSpec{.nodes = 4, .per_node_hour = {14'400'000, "USD"}}));
  EXPECT_FALSE(ParseScenario(kMinimal, "m.yaml", "")->cost.has_value());
  const std::pair<std::string, std::string> wrong[] = {
      {"{nodes: 4}", "s.yaml:8: cost.per_node_hour: is missing, write e.g. 14.40 USD"},
      {"{nodes: 0, per_node_hour: 1 USD}",
       "s.yaml:8: cost.nodes: is 0, it must be from 1 to 100000"},
      {"{nodes: 1, per_node_hour: 0 USD}",
       "s.yaml:8: cost.per_node_hour: is zero, write what a node costs or take cost out"},
      {"{nodes: 1, per_node_hour: 3}",
       "s.yaml:8: cost.per_node_hour: \"3\" has no currency, write e.g. \"3 USD\""},
      {"{nodes: 1, per_node_hours: 3 USD}", "did you mean \"per_node_hour\"?"}};
  for (const auto& [cost, words] : wrong) {
    Problems problems("s.yaml");
    (void)ReadScenario(std::string(kMinimal) + "cost: " + cost + "\n", "", problems);
    EXPECT_THAT(problems.Lines(), ::testing::Contains(::testing::HasSubstr(words))) << cost;
  }
}

TEST(ScenarioReader, CertificatesAreForHttps) {
  const auto with = [](const std::string& url) {
    std::string yaml(kMinimal);
    const std::size_t at = yaml.find("target: ");
    yaml.replace(at, yaml.find('\n', at) - at,
                 "target: {url: \"" + url + "\", model: x, ca_file: a}");
    Problems problems("s.yaml");
    (void)ReadScenario(yaml, "", problems);
    return problems.Lines();
  };
  EXPECT_THAT(with("https://h/v1"), ElementsAre());
  EXPECT_THAT(with("http://h/v1"),
              ElementsAre("s.yaml:2: target.ca_file: is for https, and target.url begins with "
                          "http://; write https:// or take it out"));
}

TEST(ScenarioReader, ShippedScenariosAreValid) {
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(PLIMSOLL_SOURCE_DIR) / "deploy/scenarios")) {
    Problems problems(entry.path().filename());
    (void)ReadScenario(ReadFile(entry.path()), "deploy/scenarios", problems);
    EXPECT_THAT(problems.Lines(), IsEmpty());
    ++read;
  }
  EXPECT_GE(read, 2);
}

TEST(ScenarioReader, ThreeThirdsMayBeWrittenInTwoWays) {
  std::string text(kMinimal);
  const std::string_view mix = "mix: {heavy: 25%, light: 75%}";
  text.replace(text.find(mix), mix.size(), "mix: {heavy: 33.4%, mid: 33.3%, light: 33.3%}");
  const StatusOr<Scenario> read = ParseScenario(text, "m.yaml", "");
  ASSERT_TRUE(read.ok()) << MessageOf(read.status());
  EXPECT_EQ(read->mix[0].share, 334u);
  EXPECT_EQ(read->mix[1].tier, Tier::kMid);
}

TEST(MakeStepPlan, CarriesTheSweepsTimes) {
  Sweep sweep;
  sweep.block = 3s;
  sweep.measure = 9s;
  const StepPlan plan = MakeStepPlan(sweep, 4, 17);
  EXPECT_EQ(plan.step, 4u);
  EXPECT_EQ(plan.sessions, 17u);
  EXPECT_EQ(plan.block, 3s);
  EXPECT_EQ(plan.measure, 9s);
  EXPECT_EQ(plan.prime_limit, sweep.prime_limit);
}

TEST(ScenarioReader, OutputModesToolsAndExtraFields) {
  const auto read = [](const std::string& target, const std::string& replay) {
    const auto scenario = ParseScenario(
        "name: n\ntarget: {url: \"http://h/v1\", model: m" + target +
            "}\ncorpus: {synthetic: agentx}\nmix: {heavy: 100%}\nsweep: {sessions: [1]}\n"
            "bar: {errors: 2%, tool_calls: 3%}\nfleet: {local: 1}\nreplay: {" +
            replay + "}\n",
        "s.yaml", "");
    EXPECT_TRUE(scenario.ok()) << scenario.status();
    return scenario.ok() ? *scenario : Scenario{};
  };
  Scenario s = read(", tools: on", "");
  EXPECT_TRUE(s.target.tools);
  EXPECT_EQ(s.target.extra_body, "");
  EXPECT_EQ(s.replay.output_mode, OutputMode::kRecorded);
  EXPECT_EQ(s.bar.limits[1].metric, Metric::kToolCalls);
  EXPECT_EQ(s.bar.limits[1].value, 0.03);
  EXPECT_EQ(read(", tools: on", "output: free").replay.output_mode, OutputMode::kFree);
  s = read(", tools: on", "output: {tokens: 300}");
  EXPECT_EQ(s.replay.output_mode, OutputMode::kFixed);
  EXPECT_EQ(s.replay.output_tokens, 300u);

  s = read(
      ", tools: on, extra_body: {top_k: 40, temperature: 0.2, on: true, off: null, t: \"1\", "
      "s: some words, q: 'a\"b', v: 1.0.0, list: [1, {a: -2e3}], chat_template_kwargs: "
      "{enable_thinking: false}, none: , z: 007}",
      "");
  EXPECT_EQ(s.target.extra_body,
            R"("top_k":40,"temperature":0.2,"on":true,"off":null,"t":"1","s":"some words",)"
            R"("q":"a\"b","v":"1.0.0","list":[1,{"a":-2e3}],)"
            R"("chat_template_kwargs":{"enable_thinking":false},"none":null,"z":"007")");
}

}  // namespace
}  // namespace plimsoll
