#include "coordinator/api/api_messages.h"

#include <array>
#include <chrono>
#include <cmath>

#include "common/base/text.h"
#include "coordinator/api/agent_messages.h"
#include "coordinator/api/bar_messages.h"
#include "coordinator/api/cost_messages.h"
#include "coordinator/api/eval_messages.h"
#include "coordinator/api/hook_messages.h"
#include "coordinator/api/replay_messages.h"
#include "coordinator/api/server_messages.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

// The values' enums are numbered as the API's are; these say so where the two meet.
static_assert(static_cast<int>(Verdict::kNoData) == v1::VERDICT_NO_DATA);
static_assert(static_cast<int>(Lean::kFail) == v1::LEAN_FAIL);
static_assert(static_cast<int>(FindingLevel::kBlocking) == v1::FINDING_LEVEL_BLOCKING);
static_assert(static_cast<int>(StepKind::kRefinement) == v1::STEP_KIND_REFINEMENT);
static_assert(static_cast<int>(RunState::kFailed) == v1::RUN_STATE_FAILED);
static_assert(static_cast<int>(RunState::kInterrupted) == v1::RUN_STATE_INTERRUPTED);
static_assert(static_cast<int>(kLastPhase) + 1 == v1::PHASE_ROLL_BACK);
static_assert(static_cast<int>(StepPart::kCoolDown) + 1 == v1::STEP_PART_COOL_DOWN);

v1::Verdict Of(Verdict verdict) {
  return static_cast<v1::Verdict>(verdict);
}
v1::Lean Of(Lean lean) {
  return static_cast<v1::Lean>(lean);
}

double Finite(double value) {
  return std::isfinite(value) ? value : 0;
}

// Sets an optional field only to a number.
template <typename Message>
void SetIf(const std::optional<double>& value, Message* out, void (Message::*set)(double)) {
  if (value.has_value() && std::isfinite(*value)) (out->*set)(*value);
}

void SetInstant(WallTime at, google::protobuf::Timestamp* out) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch());
  out->set_seconds(seconds.count());
  out->set_nanos(static_cast<std::int32_t>((at.time_since_epoch() - seconds).count()));
}

void Fill(const RunInfo& run, bool live, v1::RunSummary* out) {
  out->set_id(ValidUtf8(run.id));
  out->set_name(ValidUtf8(run.name));
  out->set_state(static_cast<v1::RunState>(run.state));
  out->set_live(live);
  SetInstant(run.started, out->mutable_started_at());
  if (run.ended) SetInstant(*run.ended, out->mutable_ended_at());
  if (run.exit_code) out->set_exit_code(*run.exit_code);
  if (run.rollback) out->set_rollback(Name(*run.rollback));
  out->set_message(ValidUtf8(run.message));
  if (run.capacity) FillCapacity(*run.capacity, out->mutable_capacity());
  out->set_plimsoll_version(ValidUtf8(run.plimsoll_version));
}

void Fill(const ShownPercentile& percentile, v1::Percentile* out) {
  SetIf(percentile.value, out, &v1::Percentile::set_value);
  out->set_infinite(percentile.infinite);
}

void Fill(const std::array<double, kLaneStates>& shares, v1::LaneTime* out) {
  const auto of = [&shares](LaneState state) {
    return Finite(shares[static_cast<std::size_t>(state)]);
  };
  out->set_in_flight_share(of(LaneState::kInFlight));
  out->set_planned_delay_share(of(LaneState::kPlannedDelay));
  out->set_idle_refused_share(of(LaneState::kRefused));
  out->set_idle_late_share(of(LaneState::kLate));
  out->set_idle_client_error_share(of(LaneState::kClientError));
  out->set_idle_dead_man_share(of(LaneState::kDeadMan));
  out->set_idle_no_session_share(of(LaneState::kNoSession));
}

void Fill(const TtftSummary& ttft, v1::Ttft* out) {
  out->set_n(ttft.n);
  Fill(ttft.p50_s, out->mutable_p50_s());
  Fill(ttft.p90_s, out->mutable_p90_s());
  Fill(ttft.p90_ok_s, out->mutable_p90_ok_only_s());
  Fill(ttft.p90_sent_s, out->mutable_p90_from_sent_s());
  Fill(ttft.p95_s, out->mutable_p95_s());
  Fill(ttft.p99_s, out->mutable_p99_s());
}

void Fill(const RateSummary& rate, v1::Interactivity* out) {
  using Out = v1::Interactivity;
  out->set_n(rate.n);
  out->set_answered_in_one_chunk(rate.one_chunk);
  SetIf(rate.reached_by_50_tok_s, out, &Out::set_reached_by_50_percent_tok_s);
  SetIf(rate.reached_by_90_tok_s, out, &Out::set_reached_by_90_percent_tok_s);
  SetIf(rate.reached_by_90_ok_tok_s, out, &Out::set_reached_by_90_percent_ok_only_tok_s);
  SetIf(rate.end_to_end_reached_by_90_tok_s, out, &Out::set_end_to_end_reached_by_90_percent_tok_s);
  SetIf(rate.reached_by_95_tok_s, out, &Out::set_reached_by_95_percent_tok_s);
  SetIf(rate.reached_by_99_tok_s, out, &Out::set_reached_by_99_percent_tok_s);
}

template <typename Message>
void FillOutcomes(const OutcomeCounts& outcomes, Message* out) {
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    if (outcomes[i] == 0) continue;
    v1::AttemptCount* count = out->add_outcomes();
    count->set_outcome(std::string(Name(static_cast<Outcome>(i))));
    count->set_count(outcomes[i]);
  }
}

void Fill(const ErrorSummary& errors, bool told, v1::Errors* out) {
  out->set_attempts(errors.attempts);
  out->set_ok(errors.ok);
  out->set_failed(errors.failed);
  out->set_client_errors(errors.client_errors);
  if (told) out->set_unsent_calls(errors.unsent);
  SetIf(errors.error_share, out, &v1::Errors::set_error_share);
  FillOutcomes(errors.outcomes, out);
}

void Fill(const UsageDoubts& doubts, v1::UsageDoubts* out) {
  out->set_no_output(doubts.no_output);
  out->set_first_chunk_over(doubts.first_chunk_over);
  out->set_output_over_cap(doubts.output_over_cap);
  out->set_cached_over_prompt(doubts.cached_over_prompt);
  out->set_rate_unbelievable(doubts.rate_unbelievable);
  out->set_answers(doubts.answers);
  out->set_answers_unlike(doubts.answers_unlike);
  out->set_chunks(doubts.chunks);
  out->set_tokens(doubts.tokens);
}

void Fill(const FidelitySummary& fidelity, v1::Fidelity* out) {
  using Out = v1::Fidelity;
  out->set_output_n(fidelity.output_n);
  SetIf(fidelity.output_ratio, out, &Out::set_output_came_share);
  SetIf(fidelity.output_ratio_p50, out, &Out::set_output_came_p50_share);
  out->set_prompt_n(fidelity.prompt_n);
  out->set_cached_n(fidelity.cached_n);
  out->set_tokens_out_n(fidelity.tokens_out_n);
  SetIf(fidelity.drift_p50, out, &Out::set_drift_p50_share);
  SetIf(fidelity.drift_max, out, &Out::set_drift_worst_share);
  SetIf(fidelity.drift_total, out, &Out::set_drift_total_share);
  out->set_drift_over_n(fidelity.drift_over);
  out->set_tool_calls_n(fidelity.tool_present);
  out->set_tool_calls_valid(fidelity.tool_valid);
  out->set_tool_calls_invalid(fidelity.tool_invalid);
  out->set_reasoning_only(fidelity.reasoning_only);
  out->set_hidden_reasoning(fidelity.hidden_reasoning);
  Fill(fidelity.doubts, out->mutable_doubts());
  FillFaults(fidelity.tool_faults, out);
}

void Fill(const PreflightSummary& preflight, v1::Preflight* out) {
  for (const Finding& finding : preflight.findings) {
    v1::Finding* to = out->add_findings();
    to->set_level(static_cast<v1::FindingLevel>(finding.level));
    to->set_text(ValidUtf8(finding.text));
  }
  if (preflight.fit) {
    out->mutable_template_fit()->set_tokens_per_request(Finite(preflight.fit->per_request));
    out->mutable_template_fit()->set_tokens_per_message(Finite(preflight.fit->per_message));
    out->mutable_template_fit()->set_tokens_per_word(Finite(preflight.fit->per_word));
  }
  out->set_min_tokens_honoured(preflight.min_tokens);
  out->set_ignore_eos_honoured(preflight.ignore_eos);
}

void Fill(const Identity& identity, v1::Identity* out) {
  out->set_name(ValidUtf8(identity.name));
  out->set_left(identity.left);
  out->set_right(identity.right);
  out->set_tolerance(identity.tolerance);
  out->set_holds(identity.holds());
}

void Fill(const StepOrigin& origin, v1::StepOrigin* out) {
  out->set_kind(static_cast<v1::StepKind>(origin.kind));
  out->set_ladder(ValidUtf8(origin.ladder));
  out->set_reason(ValidUtf8(origin.reason));
  if (!origin.failed_early_after) return;
  out->set_failed_early_after_blocks(*origin.failed_early_after);
  out->set_failed_early_measured_s(ToSeconds(origin.measured));
}

void Fill(const LiveAgent& agent, v1::LiveAgent* out) {
  out->set_slot(agent.slot);
  out->set_name(ValidUtf8(agent.name));
  out->set_alive(agent.alive);
  out->set_cores(agent.cores);
  out->set_memory_bytes(agent.memory_bytes);
  out->set_lanes(agent.lanes);
  out->set_calls_in_flight(agent.calls_in_flight);
  out->set_silent_for_s(ToSeconds(agent.silent_for));
}

// At the bar's first limit on all calls' `metric`; without one `otherwise`.
ShownPercentile AtBar(const LiveNumbers& numbers, Metric metric, ShownPercentile otherwise) {
  for (const LimitSoFar& part : numbers.parts) {
    if (part.limit.metric != metric || !part.limit.tier.empty()) continue;
    return {part.value.value, part.value.infinite};
  }
  return otherwise;
}

void Fill(const LiveNumbers& numbers, v1::LiveNumbers* out) {
  using Out = v1::LiveNumbers;
  out->set_attempts(numbers.attempts);
  FillOutcomes(numbers.outcomes, out);
  out->set_ttft_n(numbers.ttft_n);
  Fill(ShownPercentile{numbers.ttft_p90_s, numbers.ttft_p90_infinite}, out->mutable_ttft_p90_s());
  const ShownPercentile ttft{numbers.ttft_p90_s, numbers.ttft_p90_infinite};
  Fill(AtBar(numbers, Metric::kTtft, ttft), out->mutable_ttft_at_bar_s());
  const ShownPercentile rate{numbers.rate_reached_by_90_tok_s};
  SetIf(AtBar(numbers, Metric::kInteractivity, rate).value, out,
        &Out::set_interactivity_at_bar_tok_s);
  for (const LimitSoFar& part : numbers.parts) {
    v1::LivePart* to = out->add_parts();
    FillLimit(part.limit, to->mutable_limit());
    to->set_n(part.n);
    Fill(ShownPercentile{part.value.value, part.value.infinite}, to->mutable_value());
  }
  out->set_interactivity_n(numbers.rate_n);
  SetIf(numbers.rate_reached_by_90_tok_s, out, &Out::set_interactivity_reached_by_90_percent_tok_s);
}

void FillModel(const ReportModel& model, v1::Run* out) {
  out->set_target_url(ValidUtf8(model.target_url));
  out->set_model(ValidUtf8(model.model));
  if (model.target) out->set_target_sessions(*model.target);
  for (const Limit& limit : model.bar.limits) FillLimit(limit, out->add_bar());
  if (model.bar.evals.asks()) FillEvalBar(model.bar.evals, out->mutable_eval_bar());
  if (!model.steps.empty()) {
    out->mutable_verdict()->set_verdict(Of(model.verdict.verdict));
    out->mutable_verdict()->set_exit_code(model.verdict.exit_code);
    out->mutable_verdict()->set_reason(ValidUtf8(model.verdict.reason));
  }
  for (const ReportedStep& step : model.steps) ToApi(step, out->add_steps());
  for (const std::string& note : model.notes) out->add_notes(ValidUtf8(note));
  if (model.preflight) Fill(*model.preflight, out->mutable_preflight());
  if (model.drain) FillDrain(*model.drain, out->mutable_drain());
  for (const HookOutcome& hook : model.hooks) FillHook(hook, out->add_hooks());
  for (const LadderResult& ladder : model.tier_ladders) {
    v1::TierLadder* to = out->add_tier_ladders();
    to->set_tier(ValidUtf8(ladder.tier));
    FillBracket(ladder.bracket, to);
  }
}

}  // namespace

void ToApi(const std::vector<RunInfo>& runs, const std::string& live, v1::ListRunsResponse* out) {
  out->Clear();
  for (const RunInfo& run : runs) {
    Fill(run, run.state == RunState::kRunning && run.id == live, out->add_runs());
  }
}

void ToApi(const RunView& view, v1::Run* out) {
  out->Clear();
  Fill(view.info, view.live, out->mutable_summary());
  out->set_seed(view.info.seed);
  out->set_nonce(view.info.nonce);
  out->set_scenario_yaml(ValidUtf8(view.info.scenario_text));
  out->set_scenario_digest(ValidUtf8(view.info.scenario_digest));
  out->set_corpus_digest(ValidUtf8(view.info.corpus_digest));
  FillModel(view.model, out);
  for (const RunLogLine& line : view.log) {
    v1::LogLine* to = out->add_log();
    SetInstant(line.at, to->mutable_at());
    to->set_text(ValidUtf8(line.text));
  }
  if (!view.model.steps.empty()) ToApi(view.model.cost, out->mutable_cost());
  if (!view.recipe.empty()) ToApi(view.recipe, out->mutable_recipe());
  if (view.status) ToApi(*view.status, out->mutable_live());
}

void ToApi(const ReportedStep& step, v1::Step* out) {
  out->Clear();
  const StepSummary& s = step.summary;
  out->set_step(s.plan.step);
  out->set_sessions(s.plan.sessions);
  out->set_warm_up_s(ToSeconds(s.plan.warm_up));
  out->set_measure_s(ToSeconds(s.plan.measure));
  out->set_block_s(ToSeconds(s.plan.block));
  out->set_verdict(Of(s.verdict.verdict));
  out->set_lean(Of(LeanOf(s.verdict)));
  out->set_is_void(s.verdict.is_void);
  for (const std::string& reason : s.verdict.reasons) out->add_reasons(ValidUtf8(reason));
  for (const PartVerdict& part : s.verdict.parts) FillPart(part, out->add_parts());
  const bool told = HasTallies(s);
  if (told) {
    SetIf(s.verdict.offered_share, out, &v1::Step::set_offered_share);
    SetIf(s.verdict.sent_share, out, &v1::Step::set_sent_share);
    Fill(s.lane_state_share, out->mutable_lane_time());
    SetIf(s.requests_in_flight_mean, out, &v1::Step::set_requests_in_flight_mean);
  }
  if (s.broken_off_after) out->set_stopped_after_s(ToSeconds(*s.broken_off_after));
  Fill(s.ttft, out->mutable_ttft());
  Fill(s.rate, out->mutable_interactivity());
  Fill(s.errors, told, out->mutable_errors());
  SetIf(s.calls_ok_per_s, out, &v1::Step::set_ok_calls_per_s);
  if (s.tokens_in) out->set_tokens_in(*s.tokens_in);
  if (s.tokens_cached) out->set_tokens_cached(*s.tokens_cached);
  if (s.tokens_out) out->set_tokens_out(*s.tokens_out);
  out->set_ok_calls_without_usage(s.usage_missing);
  Fill(s.fidelity, out->mutable_fidelity());
  if (!s.replay.tiers.empty()) FillReplay(s.replay, told, out->mutable_replay());
  for (const AgentEvidence& agent : s.agents)
    FillAgent(agent, HasTally(s, agent), out->add_agents());
  for (const Identity& identity : s.identities) Fill(identity, out->add_identities());
  for (const std::string& note : step.notes) out->add_notes(ValidUtf8(note));
  Fill(s.origin, out->mutable_origin());
  if (s.evals) FillEvals(*s.evals, out->mutable_evals());
  if (s.server) FillServer(*s.server, out->mutable_server());
  for (const Suspicion& suspicion : s.suspicions) {
    v1::Suspicion* to = out->add_suspicions();
    to->set_check(std::string(Name(suspicion.check)));
    to->set_text(ValidUtf8(suspicion.text));
  }
}

void ToApi(const LiveStatus& status, v1::LiveStatus* out) {
  out->Clear();
  out->set_phase(static_cast<v1::Phase>(static_cast<int>(status.phase) + 1));
  out->set_running_for_s(ToSeconds(status.running_for));
  if (status.step) {
    out->set_step(*status.step);
    out->set_part(static_cast<v1::StepPart>(static_cast<int>(status.part) + 1));
    out->set_kind(static_cast<v1::StepKind>(status.kind));
    out->set_ladder(ValidUtf8(status.ladder));
  }
  out->set_sessions(status.sessions);
  out->set_steps_planned(status.steps_planned);
  out->set_steps_judged(status.steps_judged);
  out->set_lanes(status.lanes);
  out->set_calls_in_flight(status.calls_in_flight);
  Fill(status.numbers, out->mutable_numbers());
  if (status.step_left) out->set_step_left_s(ToSeconds(*status.step_left));
  if (status.place > 0) out->set_place(status.place);
  if (status.part_left) out->set_part_left_s(ToSeconds(*status.part_left));
  if (status.measured) out->set_measured_s(ToSeconds(*status.measured));
  out->set_agents_planned(status.agents_planned);
  out->set_agents_present(status.agents_present);
  out->set_run_left_s(ToSeconds(status.run_left));
  out->set_records_acked(status.records_acked);
  for (const LiveAgent& agent : status.agents) Fill(agent, out->add_agents());
}

void ToApi(const std::optional<LiveRun>& live, v1::ListAgentsResponse* out) {
  out->Clear();
  if (!live.has_value()) return;
  if (!live->coordinator_http.empty()) {
    out->set_coordinator_http(ValidUtf8(live->coordinator_http));
    return;
  }
  out->set_run_id(ValidUtf8(live->run_id));
  if (!live->status) return;
  for (const LiveAgent& agent : live->status->agents) Fill(agent, out->add_agents());
}

}  // namespace plimsoll
