#include "coordinator/scenario/scenario_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/config/document.h"
#include "common/config/field_reader.h"
#include "common/config/quantities.h"
#include "common/plan/context_limit.h"
#include "coordinator/scenario/bar_reader.h"
#include "coordinator/scenario/evals_reader.h"
#include "coordinator/scenario/extra_body.h"
#include "coordinator/scenario/hooks_reader.h"
#include "coordinator/scenario/kill_switch_reader.h"
#include "coordinator/scenario/notify_reader.h"
#include "coordinator/scenario/scenario_check.h"
#include "coordinator/scenario/signals_reader.h"
#include "coordinator/scenario/sweep_reader.h"
#include "coordinator/scenario/url_form.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// Assigns what was read, if it was.
template <typename T, typename U>
void Take(const std::optional<T>& value, U& into) {
  if (value.has_value()) into = static_cast<U>(*value);
}

void ReadRecipe(FieldReader& top, Recipe& recipe) {
  const ConfigNode* node = top.Find("recipe");
  if (node == nullptr) return;
  if (node->kind == ConfigNode::Kind::kScalar) {
    Take(top.Text("recipe"), recipe.note);
    return;
  }
  std::optional<FieldReader> fields = top.Map("recipe");
  if (!fields.has_value()) return;
  Take(fields->Texts("files"), recipe.files);
  Take(fields->Text("note"), recipe.note);
  fields->Finish();
}

// After target.url was read.
void ReadCertificates(FieldReader& fields, std::string_view folder, TargetPlan& target) {
  const std::optional<std::string> path = fields.Text("ca_file");
  if (!path.has_value()) return;
  target.ca_file = ResolvedPath(folder, *path);
  if (target.url.starts_with("http://")) {
    fields.Problem(
        "ca_file",
        "is for https, and target.url begins with http://; write https:// or take it out");
  }
}

void ReadTarget(FieldReader& top, std::string_view folder, TargetPlan& target,
                bool& cancellation_may_be_lost) {
  if (!top.Require("target", "{url: \"https://host/v1\", model: NAME}")) return;
  std::optional<FieldReader> fields = top.Map("target");
  if (!fields.has_value()) return;
  if (fields->Require("url", "\"https://host/v1\"")) Take(fields->Text("url"), target.url);
  while (target.url.ends_with('/') && !target.url.ends_with("://")) target.url.pop_back();
  if (fields->Require("model", "the name that the gateway serves")) {
    Take(fields->Text("model"), target.model);
  }
  constexpr std::array<std::string_view, 1> kApis = {"chat"};
  (void)fields->Choice("api", kApis);
  if (std::optional<FieldReader> auth = fields->Map("auth")) {
    if (auth->Require("bearer_env", "PLIMSOLL_TARGET_TOKEN, the name of a variable")) {
      Take(auth->Text("bearer_env"), target.bearer_env);
    }
    auth->Finish();
  }
  if (std::optional<FieldReader> headers = fields->Map("headers")) {
    target.headers = headers->AllTexts();
  }
  if (std::optional<FieldReader> affinity = fields->Map("affinity")) {
    Take(affinity->Text("play"), target.affinity_play_header);
    Take(affinity->Text("parent"), target.affinity_parent_header);
    affinity->Finish();
  }
  Take(fields->Count("max_tokens", 1, limits::kPromptTokensMax), target.max_tokens);
  constexpr std::array<std::string_view, 2> kOffOn = {"off", "on"};
  if (const auto tools = fields->Choice("tools", kOffOn)) target.tools = *tools == 1;
  target.extra_body = ReadExtraBody(*fields, "extra_body");
  ReadCertificates(*fields, folder, target);
  constexpr std::array<std::string_view, 2> kCancellation = {"must_reach", "may_be_lost"};
  if (const auto choice = fields->Choice("cancellation", kCancellation)) {
    cancellation_may_be_lost = *choice == 1;
  }
  Take(fields->Time("connect_timeout"), target.connect_timeout);
  Take(fields->Time("idle_timeout"), target.idle_timeout);
  Take(fields->Time("call_deadline"), target.call_deadline);
  fields->Finish();
}

void ReadCorpus(FieldReader& top, std::string_view folder, CorpusSource& corpus) {
  if (!top.Require("corpus", "{file: PATH} or {synthetic: agentx}")) return;
  std::optional<FieldReader> fields = top.Map("corpus");
  if (!fields.has_value()) return;
  const bool file = fields->Find("file") != nullptr;
  const bool synthetic = fields->Find("synthetic") != nullptr;
  if (file == synthetic) {
    top.Problem("corpus", file ? "names a file and a synthetic family, keep one of them"
                               : "names no corpus, write {file: PATH} or {synthetic: agentx}");
  }
  if (const std::optional<std::string> path = fields->Text("file")) {
    corpus.file = ResolvedPath(folder, *path);
  }
  constexpr std::array<std::string_view, 1> kFamilies = {"agentx"};
  if (const auto family = fields->Choice("synthetic", kFamilies)) {
    corpus.synthetic = kFamilies[*family];
  }
  Take(fields->Count("seed", 0, std::numeric_limits<std::uint64_t>::max()), corpus.seed);
  // More sessions than this say nothing new, and a corpus is held in memory.
  constexpr std::uint64_t kSessionsMax = 10'000;
  Take(fields->Count("heavy", 0, kSessionsMax), corpus.heavy);
  Take(fields->Count("mid", 0, kSessionsMax), corpus.mid);
  Take(fields->Count("light", 0, kSessionsMax), corpus.light);
  // Beyond this nothing is left of a session's shape.
  Take(fields->Count("scale", 1, 200), corpus.scale);
  if (file && !synthetic) {
    for (const std::string_view key : {"seed", "heavy", "mid", "light", "scale"}) {
      if (fields->Find(key) == nullptr) continue;
      fields->Problem(key, "is for a synthetic corpus, a file has it fixed; take it out");
    }
  }
  fields->Finish();
}

void ReadMix(FieldReader& top, std::vector<TierPlan>& mix) {
  if (!top.Require("mix", "{heavy: 50%, light: 50%}")) return;
  std::optional<FieldReader> fields = top.Map("mix");
  if (!fields.has_value()) return;
  for (const std::string& key : fields->Keys()) {
    for (const auto& [name, tier] : kTierNames) {
      if (key != name) continue;
      const std::optional<double> share = fields->Share(key);
      if (!share.has_value()) continue;
      // In millionths, so that "100% in all" is exact; finer shares cannot matter.
      const auto parts = static_cast<std::uint32_t>(std::lround(*share * 1e6));
      if (parts == 0) {
        fields->Problem(key, "is no share at all, take the tier out");
        continue;
      }
      mix.push_back({key, tier, parts});
    }
  }
  for (const auto& [name, tier] : kTierNames) (void)fields->Find(name);
  fields->Finish();
}

void ReadFleet(FieldReader& top, FleetSpec& fleet) {
  if (!top.Require("fleet", "{agents: 2} or {local: 2}")) return;
  std::optional<FieldReader> fields = top.Map("fleet");
  if (!fields.has_value()) return;
  const bool local = fields->Find("local") != nullptr;
  const bool agents = fields->Find("agents") != nullptr;
  if (local == agents) {
    top.Problem("fleet", local ? "has local agents and agents that dial in, keep one of them"
                               : "has no agents, write {agents: 2} or {local: 2}");
  }
  // Each local agent is a process with a loop per core; more than this only fight for the cores.
  constexpr std::uint64_t kLocalMax = 64;
  Take(fields->Count("local", 1, kLocalMax), fleet.local);
  Take(fields->Count("agents", 1, limits::kAgentsMax), fleet.agents);
  if (agents && !local && fields->Find("listen") == nullptr) {
    fields->Problem("listen", "is missing, agents need a known port; write e.g. 127.0.0.1:7420");
  }
  Take(fields->Text("listen"), fleet.listen);
  Take(fields->Time("wait"), fleet.wait);
  fields->Finish();
}

// recorded, free or {tokens: N}.
void ReadOutput(FieldReader& fields, ReplaySpec& replay) {
  const ConfigNode* node = fields.Find("output");
  if (node == nullptr) return;
  if (node->kind == ConfigNode::Kind::kMap) {
    std::optional<FieldReader> output = fields.Map("output");
    if (!output.has_value() || !output->Require("tokens", "300")) return;
    replay.output_mode = OutputMode::kFixed;
    Take(output->Count("tokens", 1, limits::kPromptTokensMax), replay.output_tokens);
    return output->Finish();
  }
  constexpr std::array<std::string_view, 2> kModes = {"recorded", "free"};
  if (const auto choice = fields.Choice("output", kModes)) {
    replay.output_mode = *choice == 0 ? OutputMode::kRecorded : OutputMode::kFree;
  }
}

void ReadReplay(FieldReader& top, ReplaySpec& replay) {
  std::optional<FieldReader> fields = top.Map("replay");
  if (!fields.has_value()) return;
  constexpr std::array<std::string_view, 2> kThinkTimes = {"none", "recorded"};
  if (const auto choice = fields->Choice("think_time", kThinkTimes)) {
    replay.think_time = *choice == 0 ? ThinkTime::kNone : ThinkTime::kRecorded;
  }
  Take(fields->Time("think_time_cap"), replay.think_time_cap);
  ReadOutput(*fields, replay);
  Take(fields->Count("output_divisor", 1, 1'000'000), replay.output_divisor);
  Take(fields->Flag("isolate_prefixes"), replay.isolate_prefixes);
  constexpr std::array<std::string_view, 2> kHistories = {"recorded", "live"};
  if (const auto choice = fields->Choice("history", kHistories)) {
    replay.history = *choice == 0 ? History::kRecorded : History::kLive;
  }
  Take(fields->Count("context_limit", 1, limits::kPromptTokensMax), replay.context_limit.tokens);
  Take(fields->Choice("over_limit", kOverLimitNames), replay.context_limit.policy);
  if (fields->Find("over_limit") != nullptr && fields->Find("context_limit") == nullptr) {
    fields->Problem("over_limit",
                    "is about calls over a limit, and there is none; write e.g. "
                    "context_limit: 128k");
  }
  fields->Finish();
}

// A list of outcomes that a client can react to.
void ReadOutcomes(FieldReader& fields, std::string_view key, OutcomeSet& into) {
  const std::optional<std::vector<std::string>> names = fields.Texts(key);
  if (!names.has_value()) return;
  std::vector<std::string> known;
  for (unsigned value = 1; value < kOutcomes; ++value) {
    const auto outcome = static_cast<Outcome>(value);
    if (kAnsweredFailures.Contains(outcome)) known.emplace_back(Name(outcome));
  }
  into = {};
  for (const std::string& name : *names) {
    const std::optional<Outcome> outcome = OutcomeNamed(name);
    if (outcome.has_value() && kAnsweredFailures.Contains(*outcome)) {
      into.Add(*outcome);
    } else {
      fields.Problem(
          key, fmt::format("lists '{}', each must be one of {}", name, fmt::join(known, ", ")));
    }
  }
}

void ReadFailure(FieldReader& top, FailurePolicy& failure) {
  std::optional<FieldReader> fields = top.Map("failure");
  if (!fields.has_value()) return;
  Take(fields->Count("attempts", 1, 10), failure.attempts_max);
  Take(fields->Time("back_off_min"), failure.back_off_min);
  Take(fields->Time("back_off_max"), failure.back_off_max);
  constexpr std::array<std::string_view, 2> kRetryAfter = {"honour", "ignore"};
  if (const auto choice = fields->Choice("retry_after", kRetryAfter)) {
    failure.honour_retry_after = *choice == 0;
  }
  Take(fields->Time("retry_after_max"), failure.retry_after_max);
  ReadOutcomes(*fields, "retry", failure.retry);
  ReadOutcomes(*fields, "end_play", failure.end_play);
  constexpr std::array<std::string_view, 2> kSilences = {"lane", "stream"};
  if (const auto choice = fields->Choice("silence", kSilences)) {
    failure.silence = *choice == 0 ? Silence::kLane : Silence::kStream;
  }
  fields->Finish();
}

// A length alone, or with the hours between which it may be held.
void ReadWindow(FieldReader& top, ScenarioWindow& window) {
  const auto take = [&window](FieldReader& fields, std::string_view key) {
    const std::optional<Duration> time = fields.Time(key);
    if (!time) return;
    if (*time > Duration{0} && *time <= kPhaseMax) {
      window.length = *time;
    } else {
      fields.Problem(key, fmt::format("is {}, it must be above zero and at most {}",
                                      PrintDuration(*time), PrintDuration(kPhaseMax)));
    }
  };
  const ConfigNode* node = top.Find("window");
  if (node == nullptr) return;
  if (node->kind != ConfigNode::Kind::kMap) return take(top, "window");
  std::optional<FieldReader> fields = top.Map("window");
  if (!fields) return;
  take(*fields, "length");
  Take(fields->Text("between"), window.between);
  fields->Finish();
}

void ReadCost(FieldReader& top, std::optional<CostSpec>& cost) {
  std::optional<FieldReader> fields = top.Map("cost");
  if (!fields.has_value()) return;
  CostSpec spec;
  // More nodes than any one deployment has.
  if (fields->Require("nodes", "4")) Take(fields->Count("nodes", 1, 100'000), spec.nodes);
  if (fields->Require("per_node_hour", "14.40 USD")) {
    if (std::optional<Money> price = fields->Price("per_node_hour")) {
      spec.per_node_hour = *std::move(price);
      if (spec.per_node_hour.micros == 0) {
        fields->Problem("per_node_hour", "is zero, write what a node costs or take cost out");
      }
    }
  }
  fields->Finish();
  cost = std::move(spec);
}

// Divides the shares by what they have in common: {500000, 500000} is {1, 1}.
void Reduce(std::vector<TierPlan>& mix) {
  std::uint32_t common = 0;
  for (const TierPlan& tier : mix) common = std::gcd(common, tier.share);
  if (common == 0) return;
  for (TierPlan& tier : mix) tier.share /= common;
}

}  // namespace

Scenario ReadScenario(std::string_view text, std::string_view folder, Problems& problems) {
  Scenario scenario;
  const std::optional<ConfigNode> root = ParseDocument(text, problems);
  if (!root.has_value()) return scenario;
  FieldReader top(*root, "", problems);
  if (root->kind != ConfigNode::Kind::kMap) return scenario;
  if (top.Require("name", "recipe-7")) Take(top.Text("name"), scenario.name);
  ReadRecipe(top, scenario.recipe);
  ReadTarget(top, folder, scenario.target, scenario.cancellation_may_be_lost);
  ReadCorpus(top, folder, scenario.corpus);
  ReadMix(top, scenario.mix);
  ReadSweep(top, scenario.sweep);
  ReadLadders(top, scenario.tier_ladders);
  ReadBar(top, scenario.mix, scenario.bar);
  ReadSignals(top, folder, problems, scenario.signals);
  ReadKillSwitch(top, folder, problems, scenario.signals, scenario.kill_switch);
  ReadFleet(top, scenario.fleet);
  ReadReplay(top, scenario.replay);
  ReadCost(top, scenario.cost);
  ReadEvals(top, folder, scenario.evals);
  ReadHooks(top, folder, scenario.hooks, scenario.guardian_grace);
  ReadWindow(top, scenario.window);
  ReadNotify(top, folder, problems, scenario.notify);
  ReadFailure(top, scenario.replay.failure);
  Take(top.Count("seed", 0, std::numeric_limits<std::uint64_t>::max()), scenario.seed);
  top.Finish();
  CheckScenario(scenario, *root, problems);
  CheckEvals(scenario.evals, scenario.bar.evals, *root, problems);
  Reduce(scenario.mix);
  return scenario;
}

StatusOr<Scenario> ParseScenario(std::string_view text, const std::string& file,
                                 std::string_view folder) {
  Problems problems(file);
  Scenario scenario = ReadScenario(text, folder, problems);
  RETURN_IF_ERROR(problems.ToStatus());
  return scenario;
}

}  // namespace plimsoll
