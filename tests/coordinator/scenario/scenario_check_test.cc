// Each row breaks one field of a good scenario and expects exactly one problem.
#include "coordinator/scenario/scenario_check.h"

#include "coordinator/scenario/scenario_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kGood = R"(name: good
target:
  url: http://127.0.0.1:8080/v1
  model: x
  headers: {x-team: a}
  affinity: {play: X-Session-ID}
corpus: {synthetic: agentx}
mix: {heavy: 50%, light: 50%}
sweep: {sessions: [2, 4], target: 4, warm_up: 2s, measure: 8s, block: 2s}
bar: {ttft_p90: 5.3s, interactivity_p90: 10 tok/s, errors: 2%}
fleet: {local: 2}
replay: {think_time: none}
failure: {back_off_min: 1s}
)";

struct Row {
  std::string_view from;
  std::string_view to;
  std::string_view problem;
};

std::vector<std::string> ProblemsWith(const Row& row) {
  std::string text(kGood);
  const std::size_t at = text.find(row.from);
  EXPECT_NE(at, std::string::npos) << row.from;
  text.replace(at, row.from.size(), row.to);
  Problems problems("s.yaml");
  (void)ReadScenario(text, "", problems);
  return problems.Lines();
}

void ExpectRows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_THAT(ProblemsWith(row), ElementsAre(HasSubstr(std::string(row.problem)))) << row.to;
  }
}

TEST(ScenarioCheck, TheGoodOneHasNoProblem) {
  EXPECT_THAT(ProblemsWith({"name: good", "name: good", ""}), testing::IsEmpty());
}

TEST(ScenarioCheck, Urls) {
  const std::string_view url = "http://127.0.0.1:8080/v1";
  ExpectRows({{url, "ftp://h/v1", "s.yaml:3: target.url: is not an http or https URL"},
              {url, "http:///v1", "has no valid host"},
              {url, "http://", "has no valid host"},
              {url, "http://h:0/v1", "has no valid port"},
              {url, "http://h:65536/v1", "has no valid port"},
              {url, "http://h:8a/v1", "has no valid port"},
              {url, "http://h:/v1", "has no valid host"},
              {url, "http://[::1/v1", "has no valid host"},
              {url, "http://me:secret@h/v1", "has credentials in it"},
              {url, "http://h/v1?a=b", "has a query"},
              {url, "\"http://h/v 1\"", "holds a blank"},
              {url, "\"http://h/v1\\r\\nx: y\"", "holds a blank"}});
}

TEST(ScenarioCheck, SecretsAreNeverRepeated) {
  for (const Row& row :
       std::vector<Row>{{"http://127.0.0.1:8080/v1", "http://me:hunter2@h/v1", ""},
                        {"  model: x\n", "  model: x\n  auth: {bearer_env: hunter2-hunter2}\n", ""},
                        {"x-team: a", "Authorization: Bearer hunter2", ""}}) {
    const std::vector<std::string> lines = ProblemsWith(row);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_THAT(lines[0], testing::Not(HasSubstr("hunter2")));
  }
}

TEST(ScenarioCheck, Headers) {
  ExpectRows({{"x-team: a", "\"x team\": a", "is not a header name"},
              {"x-team: a", "Content-Length: 5", "is a header that every request has already"},
              {"x-team: a", "authorization: x", "use auth.bearer_env"},
              {"x-team: a", "x-team: a, X-Team: b", "is given twice"},
              {"x-team: a", "x-team: \"a\\r\\nb: c\"", "has a control byte in its value"},
              {"play: X-Session-ID", "play: \"X Session\"", "target.affinity.play: is not a"}});
}

TEST(ScenarioCheck, Sweep) {
  ExpectRows(
      {{"[2, 4]", "[4, 4]", "sweep.sessions[1]: is 4 after 4"},
       {"[2, 4]", "[4, 2, 5]", "sweep.sessions[1]: is 2 after 4"},
       {"[2, 4]", "[0, 4]", "sweep.sessions[0]: is 0, it must be from 1 to 16384"},
       {"[2, 4]", "[4, 16385]", "sweep.sessions[1]: is 16385, it must be from 1 to 16384"},
       {"[2, 4]", "[]", "sweep.sessions: must be a list of counts"},
       {"target: 4", "target: 3", "sweep.target: is 3, it must be one of sweep.sessions (2, 4)"},
       {"measure: 8s", "measure: 7s",
        "is 7s, it must be a whole number of blocks of 2s, write "
        "e.g. 6s"},
       {"measure: 8s", "measure: 1s", "write e.g. 2s"},
       {"measure: 8s", "measure: 0s", "sweep.measure: is zero"},
       {"block: 2s", "block: 0s", "sweep.block: is zero"},
       {"block: 2s", "block: 1ms", "makes 8000 blocks of a step, at most 4096"},
       {"warm_up: 2s", "warm_up: -2s", "is not a duration"},
       {"warm_up: 2s", "warm_up: 100h", "sweep.warm_up: is 100h, it must be at most 24h"},
       {"block: 2s", "block: 2s, drain_limit: 0s", "sweep.drain_limit: is zero"}});
}

TEST(ScenarioCheck, MixAndCorpus) {
  ExpectRows({{"heavy: 50%, light: 50%", "heavy: 50%, light: 50.1%", "its shares are 100.1%"},
              {"heavy: 50%, light: 50%", "heavy: 100%, light: 0%", "is no share at all"},
              {"heavy: 50%, light: 50%", "huge: 50%, light: 50%", "is not a known key"},
              {"heavy: 50%, light: 50%", "mid: 50%, light: 50%",
               "mix.mid: has no sessions in the synthetic corpus, write e.g. corpus.mid: 32"},
              {"synthetic: agentx", "synthetic: agentx, heavy: 0", "mix.heavy: has no sessions"},
              {"synthetic: agentx", "synthetic: agentx, scale: 0",
               "corpus.scale: is 0, it must be from 1"},
              {"synthetic: agentx", "synthetic: agenty", "did you mean \"agentx\"?"},
              {"synthetic: agentx", "file: a, seed: 3", "is for a synthetic corpus"},
              {"{synthetic: agentx}", "{}", "names no corpus"}});
}

TEST(ScenarioCheck, Bar) {
  ExpectRows(
      {{"ttft_p90: 5.3s", "ttft_p90: 0s", "bar.ttft_p90: is zero"},
       {"errors: 2%", "errors: 0%", "must lie between 0% and 100%"},
       {"errors: 2%", "errors: 100%", "must lie between 0% and 100%"},
       {"ttft_p90: 5.3s", "ttft_p49: 5.3s", "is below the median"},
       {"ttft_p90: 5.3s", "ttft_p100: 5.3s", "bar.ttft_p100: is all of them"},
       {"interactivity_p90: 10 tok/s", "interactivity_p90: 10s", "is a rate in an unknown"},
       {"{ttft_p90: 5.3s, interactivity_p90: 10 tok/s, errors: 2%}", "{}", "bar: has no limit"}});
}

TEST(ScenarioCheck, FleetAndReplay) {
  ExpectRows(
      {{"{local: 2}", "{}", "has no agents"},
       {"{local: 2}", "{local: 2, agents: 2, listen: \"127.0.0.1:1\"}", "keep one of them"},
       {"{local: 2}", "{local: 0}", "is 0, it must be from 1 to 64"},
       {"{local: 2}", "{agents: 2}", "fleet.listen: is missing, agents need a known port"},
       {"{local: 2}", "{agents: 2, listen: \"10.0.0.1:7420\"}", "is not on the loopback"},
       {"{local: 2}", "{agents: 2, listen: \"localhost\"}", "is not HOST:PORT"},
       {"{local: 2}", "{agents: 2, listen: \"localhost:70000\"}", "is not HOST:PORT"},
       {"{local: 2}", "{local: 2, wait: 0s}", "fleet.wait: is zero"},
       {"back_off_min: 1s", "back_off_min: 40s", "is 30s, it must be at least back_off_min, 40s"},
       {"back_off_min: 1s", "attempts: 0", "is 0, it must be from 1 to 10"},
       {"back_off_min: 1s", "back_off_min: 1s, back_off_max: 25h", "it must be at most"},
       {"back_off_min: 1s", "retry_after_max: 2d", "retry_after_max"},
       {"back_off_min: 1s", "retry_after: maybe", "it must be honour or ignore"},
       {"back_off_min: 1s", "silence: user", "it must be lane or stream"},
       {"back_off_min: 1s", "retry: [refused, ok]", "failure.retry: lists 'ok', each must be one"},
       {"back_off_min: 1s", "retry: [cut]", "lists 'cut'"},
       {"back_off_min: 1s", "end_play: [overflow]", "failure.end_play: lists 'overflow'"},
       {"back_off_min: 1s", "retries: 3", "failure.retries: is not a known key"},
       {"think_time: none", "think_time: some", "it must be none or recorded"},
       {"think_time: none", "history: replayed", "it must be recorded or live"},
       {"think_time: none", "context_limit: 0", "replay.context_limit: is 0"},
       {"think_time: none", "over_limit: skip_calls", "there is none; write e.g. context_limit"},
       {"think_time: none", "context_limit: 128k, over_limit: drop", "replay.over_limit"},
       {"think_time: none", "isolate_prefixes: 1", "write true or false"}});
}

TEST(ScenarioCheck, OutputLengths) {
  ExpectRows({{"think_time: none", "output: {tokens: 70000}", "above target.max_tokens, 65536"},
              {"think_time: none", "output: {tokens: 0}", "replay.output.tokens"},
              {"think_time: none", "output: {}", "replay.output.tokens: is missing"},
              {"think_time: none", "output: {tokens: 3, x: 1}", "replay.output.x"},
              {"think_time: none", "output: shortish", "replay.output"},
              {"think_time: none", "output: [1]", "replay.output"},
              {"think_time: none", "output: free, output_divisor: 2", "divides recorded lengths"}});
}

TEST(ScenarioCheck, ToolsAndExtraFields) {
  const std::string_view model = "  model: x";
  ExpectRows(
      {{"errors: 2%", "tool_calls: 2%", "bar.tool_calls: can only be judged where requests offer"},
       {"errors: 2%", "tool_calls: 100%", "bar.tool_calls"},
       {model, "  model: x\n  tools: maybe", "target.tools"},
       {model, "  model: x\n  extra_body: [1]", "is not a map of fields"},
       {model, "  model: x\n  extra_body: {stream: false}", "sets 'stream', which every request"},
       {model, "  model: x\n  extra_body: {a: {b: 1}, max_tokens: 3}", "sets 'max_tokens'"},
       {model, "  model: x\n  extra_body: {messages: []}", "sets 'messages'"},
       {model, "  model: x\n  extra_body: {model: y}", "sets 'model'"},
       {model, "  model: x\n  extra_body: {ignore_eos: true}", "it is said by replay.output"}});
  const std::string big(17'000, 'x');
  const std::string text = "  model: x\n  extra_body: {a: " + big + "}";
  ExpectRows({{model, text, "at most 16384 are possible"}});
}

}  // namespace
}  // namespace plimsoll
