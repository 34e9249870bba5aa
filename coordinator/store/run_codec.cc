#include "coordinator/store/run_codec.h"

#include <optional>
#include <utility>

#include "coordinator/store/capacity_codec.h"
#include "coordinator/store/eval_codec.h"
#include "coordinator/store/host_load_codec.h"
#include "coordinator/store/limit_codec.h"
#include "coordinator/store/origin_codec.h"
#include "coordinator/store/part_codec.h"
#include "coordinator/store/percentile_codec.h"
#include "coordinator/store/preflight_codec.h"
#include "coordinator/store/recipe_codec.h"
#include "coordinator/store/replay_codec.h"
#include "coordinator/store/server_codec.h"
#include "coordinator/store/suspicion_codec.h"
#include "fmt/format.h"
#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

Status Damaged(std::string_view what) {
  return absl::DataLossError(fmt::format("a stored {} is damaged", what));
}

// Serialized in memory; it cannot fail for messages far below protobuf's 2 GiB.
template <typename Message>
std::string Bytes(const Message& message) {
  return message.SerializeAsString();
}

// Copies an optional value into a message's optional field.
template <typename T, typename Set>
void Give(const std::optional<T>& value, const Set& set) {
  if (value.has_value()) set(*value);
}

// Enums of ours and of the message share their numbers; `last` is the highest.
template <typename Ours>
std::optional<Ours> FromEnum(int value, int first, int last) {
  if (value < first || value > last) return std::nullopt;
  return static_cast<Ours>(value);
}

template <typename Theirs, typename Ours>
Theirs ToEnum(Ours value) {
  return static_cast<Theirs>(static_cast<int>(value));
}

void Write(const StepVerdict& verdict, v1::StoredStepVerdict& out) {
  out.set_verdict(ToEnum<v1::StoredVerdict>(verdict.verdict));
  out.set_is_void(verdict.is_void);
  for (const std::string& reason : verdict.reasons) out.add_reasons(reason);
  for (const PartVerdict& part : verdict.parts) Write(part, *out.add_parts());
  out.set_offered_share(verdict.offered_share);
  out.set_sent_share(verdict.sent_share);
  out.set_failed_beside(verdict.failed_beside);
}

StatusOr<StepVerdict> Read(const v1::StoredStepVerdict& in) {
  const auto value = FromEnum<Verdict>(in.verdict(), 1, 4);
  if (!value.has_value()) return Damaged("verdict");
  StepVerdict verdict;
  verdict.verdict = *value;
  verdict.is_void = in.is_void();
  verdict.reasons.assign(in.reasons().begin(), in.reasons().end());
  for (const v1::StoredPart& stored : in.parts()) {
    ASSIGN_OR_RETURN(PartVerdict part, plimsoll::Read(stored));
    verdict.parts.push_back(std::move(part));
  }
  verdict.offered_share = in.offered_share();
  verdict.sent_share = in.sent_share();
  verdict.failed_beside = in.failed_beside();
  return verdict;
}

void Write(const TtftSummary& ttft, v1::StoredTtft& out) {
  out.set_n(ttft.n);
  WritePercentile(ttft.p50_s, out.mutable_p50_s());
  WritePercentile(ttft.p90_s, out.mutable_p90_s());
  WritePercentile(ttft.p90_ok_s, out.mutable_p90_ok_s());
  WritePercentile(ttft.p90_sent_s, out.mutable_p90_sent_s());
  WritePercentile(ttft.p95_s, out.mutable_p95_s());
  WritePercentile(ttft.p99_s, out.mutable_p99_s());
}

TtftSummary Read(const v1::StoredTtft& in) {
  return {in.n(),
          ReadPercentile(in.p50_s()),
          ReadPercentile(in.p90_s()),
          ReadPercentile(in.p90_ok_s()),
          ReadPercentile(in.p90_sent_s()),
          ReadPercentile(in.p95_s()),
          ReadPercentile(in.p99_s())};
}

void Write(const RateSummary& rate, v1::StoredRate& out) {
  out.set_n(rate.n);
  out.set_one_chunk(rate.one_chunk);
  Give(rate.reached_by_50_tok_s, [&](double value) { out.set_reached_by_50_tok_s(value); });
  Give(rate.reached_by_90_tok_s, [&](double value) { out.set_reached_by_90_tok_s(value); });
  Give(rate.reached_by_90_ok_tok_s, [&](double value) { out.set_reached_by_90_ok_tok_s(value); });
  Give(rate.end_to_end_reached_by_90_tok_s,
       [&](double value) { out.set_end_to_end_reached_by_90_tok_s(value); });
  Give(rate.reached_by_95_tok_s, [&](double value) { out.set_reached_by_95_tok_s(value); });
  Give(rate.reached_by_99_tok_s, [&](double value) { out.set_reached_by_99_tok_s(value); });
}

RateSummary Read(const v1::StoredRate& in) {
  RateSummary rate;
  rate.n = in.n();
  rate.one_chunk = in.one_chunk();
  if (in.has_reached_by_50_tok_s()) rate.reached_by_50_tok_s = in.reached_by_50_tok_s();
  if (in.has_reached_by_90_tok_s()) rate.reached_by_90_tok_s = in.reached_by_90_tok_s();
  if (in.has_reached_by_90_ok_tok_s()) rate.reached_by_90_ok_tok_s = in.reached_by_90_ok_tok_s();
  if (in.has_end_to_end_reached_by_90_tok_s()) {
    rate.end_to_end_reached_by_90_tok_s = in.end_to_end_reached_by_90_tok_s();
  }
  if (in.has_reached_by_95_tok_s()) rate.reached_by_95_tok_s = in.reached_by_95_tok_s();
  if (in.has_reached_by_99_tok_s()) rate.reached_by_99_tok_s = in.reached_by_99_tok_s();
  return rate;
}

void Write(const ErrorSummary& errors, v1::StoredErrors& out) {
  out.set_attempts(errors.attempts);
  out.set_ok(errors.ok);
  out.set_failed(errors.failed);
  out.set_client_errors(errors.client_errors);
  out.set_unsent(errors.unsent);
  Give(errors.error_share, [&](double value) { out.set_error_share(value); });
  for (const std::uint64_t count : errors.outcomes) out.add_outcomes(count);
}

StatusOr<ErrorSummary> Read(const v1::StoredErrors& in) {
  ErrorSummary errors;
  // Later versions may have appended outcomes; fewer are possible too, never more than we know.
  if (in.outcomes_size() > static_cast<int>(errors.outcomes.size())) return Damaged("error count");
  errors.attempts = in.attempts();
  errors.ok = in.ok();
  errors.failed = in.failed();
  errors.client_errors = in.client_errors();
  errors.unsent = in.unsent();
  if (in.has_error_share()) errors.error_share = in.error_share();
  for (int i = 0; i < in.outcomes_size(); ++i) {
    errors.outcomes[static_cast<std::size_t>(i)] = in.outcomes(i);
  }
  return errors;
}

void Write(const AgentEvidence& agent, v1::StoredAgent& out) {
  out.set_slot(agent.slot);
  out.set_name(agent.name);
  out.set_lanes(agent.lanes);
  out.set_attempts(agent.attempts);
  out.set_skew_ns(agent.skew_ns);
  out.set_lateness_p99_ns(agent.lateness_p99_ns);
  out.set_lateness_max_ns(agent.lateness_max_ns);
  out.set_loop_lag_max_ns(agent.loop_lag_max_ns);
  out.set_loop_stalled_ns(agent.loop_stalled_ns);
  out.set_wall_moved_ns(agent.wall_moved_ns);
  out.set_cpu_share_max(agent.cpu_share_max);
  out.set_records_lost(agent.records_lost);
  out.set_lost(agent.lost);
  out.set_no_tally(agent.no_tally);
  WriteHostLoad(agent.host, *out.mutable_host());
}

AgentEvidence Read(const v1::StoredAgent& in) {
  AgentEvidence agent;
  agent.slot = in.slot();
  agent.name = in.name();
  agent.lanes = in.lanes();
  agent.attempts = in.attempts();
  agent.skew_ns = in.skew_ns();
  agent.lateness_p99_ns = in.lateness_p99_ns();
  agent.lateness_max_ns = in.lateness_max_ns();
  agent.loop_lag_max_ns = in.loop_lag_max_ns();
  agent.loop_stalled_ns = in.loop_stalled_ns();
  agent.wall_moved_ns = in.wall_moved_ns();
  agent.cpu_share_max = in.cpu_share_max();
  agent.records_lost = in.records_lost();
  agent.lost = in.lost();
  agent.no_tally = in.no_tally();
  agent.host = ReadHostLoad(in.host());
  return agent;
}

void Write(const StepPlan& plan, v1::StoredStep& out) {
  out.set_step(plan.step);
  out.set_sessions(plan.sessions);
  out.set_warm_up_ns(plan.warm_up.count());
  out.set_measure_ns(plan.measure.count());
  out.set_block_ns(plan.block.count());
  out.set_drain_limit_ns(plan.drain_limit.count());
  out.set_prime_limit_ns(plan.prime_limit.count());
}

StepPlan ReadPlan(const v1::StoredStep& in) {
  return {.step = in.step(),
          .sessions = in.sessions(),
          .warm_up = Duration(in.warm_up_ns()),
          .measure = Duration(in.measure_ns()),
          .block = Duration(in.block_ns()),
          .drain_limit = Duration(in.drain_limit_ns()),
          .prime_limit = Duration(in.prime_limit_ns())};
}

// After the fidelity, whose counts say which sums must be there.
Status ReadTokens(const v1::StoredStep& in, StepSummary* step) {
  if (in.has_tokens_in()) step->tokens_in = in.tokens_in();
  if (in.has_tokens_cached()) step->tokens_cached = in.tokens_cached();
  if (in.has_tokens_out()) step->tokens_out = in.tokens_out();
  // Earlier versions wrote no sum of zero.
  if (step->fidelity.cached_n > 0 && !step->tokens_cached) step->tokens_cached = 0;
  if (step->fidelity.tokens_out_n > 0 && !step->tokens_out) return Damaged("token count");
  return absl::OkStatus();
}

}  // namespace

std::string EncodeRun(const RunInfo& run) {
  v1::StoredRun out;
  out.set_id(run.id);
  out.set_name(run.name);
  out.set_scenario_text(run.scenario_text);
  out.set_scenario_digest(run.scenario_digest);
  out.set_seed(run.seed);
  out.set_nonce(run.nonce);
  out.set_corpus_digest(run.corpus_digest);
  out.set_started_wall_ns(run.started.time_since_epoch().count());
  Give(run.ended, [&](WallTime at) { out.set_ended_wall_ns(at.time_since_epoch().count()); });
  out.set_state(ToEnum<v1::StoredRunState>(run.state));
  Give(run.exit_code, [&](int code) { out.set_exit_code(code); });
  out.set_plimsoll_version(run.plimsoll_version);
  out.set_message(run.message);
  if (run.capacity.has_value()) WriteCapacity(*run.capacity, out.mutable_capacity());
  WriteBar(run.bar, &out);
  WriteCost(run.cost, &out);
  if (run.preflight.has_value()) WritePreflight(*run.preflight, out.mutable_preflight());
  if (run.drain) Write(*run.drain, *out.mutable_drain());
  if (run.rollback) out.set_rollback(ToEnum<v1::StoredRollback>(*run.rollback));
  return Bytes(out);
}

StatusOr<RunInfo> DecodeRun(std::string_view bytes) {
  v1::StoredRun in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Damaged("run");
  const auto state = FromEnum<RunState>(in.state(), 1, 5);
  if (!state.has_value()) return Damaged("run");
  RunInfo run;
  run.id = in.id();
  run.name = in.name();
  run.scenario_text = in.scenario_text();
  run.scenario_digest = in.scenario_digest();
  run.seed = in.seed();
  run.nonce = in.nonce();
  run.corpus_digest = in.corpus_digest();
  run.started = WallTime(Duration(in.started_wall_ns()));
  if (in.has_ended_wall_ns()) run.ended = WallTime(Duration(in.ended_wall_ns()));
  run.state = *state;
  if (in.has_exit_code()) run.exit_code = in.exit_code();
  run.plimsoll_version = in.plimsoll_version();
  run.message = in.message();
  if (in.has_capacity()) {
    ASSIGN_OR_RETURN(run.capacity, ReadCapacity(in.capacity()));
  }
  ASSIGN_OR_RETURN(run.bar, ReadBar(in));
  ASSIGN_OR_RETURN(run.cost, ReadCost(in));
  if (in.has_preflight()) {
    ASSIGN_OR_RETURN(run.preflight, ReadPreflight(in.preflight()));
  }
  if (in.has_drain()) {
    ASSIGN_OR_RETURN(run.drain, Read(in.drain()));
  }
  if (in.has_rollback()) {
    run.rollback = FromEnum<RollbackState>(in.rollback(), 1, 2);
    if (!run.rollback) return Damaged("run");
  }
  return run;
}

std::string EncodeStep(const StepRow& row) {
  const StepSummary& step = row.summary;
  v1::StoredStep out;
  Write(step.plan, out);
  Write(step.verdict, *out.mutable_verdict());
  Write(step.ttft, *out.mutable_ttft());
  Write(step.rate, *out.mutable_rate());
  Write(step.errors, *out.mutable_errors());
  for (const double share : step.lane_state_share) out.add_lane_state_share(share);
  out.set_requests_in_flight_mean(step.requests_in_flight_mean);
  Give(step.calls_ok_per_s, [&](double rate) { out.set_calls_ok_per_s(rate); });
  Give(step.tokens_in, [&](std::uint64_t n) { out.set_tokens_in(n); });
  Give(step.tokens_cached, [&](std::uint64_t n) { out.set_tokens_cached(n); });
  Give(step.tokens_out, [&](std::uint64_t n) { out.set_tokens_out(n); });
  out.set_usage_missing(step.usage_missing);
  WriteFidelity(step.fidelity, out.mutable_fidelity());
  WriteFaults(step.fidelity.tool_faults, out.mutable_fidelity());
  for (const AgentEvidence& agent : step.agents) Write(agent, *out.add_agents());
  for (const Identity& identity : step.identities) {
    v1::StoredIdentity& stored = *out.add_identities();
    stored.set_name(identity.name);
    stored.set_left(identity.left);
    stored.set_right(identity.right);
    stored.set_tolerance(identity.tolerance);
  }
  for (const std::string& note : row.notes) out.add_notes(note);
  WriteSuspicions(step.suspicions, &out);
  Write(step.replay, *out.mutable_replay());
  Give(step.broken_off_after, [&](Duration d) { out.set_broken_off_after_ns(d.count()); });
  WriteOrigin(step.origin, out.mutable_origin());
  if (step.evals) WriteEvals(*step.evals, out.mutable_evals());
  if (step.server) Write(*step.server, *out.mutable_server());
  return Bytes(out);
}

StatusOr<StepRow> DecodeStep(std::string_view bytes) {
  v1::StoredStep in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Damaged("step");
  StepRow row;
  StepSummary& step = row.summary;
  if (in.lane_state_share_size() > static_cast<int>(step.lane_state_share.size())) {
    return Damaged("step");
  }
  step.plan = ReadPlan(in);
  ASSIGN_OR_RETURN(step.verdict, Read(in.verdict()));
  step.ttft = Read(in.ttft());
  step.rate = Read(in.rate());
  ASSIGN_OR_RETURN(step.errors, Read(in.errors()));
  for (int i = 0; i < in.lane_state_share_size(); ++i) {
    step.lane_state_share[static_cast<std::size_t>(i)] = in.lane_state_share(i);
  }
  step.requests_in_flight_mean = in.requests_in_flight_mean();
  if (in.has_calls_ok_per_s()) step.calls_ok_per_s = in.calls_ok_per_s();
  step.usage_missing = in.usage_missing();
  step.fidelity = ReadFidelity(in.fidelity());
  ASSIGN_OR_RETURN(step.fidelity.tool_faults, ReadFaults(in.fidelity()));
  RETURN_IF_ERROR(ReadTokens(in, &step));
  for (const v1::StoredAgent& agent : in.agents()) step.agents.push_back(Read(agent));
  for (const v1::StoredIdentity& stored : in.identities()) {
    step.identities.push_back({stored.name(), stored.left(), stored.right(), stored.tolerance()});
  }
  row.notes.assign(in.notes().begin(), in.notes().end());
  ASSIGN_OR_RETURN(step.suspicions, ReadSuspicions(in));
  if (in.broken_off_after_ns() < 0) return Damaged("step");
  ASSIGN_OR_RETURN(step.replay, Read(in.replay()));
  if (in.has_broken_off_after_ns()) step.broken_off_after = Duration(in.broken_off_after_ns());
  if (in.has_origin()) {
    ASSIGN_OR_RETURN(step.origin, ReadOrigin(in.origin()));
  }
  if (in.has_evals()) {
    ASSIGN_OR_RETURN(step.evals, ReadEvals(in.evals()));
  }
  if (in.has_server()) {
    ASSIGN_OR_RETURN(step.server, Read(in.server(), step.verdict.parts.size()));
  }
  return row;
}

}  // namespace plimsoll
