#include "coordinator/report/json_report.h"

#include <cmath>

#include "common/json/json.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/report/agent_figures.h"
#include "coordinator/report/eval_json.h"
#include "coordinator/report/hook_json.h"
#include "coordinator/report/replay_json.h"
#include "coordinator/report/server_json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

constexpr int kSchemaVersion = 1;

Json Number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}
Json Number(const std::optional<double>& value) {
  return value ? Number(*value) : Json();
}
template <typename Count>
Json Number(const std::optional<Count>& value) {
  return value ? Json(*value) : Json();
}
// In milliseconds.
Json Number(const std::optional<Duration>& time) {
  return time ? Json(static_cast<double>(time->count()) * 1e-6) : Json();
}
// What is not known is null.
Json Known(bool known, Json value) {
  return known ? std::move(value) : Json();
}

Json Of(const ShownPercentile& percentile) {
  return {{"value", Number(percentile.value)}, {"infinite", percentile.infinite}};
}

Json LeanName(Lean lean) {
  if (lean == Lean::kNone) return nullptr;
  return lean == Lean::kPass ? "pass" : "fail";
}

Json Of(const LimitOrigin& origin) {
  return {{"runs", origin.runs},
          {"sessions", origin.sessions},
          {"factor", Number(origin.factor)},
          {"baseline", Number(origin.baseline)},
          {"low_95", Number(origin.low)},
          {"high_95", Number(origin.high)}};
}

Json Of(const Limit& limit) {
  Json json = {{"metric", Name(limit.metric)},
               {"limit", Number(limit.value)},
               {"unit", TraitsOf(limit.metric).unit},
               {"key", PartKey(limit)},
               {"tier", limit.tier.empty() ? Json() : Json(limit.tier)},
               {"origin", limit.origin ? Of(*limit.origin) : Json()}};
  if (!IsBadShare(limit.metric)) json["quantile"] = Number(limit.quantile);
  return json;
}

Json Of(const PartVerdict& part) {
  Json json = Of(part.limit);
  json["verdict"] = Name(part.verdict);
  json["lean"] = LeanName(part.lean);
  json["reason"] = part.reason;
  json["n"] = part.n;
  json["value"] = Number(part.value);
  json["value_infinite"] = part.value_infinite;
  json["value_low_95"] = Of(part.value_low);
  json["value_high_95"] = Of(part.value_high);
  json["value_without_failed_calls"] = Number(part.value_ok_only);
  const char* share = part.limit.metric == Metric::kErrors      ? "failed_share"
                      : part.limit.metric == Metric::kToolCalls ? "malformed_share"
                                                                : "within_share";
  json[share] = Known(part.n > 0, {{"value", Number(part.share_within)},
                                   {"low_95", Number(part.share_low)},
                                   {"high_95", Number(part.share_high)}});
  json["margin_of_limit"] = Number(part.margin);
  return json;
}

constexpr const char* kLaneStateKeys[kLaneStates] = {
    "in_flight",         "planned_delay", "idle_refused",   "idle_late",
    "idle_client_error", "idle_dead_man", "idle_no_session"};

void Put(const std::vector<AgentFigure>& figures, bool told, Json* to) {
  for (const AgentFigure& figure : figures) {
    const bool time = std::holds_alternative<std::optional<Duration>>(figure.value);
    (*to)[std::string(figure.name) + (time ? "_ms" : "")] =
        Known(told, std::visit([](const auto& value) { return Number(value); }, figure.value));
  }
}

Json AgentOf(const AgentEvidence& agent, bool told) {
  Json json = {
      {"slot", agent.slot}, {"name", agent.name}, {"lanes", agent.lanes}, {"lost", agent.lost}};
  Put(FiguresOf(agent), told, &json);
  Put(FiguresOf(agent.host), told, &json["host"]);
  return json;
}

Json Of(const Identity& identity) {
  return {{"name", identity.name},
          {"left", identity.left},
          {"right", identity.right},
          {"tolerance", identity.tolerance},
          {"holds", identity.holds()}};
}

Json Of(const Suspicion& suspicion) {
  return {{"check", Name(suspicion.check)}, {"text", suspicion.text}};
}
Json Of(const std::optional<BracketEnd>& end) {
  if (!end) return {};
  return {{"sessions", end->sessions}, {"requests_in_flight", Number(end->requests_in_flight)}};
}
Json Of(const LadderResult& ladder) {
  const Bracket& bracket = ladder.bracket;
  return {{"tier", ladder.tier},
          {"sentence", bracket.sentence},
          {"last_passed", Of(bracket.passed)},
          {"first_failed", Of(bracket.failed)}};
}

Json Of(const ReportedRecipeFile& file) {
  return {{"path", file.path},
          {"sha256", file.digest},
          {"bytes_kept", file.bytes},
          {"secrets_left_out", file.secrets_left_out}};
}

Json OutcomesOf(const ErrorSummary& errors) {
  Json json = Json::object();
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    json[std::string(Name(static_cast<Outcome>(i)))] = errors.outcomes[i];
  }
  return json;
}

Json Of(const PartCapacity& part);
Json Of(const ReportedStep& step);

template <typename T>
Json ListOf(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(Of(value));
  return list;
}

Json TtftOf(const TtftSummary& ttft) {
  return {{"n", ttft.n},
          {"p50_s", Of(ttft.p50_s)},
          {"p90_s", Of(ttft.p90_s)},
          {"p90_without_failed_calls_s", Of(ttft.p90_ok_s)},
          {"p90_from_sent_s", Of(ttft.p90_sent_s)},
          {"p95_s", Of(ttft.p95_s)},
          {"p99_s", Of(ttft.p99_s)}};
}

Json RateOf(const RateSummary& rate) {
  return {{"n", rate.n},
          {"answered_in_one_chunk", rate.one_chunk},
          {"reached_by_50_percent_tok_s", Number(rate.reached_by_50_tok_s)},
          {"reached_by_90_percent_tok_s", Number(rate.reached_by_90_tok_s)},
          {"reached_by_90_percent_without_failed_calls_tok_s", Number(rate.reached_by_90_ok_tok_s)},
          {"end_to_end_reached_by_90_percent_tok_s", Number(rate.end_to_end_reached_by_90_tok_s)},
          {"reached_by_95_percent_tok_s", Number(rate.reached_by_95_tok_s)},
          {"reached_by_99_percent_tok_s", Number(rate.reached_by_99_tok_s)}};
}

Json OutputOf(const FidelitySummary& f) {
  return {{"n", f.output_n},
          {"calls_with_tokens_out", f.tokens_out_n},
          {"came_of_asked", Number(f.output_ratio)},
          {"came_of_asked_p50", Number(f.output_ratio_p50)}};
}

Json PromptOf(const FidelitySummary& f) {
  return {{"n", f.prompt_n},
          {"calls_with_cached_tokens", f.cached_n},
          {"drift_p50_share", Number(f.drift_p50)},
          {"drift_worst_share", Number(f.drift_max)},
          {"drift_total_share", Number(f.drift_total)},
          {"calls_over_2_percent", f.drift_over}};
}

Json Of(const UsageDoubts& doubts) {
  return {{"output_counted_as_none", doubts.no_output},
          {"first_chunk_over_output", doubts.first_chunk_over},
          {"output_over_cap", doubts.output_over_cap},
          {"cached_over_prompt", doubts.cached_over_prompt},
          {"interactivity_over_10000_tok_s", doubts.rate_unbelievable},
          {"answers_in_chunks", doubts.answers},
          {"answers_chunks_unlike_tokens", doubts.answers_unlike},
          {"chunks", doubts.chunks},
          {"tokens", doubts.tokens}};
}

Json AnswersOf(const StepSummary& s) {
  const FidelitySummary& f = s.fidelity;
  return {{"in_one_chunk", s.rate.one_chunk},
          {"reasoning_only", f.reasoning_only},
          {"hidden_reasoning", f.hidden_reasoning},
          {"with_tool_calls", f.tool_present},
          {"tool_calls_valid", f.tool_valid},
          {"tool_calls_invalid", f.tool_invalid},
          {"tool_call_faults", Json::parse(FaultsJson(f.tool_faults))}};
}

Json Of(const StepOrigin& origin) {
  const Json early = {{"after_blocks", Number(origin.failed_early_after)},
                      {"measured_s", ToSeconds(origin.measured)}};
  return {{"kind", Name(origin.kind)},
          {"ladder", origin.ladder},
          {"reason", origin.reason},
          {"failed_early", Known(origin.failed_early_after.has_value(), early)}};
}

Json Of(const ReportedStep& step) {
  const StepSummary& s = step.summary;
  Json states = Json::object();
  for (std::size_t i = 0; i < kLaneStates; ++i) {
    states[kLaneStateKeys[i]] = Number(s.lane_state_share[i]);
  }
  const bool told = HasTallies(s);
  Json agents = Json::array();
  for (const AgentEvidence& agent : s.agents) agents.push_back(AgentOf(agent, HasTally(s, agent)));
  return {{"step", s.plan.step},
          {"sessions", s.plan.sessions},
          {"origin", Of(s.origin)},
          {"warm_up_s", ToSeconds(s.plan.warm_up)},
          {"measure_s", ToSeconds(s.plan.measure)},
          {"block_s", ToSeconds(s.plan.block)},
          {"verdict", Name(s.verdict.verdict)},
          {"lean", LeanName(LeanOf(s.verdict))},
          {"void", s.verdict.is_void},
          {"stopped_after_s", s.broken_off_after ? Json(ToSeconds(*s.broken_off_after)) : Json()},
          {"reasons", s.verdict.reasons},
          {"parts", ListOf(s.verdict.parts)},
          {"offered_share", Known(told, Number(s.verdict.offered_share))},
          {"sent_share", Known(told, Number(s.verdict.sent_share))},
          {"lane_time_share", Known(told, std::move(states))},
          {"requests_in_flight_mean", Known(told, Number(s.requests_in_flight_mean))},
          {"ttft", TtftOf(s.ttft)},
          {"interactivity", RateOf(s.rate)},
          {"attempts", s.errors.attempts},
          {"failed", s.errors.failed},
          {"unsent_calls", Known(told, s.errors.unsent)},
          {"error_share", Number(s.errors.error_share)},
          {"outcomes", OutcomesOf(s.errors)},
          {"ok_calls_per_s", Number(s.calls_ok_per_s)},
          {"tokens_in", Number(s.tokens_in)},
          {"tokens_cached", Number(s.tokens_cached)},
          {"tokens_out", Number(s.tokens_out)},
          {"ok_calls_without_usage", s.usage_missing},
          {"output_length", OutputOf(s.fidelity)},
          {"prompt_length", PromptOf(s.fidelity)},
          {"answers", AnswersOf(s)},
          {"usage_doubts", Of(s.fidelity.doubts)},
          {"replay", Json::parse(ReplayJson(s.replay, told))},
          {"evals", Json::parse(EvalsJson(s.evals))},
          {"agents", std::move(agents)},
          {"identities", ListOf(s.identities)},
          {"suspicions", ListOf(s.suspicions)},
          {"server", s.server ? Json::parse(ServerJson(*s.server, s.verdict)) : Json()},
          {"notes", step.notes}};
}

Json Of(const CapacityEnd& end) {
  constexpr const char* kKinds[] = {"", "below", "at", "at_least"};
  return {{"kind", kKinds[static_cast<std::size_t>(end.kind)]},
          {"sessions", Number(end.sessions)},
          {"whole_sessions", end.whole()},
          {"requests_in_flight", Number(end.requests_in_flight)},
          {"requests_in_flight_interpolated", end.interpolated}};
}

Json Of(const std::optional<CapacityBand>& band) {
  if (!band) return {};
  return {{"value", Of(band->value)}, {"low_95", Of(band->low)}, {"high_95", Of(band->high)}};
}

Json Of(const PartCapacity& part) {
  Json json = Of(part.limit);
  json["sessions"] = Of(part.band);
  return json;
}

Json Of(const Capacity& capacity) {
  return {{"sentence", capacity.sentence},
          {"sessions", Of(capacity.band)},
          {"parts", ListOf(capacity.parts)},
          {"limiting_part", Number(capacity.limiting_part)},
          {"last_passed_sessions", Number(capacity.passed)},
          {"first_failed_sessions", Number(capacity.failed)},
          {"limited_by", capacity.limited_by ? Json(Name(*capacity.limited_by)) : Json()},
          {"requests_in_flight",
           Known(capacity.passed.has_value(), Number(capacity.requests_in_flight))}};
}

Json Of(const Cost& cost) {
  Json json = {
      {"nodes", {}}, {"per_node_hour", {}}, {"currency", {}}, {"sessions", Number(cost.sessions)}};
  if (cost.settings) {
    json["nodes"] = cost.settings->nodes;
    json["per_node_hour"] = static_cast<double>(cost.settings->micros) * 1e-6;
    json["currency"] = cost.settings->currency;
  }
  Json absent = Json::object();
  for (const auto& [name, figure] : FiguresOf(cost)) {
    json[name] = Number(figure.value);
    if (!figure.value) absent[name] = figure.why_not;
  }
  json["absent_because"] = std::move(absent);
  return json;
}

}  // namespace

std::string JsonReport(const ReportModel& model) {
  const Json json = {
      {"schema_version", kSchemaVersion},
      {"run",
       {{"name", model.run_name},
        {"id", model.run_id},
        {"started_at", model.started_at},
        {"exit_code", model.exit_code ? Json(*model.exit_code) : Json()}}},
      {"target", {{"url", model.target_url}, {"model", model.model}}},
      {"target_sessions", Number(model.target)},
      {"corpus", model.corpus},
      {"bar", ListOf(model.bar.limits)},
      {"eval_bar", Json::parse(EvalBarJson(model.bar.evals))},
      {"verdict",
       {{"verdict", Name(model.verdict.verdict)},
        {"exit_code", model.verdict.exit_code},
        {"reason", model.verdict.reason}}},
      {"capacity", Of(model.capacity)},
      {"tier_ladders", ListOf(model.tier_ladders)},
      {"cost", Of(model.cost)},
      {"recipe", {{"note", model.recipe_note}, {"files", ListOf(model.recipe_files)}}},
      {"preflight", model.preflight ? Json::parse(PreflightJson(*model.preflight)) : Json()},
      {"drain", model.drain ? Json::parse(DrainJson(*model.drain)) : Json()},
      {"hooks", Json::parse(HooksJson(model.hooks))},
      {"rollback", model.rollback ? Json(Name(*model.rollback)) : Json()},
      {"stopped_because", model.stopped_because},
      {"steps", ListOf(model.steps)},
      {"notes", model.notes},
      {"files_written", model.files_written}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace plimsoll
