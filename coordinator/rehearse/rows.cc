#include "coordinator/rehearse/rows.h"

#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "coordinator/rehearse/rows_outside.h"

namespace plimsoll::rehearse {
namespace {

using Rows = std::vector<Row>;

// Measured time runs from about 4.5 s after preflight's first call on: 6.5 s is in its first half
// on a quick machine, and on a slow one in its beginning.
std::string Middle(const std::string& kind) {
  return fmt::format("[{{kind: {}, at: 6500ms, from: first_request}}]", kind);
}
// Before the load, after preflight.
std::string Early(const std::string& kind) {
  return fmt::format("[{{kind: {}, at: 2500ms, from: first_request}}]", kind);
}

Settings Servers(const std::string& judge, Settings more = {}) {
  Settings settings = {
      {"signals.gateway", R"({url: "{root}/stats/prometheus", kind: envoy, name: front})"},
      {"signals.engines", R"([{url: "{root}/metrics/engine/0", kind: vllm, name: engine-0}, )"
                          R"({url: "{root}/metrics/engine/1", kind: vllm, name: engine-1}])"},
      {"signals.every", "200ms"},
      {"signals.judge", judge},
      {"signals.kv_full", "{fill: 95%, for: 3s}"},
      {"signals.drain", "{within: 3s}"},
  };
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

Expected Blocks(const std::string& words) {
  return {.exit_code = 4, .words = {words, "preflight blocks"}};
}

Expected FailsOnErrors(const std::string& outcome) {
  return {
      .exit_code = 1, .verdicts = {"fail"}, .parts = {{"errors", "fail"}}, .outcomes = {outcome}};
}

void Add(Rows more, Rows* rows) {
  rows->insert(rows->end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

Rows BeforeTheRun() {
  return {
      {.name = "no-fault",
       .fault = "nothing: the machine and the rig are able to hold the load of the other rows",
       .scenario = Servers("both"),
       .expect = {.verdicts = {"pass"}, .drain = "back"}},
      {.name = "gateway-gone",
       .fault = "the gateway has died before the run begins",
       .gateway_gone = true,
       .expect = Blocks("cannot be reached")},
      {.name = "gateway-html",
       .fault = "the gateway answers everything with a web page",
       .gateway = {{"html", "true"}},
       .expect = Blocks("does not answer as a chat completion API")},
      {.name = "refused-from-start",
       .fault = "every call is answered 429 from the beginning",
       .gateway = {{"faults", "[{kind: refuse, status: 429, retry_after: 2s}]"}},
       .expect = Blocks("refuses calls (HTTP 429)")},
      {.name = "slow-start",
       .fault =
           "503 with Retry-After until the engine is up, which takes longer than the preflight",
       .gateway = {{"faults", "[{kind: slow_start, for: 60s, retry_after: 5s}]"}},
       .expect = Blocks("refuses calls (HTTP 503)")},
      {.name = "context-limit",
       .fault = "the context limit is below the corpus's first prompts",
       .gateway = {{"context_limit", "200"}},
       .expect = Blocks("context limit is below the corpus's first prompts")},
  };
}

Rows DuringAStep() {
  const Settings longer = {{"sweep.measure", "6s"}};
  return {
      {.name = "gateway-crash",
       .fault = "the gateway's process ends in the middle of a step",
       .gateway = {{"faults", Middle("crash")}},
       .scenario = longer,
       .expect = FailsOnErrors("connect_error")},
      {.name = "connection-reset",
       .fault = "connections are reset in the middle of an answer",
       .gateway = {{"faults", Middle("truncate, form: reset, after_tokens: 3")}},
       .scenario = longer,
       .expect = FailsOnErrors("truncated")},
      {.name = "429-storm",
       .fault = "every call is answered 429 with Retry-After",
       .gateway = {{"faults", Middle("refuse, status: 429, retry_after: 2s")}},
       .scenario = longer,
       .expect = FailsOnErrors("refused")},
      {.name = "server-errors",
       .fault = "every call is answered 500",
       .gateway = {{"faults", Middle("refuse, status: 500")}},
       .scenario = longer,
       .expect = FailsOnErrors("http_error")},
      {.name = "stall",
       .fault = "answers fall silent after a token",
       .gateway = {{"faults", Middle("stall, after_tokens: 1")}},
       .scenario = {{"sweep.measure", "6s"},
                    {"target.idle_timeout", "800ms"},
                    {"failure", "{attempts: 1, back_off_min: 100ms, back_off_max: 200ms}"}},
       .expect = FailsOnErrors("idle_timeout")},
      {.name = "slow-start-silent",
       .fault = "an engine that is starting says nothing at all until it is up",
       .gateway = {{"faults", "[{kind: slow_start, form: silent, at: 7s, for: 60s}]"}},
       .scenario = {{"sweep.measure", "6s"}, {"target.idle_timeout", "800ms"}},
       .expect = FailsOnErrors("idle_timeout")},
      {.name = "error-after-200",
       .fault = "an error object in the stream, after a 200 and a token",
       .gateway = {{"faults", Middle("error_after_200, after_tokens: 1")}},
       .scenario = longer,
       .expect = FailsOnErrors("stream_error")},
      {.name = "truncated-stream",
       .fault = "answers end without a finish reason",
       .gateway = {{"faults", Middle("truncate, after_tokens: 1, form: end")}},
       .scenario = longer,
       .expect = FailsOnErrors("truncated")},
      {.name = "garbage",
       .fault = "data in the stream that is no JSON",
       .gateway = {{"faults", Middle("garbage, after_tokens: 1")}},
       .scenario = longer,
       .expect = FailsOnErrors("stream_error")},
      {.name = "context-limit-mid-run",
       .fault = "prompts over a context limit are refused from the middle of the step on",
       .gateway = {{"faults", Middle("context_limit, tokens: 300, form: vllm")}},
       .scenario = {{"sweep.measure", "6s"},
                    {"corpus", "{synthetic: agentx, seed: 1, heavy: 4, light: 4, scale: 40}"},
                    {"mix", "{heavy: 50%, light: 50%}"}},
       .expect = FailsOnErrors("context_overflow")},
  };
}

Rows SlowOrWrong() {
  return {
      {.name = "cache-off",
       .fault = "no prefix is found in the engine's cache, so that each prompt costs its length",
       .gateway = {{"faults", Early("cache_off")},
                   {"engine.prefill_tokens_per_s", "10000"},
                   {"engine.prefill_base", "10ms"}},
       .scenario = {{"bar", "{ttft_p50: 150ms, errors: 10%}"}},
       .expect = {.exit_code = 1, .verdicts = {"fail"}, .parts = {{"TTFT", "fail"}}}},
      {.name = "slower-engine",
       .fault = "everything takes four times as long",
       .gateway = {{"faults", Early("slower, factor: 4")}},
       .scenario = {{"bar", "{ttft_p50: 200ms, errors: 10%}"}, {"sweep.measure", "8s"}},
       .expect = {.exit_code = 1, .verdicts = {"fail"}, .parts = {{"TTFT", "fail"}}}},
      {.name = "tool-calls-under-load",
       .fault = "tool calls are malformed while nine or more requests are in flight",
       .gateway = {{"tool_call_probability", "1"},
                   {"faults", "[{kind: malformed_tool_calls, in_flight_min: 9}]"}},
       .scenario = {{"target.tools", "on"},
                    {"sweep.sessions", "[4, 16]"},
                    {"sweep.target", "16"},
                    {"bar", "{ttft_p50: 5s, errors: 10%, tool_calls: 20%}"}},
       .expect = {.exit_code = 1,
                  .verdicts = {"pass", "fail"},
                  .parts = {{"tool calls", "fail"}, {"TTFT", "pass"}, {"errors", "pass"}}}},
      {.name = "evals-under-load",
       .fault = "questions are answered wrong while nine or more requests are in flight",
       .gateway = {{"answers", "answers.jsonl"},
                   {"faults", "[{kind: wrong_answers, in_flight_min: 9}]"}},
       .scenario = {{"sweep.sessions", "[4, 14]"},
                    {"sweep.target", "14"},
                    {"bar", "{ttft_p50: 5s, errors: 10%, evals: 80%}"},
                    {"evals", "{set: basic, share: 20%}"}},
       .answers = true,
       .expect = {.exit_code = 1, .verdicts = {"pass", "fail"}, .words = {"evals: "}}},
      {.name = "kv-full",
       .fault = "97% of the engines' KV cache is taken and not given back",
       .gateway = {{"faults", Early("kv_full, share: 97%")}},
       .scenario = Servers("both", {{"sweep.sessions", "[6, 8]"}}),
       .expect = {.verdicts = {"pass"}, .words = {"stopped by KV cache"}}},
  };
}

Rows Orphans() {
  const std::string longs =
      "{kind: uncapped, tokens: 60k, probability: 15%, at: 7s, from: first_request}";
  // Preflight, which proves that hang-ups arrive, is over by then.
  const std::string orphan = "{kind: orphan, at: 5s, from: first_request}";
  return {
      {.name = "orphaned-work",
       .fault = "calls that the run's end hangs up on go on in the engine",
       .gateway = {{"faults", fmt::format("[{}, {}]", longs, orphan)}},
       .scenario = Servers(
           "both",
           {{"sweep.drain_limit", "2s"}, {"sweep.measure", "6s"}, {"bar", "{ttft_p50: 5s}"}}),
       .expect = {.verdicts = {"pass"}, .drain = "not back", .words = {"orphaned work"}}},
      {.name = "disconnect-ignored",
       .fault = "the client hangs up at its deadline, and the engine never hears of it",
       .gateway = {{"faults", fmt::format("[{{kind: uncapped, tokens: 60k, probability: 60%, at: "
                                          "7s, from: first_request}}, {}]",
                                          orphan)}},
       .scenario = Servers("both", {{"target.call_deadline", "1s"}, {"sweep.measure", "6s"}}),
       .expect = {.exit_code = 1,
                  .verdicts = {"fail"},
                  .parts = {{"errors", "fail"}},
                  .outcomes = {"deadline"},
                  .drain = "not back",
                  .words = {"orphaned work"}}},
      {.name = "disconnect-from-start",
       .fault = "no hang-up ever reaches the engine, from the beginning",
       .gateway = {{"faults", "[{kind: orphan}]"}},
       .scenario = Servers("both"),
       .needs = "target.cancellation",
       .needs_value = "may_be_lost",
       .expect = Blocks("cancellation does not reach the engine")},
      {.name = "queue-never-drains",
       .fault = "nothing that waits in the engine's queue is ever started or dropped",
       .gateway = {{"faults", Middle("stuck_queue")}},
       .scenario = Servers("both", {{"target.idle_timeout", "800ms"}, {"sweep.measure", "6s"}}),
       .expect = {.exit_code = 1,
                  .verdicts = {"fail"},
                  .outcomes = {"idle_timeout"},
                  .drain = "not back"}},
  };
}

Rows Pages() {
  const std::string gone = Middle("metrics_missing, pages: engines");
  // So often that one of them is within the step's time however slowly it began.
  std::string resets;
  for (const int at : {4, 6, 8, 10, 12, 14, 16}) {
    resets += fmt::format(
        "{}{{kind: metrics_reset, form: restart, copies: [1], at: {}s, from: first_request}}",
        resets.empty() ? "" : ", ", at);
  }
  return {
      {.name = "metrics-missing",
       .fault = "the engines' pages are gone; clients and servers judge",
       .gateway = {{"faults", gone}},
       .scenario = Servers("both"),
       .expect = {.verdicts = {"pass"}, .words = {"the page could not be read"}}},
      {.name = "metrics-missing-server",
       .fault = "the engines' pages are gone; servers alone judge",
       .gateway = {{"faults", gone}},
       .scenario = Servers("server"),
       .expect = {.exit_code = 3,
                  .verdicts = {"no data", "no data"},
                  .words = {"the page could not be read"}}},
      {.name = "metrics-stale",
       .fault = "the engines' pages stay as they were; servers alone judge",
       .gateway = {{"faults", Early("metrics_stale, pages: engines")}},
       .scenario = Servers("server"),
       .expect = {.exit_code = 3,
                  .verdicts = {"no data", "no data"},
                  .words = {"nothing was observed"}}},
      {.name = "metrics-reset",
       .fault = "an engine's counters begin at 0 again; clients and servers judge",
       .gateway = {{"faults", fmt::format("[{}]", resets)}},
       .scenario = Servers("both"),
       .expect = {.verdicts = {"pass"}, .words = {"engine-1: the process restarted"}}},
      {.name = "buckets-undecided",
       .fault = "the limit lies between two buckets of the engine's histogram; servers alone judge",
       .gateway = {{"engine.copies", "1"}, {"engine.prefill_base", "100ms"}},
       .scenario = Servers("server",
                           {{"signals.engines", R"([{url: "{root}/metrics/engine/0", kind: vllm, )"
                                                R"(name: engine-0}])"},
                            {"sweep.sessions", "[7]"},
                            {"sweep.target", "7"},
                            {"bar", "{ttft_p50: 530ms}"}}),
       .expect = {.exit_code = 2, .verdicts = {"too close"}, .words = {"cannot be resolved"}}},
  };
}

}  // namespace

std::vector<Row> BuiltinRows() {
  Rows rows;
  for (Rows group :
       {BeforeTheRun(), DuringAStep(), SlowOrWrong(), Orphans(), Pages(), OutsideRows()}) {
    Add(std::move(group), &rows);
  }
  return rows;
}

}  // namespace plimsoll::rehearse
