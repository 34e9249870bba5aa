#include "coordinator/cli/peak_command.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/real_clock.h"
#include "common/base/text.h"
#include "common/base/url.h"
#include "common/config/quantities.h"
#include "common/corpus/stats.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/cli/corpus_files.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/cli/peak_text.h"
#include "coordinator/cli/peak_words.h"
#include "coordinator/cli/prometheus_client.h"
#include "coordinator/cli/scenario_files.h"
#include "coordinator/run/run_machine.h"

namespace plimsoll {
namespace {

// Requests in flight as engines' pages name them: in a batch, and waiting for one.
const std::map<std::string, std::string>& Queries() {
  static const std::map<std::string, std::string> queries = {
      {"vllm", "sum(vllm:num_requests_running) + sum(vllm:num_requests_waiting)"},
      {"sglang", "sum(sglang:num_running_reqs) + sum(sglang:num_queue_reqs)"},
      {"trtllm", "sum(trtllm_num_requests_running) + sum(trtllm_num_requests_waiting)"}};
  return queries;
}

struct Words {
  std::string url;
  std::string query;
  std::string kind = "vllm";
  std::string from;
  std::string to;
  std::string last;
  std::string step = "15s";
  std::string scenario;
  std::string corpus;
  std::string bearer_env;
  std::string ca_file;
};

StatusOr<PrometheusServer> ServerOf(const Words& words) {
  PrometheusServer server{.url = words.url, .ca_file = words.ca_file};
  while (!server.url.empty() && server.url.back() == '/') server.url.pop_back();
  if (HostOfUrl(server.url).empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "--prometheus takes an http or https address, as http://prometheus:9090, and '{}' "
        "is none",
        Printable(words.url)));
  }
  if (words.bearer_env.empty()) return server;
  const char* token = std::getenv(words.bearer_env.c_str());
  if (token == nullptr || *token == '\0') {
    return absl::InvalidArgumentError(
        fmt::format("the token is not here: set {} in the environment of this process",
                    Printable(words.bearer_env)));
  }
  server.bearer_token = token;
  return server;
}

// All tiers of a corpus, each with the share of its sessions.
RunPlan PlanOf(const Corpus& corpus) {
  RunPlan plan;
  for (const Tier tier : {Tier::kHeavy, Tier::kMid, Tier::kLight, Tier::kUnspecified}) {
    std::uint32_t sessions = 0;
    for (const Session& session : corpus.sessions) sessions += session.tier == tier ? 1 : 0;
    if (sessions > 0) plan.tiers.push_back({NameOf(tier), tier, sessions});
  }
  return plan;
}

Status AddMix(const Words& words, PeakLook& look) {
  RunPlan plan;
  if (!words.scenario.empty()) {
    ASSIGN_OR_RETURN(const LoadedScenario loaded, LoadScenario(words.scenario));
    ASSIGN_OR_RETURN(plan, MakeRunPlan(loaded.scenario, *loaded.corpus, {.run_id = "peak"}));
    look.mix = InFlightOf(plan, *loaded.corpus);
  } else if (!words.corpus.empty()) {
    const auto bytes = ReadWholeFile(words.corpus, limits::kCorpusBytesMax);
    if (!bytes.ok()) return Annotate(bytes.status(), words.corpus);
    const auto corpus = DecodeCorpus(*bytes);
    if (!corpus.ok()) return Annotate(corpus.status(), words.corpus);
    plan = PlanOf(*corpus);
    look.mix = InFlightOf(plan, *corpus);
  }
  look.think_time = plan.think_time;
  look.think_time_cap = plan.think_time_cap;
  return absl::OkStatus();
}

int Fail(const Status& status, ExitCode code) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(status)).c_str());
  return static_cast<int>(code);
}

// The query's own mistakes are the caller's; a server that cannot be asked is not.
ExitCode CodeOf(const Status& status) {
  return absl::IsInvalidArgument(status) ? ExitCode::kUsage : ExitCode::kCouldNotRun;
}

int Look(const Words& words) {
  const auto server = ServerOf(words);
  if (!server.ok()) return Fail(server.status(), ExitCode::kUsage);
  const auto range = RangeOf(words.from, words.to, words.last, RealClock().WallNow());
  if (!range.ok()) return Fail(range.status(), ExitCode::kUsage);
  const auto step = ParseStep(words.step);
  if (!step.ok()) return Fail(step.status(), ExitCode::kUsage);
  const auto parts = SplitRange(*range, *step);
  if (!parts.ok()) return Fail(parts.status(), ExitCode::kUsage);
  PeakLook look{.url = server->url,
                .query = words.query.empty() ? Queries().at(words.kind) : words.query,
                .range = *range,
                .step = *step};
  // Before anybody is asked: a scenario with a mistake is said at once.
  if (const Status mix = AddMix(words, look); !mix.ok()) return Fail(mix, ExitCode::kUsage);
  const auto points = QueryRange(*server, look.query, *parts, *step);
  if (!points.ok()) return Fail(points.status(), CodeOf(points.status()));
  look.gauge = Summarize(*points, *range, *step);
  if (!look.gauge.busiest) {
    return Fail(absl::NotFoundError(WhyNoPeak(look)), ExitCode::kNoData);
  }
  std::fputs(PeakText(look).c_str(), stdout);
  return 0;
}

}  // namespace

int PeakMain(int argc, const char* const* argv) {
  CLI::App app(
      "Finds the busiest minute of real traffic in Prometheus, and how many sessions of a corpus\n"
      "keep as many requests in flight: a target to ask of a recipe. Sends nothing to the engine.",
      "peak");
  Words words;
  app.add_option("--prometheus", words.url, "Address of the server, as http://prometheus:9090")
      ->required();
  CLI::Option* query =
      app.add_option("--query", words.query, "Requests in flight, in PromQL")->option_text("EXPR");
  app.add_option("--kind", words.kind,
                 "The engine whose gauges to add up: vllm, sglang, trtllm (vllm)")
      ->check(CLI::IsMember({"vllm", "sglang", "trtllm"}))
      ->excludes(query);
  app.add_option("--from", words.from, "First instant: 2026-11-30T14:00:00Z, 2026-11-30, seconds");
  app.add_option("--to", words.to, "Last instant (now)");
  app.add_option("--last", words.last, "Instead: so long before now (7d)");
  app.add_option("--step", words.step, "Between samples: as often as Prometheus scrapes (15s)");
  CLI::Option* scenario =
      app.add_option("--scenario", words.scenario, "Its corpus, mix and pauses");
  app.add_option("--corpus", words.corpus, "All sessions of this corpus file, without pauses")
      ->excludes(scenario);
  app.add_option("--bearer-env", words.bearer_env, "Environment variable that holds a token");
  app.add_option("--ca-file", words.ca_file, "PEM bundle for https (the system's)");
  app.footer(
      "Exit codes: 0 found, 3 nothing to find in what Prometheus has, 4 it could not be asked,\n"
      "64 usage or scenario error.");
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  return Look(words);
}

}  // namespace plimsoll
