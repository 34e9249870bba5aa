#include "coordinator/report/export_rows.h"

#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "coordinator/judge/metrics.h"
#include "coordinator/report/eval_rows.h"
#include "coordinator/report/export_line.h"

namespace plimsoll {
namespace {

const char* LeanName(Lean lean) {
  return lean == Lean::kPass ? "pass" : lean == Lean::kFail ? "fail" : "";
}

std::string Joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, "; "));
}

void PlanFields(const StepPlan& plan, Line& line) {
  line.Count("step", plan.step);
  line.Count("sessions", plan.sessions);
  line.Count("warm_up_ns", plan.warm_up.count());
  line.Count("measure_ns", plan.measure.count());
  line.Count("block_ns", plan.block.count());
  line.Count("drain_limit_ns", plan.drain_limit.count());
  line.Count("prime_limit_ns", plan.prime_limit.count());
}

void OriginFields(const StepOrigin& origin, Line& line) {
  line.Text("kind", Name(origin.kind));
  line.Text("ladder", origin.ladder);
  if (origin.failed_early_after) {
    line.Count("failed_early_after_blocks", *origin.failed_early_after);
    line.Count("failed_early_measured_ns", origin.measured.count());
  } else {
    line.Absent("failed_early_after_blocks");
    line.Absent("failed_early_measured_ns");
  }
}

void LaneTimeFields(const StepSummary& s, Line& line) {
  static constexpr const char* kNames[kLaneStates] = {
      "lane_in_flight_share",      "lane_planned_delay_share",     "lane_idle_refused_share",
      "lane_idle_late_share",      "lane_idle_client_error_share", "lane_idle_dead_man_share",
      "lane_idle_no_session_share"};
  const bool told = HasTallies(s);
  const auto real = [&](const char* name, double value) {
    told ? line.Real(name, value) : line.Absent(name);
  };
  real("offered_share", s.verdict.offered_share);
  real("sent_share", s.verdict.sent_share);
  for (std::size_t i = 0; i < kLaneStates; ++i) real(kNames[i], s.lane_state_share[i]);
  real("requests_in_flight_mean", s.requests_in_flight_mean);
}

void SpeedFields(const StepSummary& s, Line& line) {
  line.Count("ttft_n", s.ttft.n);
  line.SecondsAsNanos("ttft_p50_ns", s.ttft.p50_s.value);
  line.Flag("ttft_p50_infinite", s.ttft.p50_s.infinite);
  line.SecondsAsNanos("ttft_p90_ns", s.ttft.p90_s.value);
  line.Flag("ttft_p90_infinite", s.ttft.p90_s.infinite);
  line.SecondsAsNanos("ttft_p90_ok_only_ns", s.ttft.p90_ok_s.value);
  line.SecondsAsNanos("ttft_p90_from_sent_ns", s.ttft.p90_sent_s.value);
  line.SecondsAsNanos("ttft_p95_ns", s.ttft.p95_s.value);
  line.Flag("ttft_p95_infinite", s.ttft.p95_s.infinite);
  line.SecondsAsNanos("ttft_p99_ns", s.ttft.p99_s.value);
  line.Flag("ttft_p99_infinite", s.ttft.p99_s.infinite);
  line.Count("interactivity_n", s.rate.n);
  line.Count("answered_in_one_chunk", s.rate.one_chunk);
  line.Real("interactivity_reached_by_50_percent_tok_s", s.rate.reached_by_50_tok_s);
  line.Real("interactivity_reached_by_90_percent_tok_s", s.rate.reached_by_90_tok_s);
  line.Real("interactivity_reached_by_90_percent_ok_only_tok_s", s.rate.reached_by_90_ok_tok_s);
  line.Real("end_to_end_reached_by_90_percent_tok_s", s.rate.end_to_end_reached_by_90_tok_s);
  line.Real("interactivity_reached_by_95_percent_tok_s", s.rate.reached_by_95_tok_s);
  line.Real("interactivity_reached_by_99_percent_tok_s", s.rate.reached_by_99_tok_s);
}

void ErrorFields(const StepSummary& s, Line& line) {
  line.Count("attempts", s.errors.attempts);
  HasTallies(s) ? line.Count("unsent_calls", s.errors.unsent) : line.Absent("unsent_calls");
  line.Real("error_share", s.errors.error_share);
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    line.Count(fmt::format("outcome_{}", Name(static_cast<Outcome>(i))), s.errors.outcomes[i]);
  }
  line.Real("ok_calls_per_s", s.calls_ok_per_s);
  line.Known("tokens_in", s.tokens_in);
  line.Known("tokens_cached", s.tokens_cached);
  line.Known("tokens_out", s.tokens_out);
  line.Count("calls_with_tokens_in", s.fidelity.prompt_n);
  line.Count("calls_with_tokens_cached", s.fidelity.cached_n);
  line.Count("calls_with_tokens_out", s.fidelity.tokens_out_n);
  line.Count("ok_calls_without_usage", s.usage_missing);
}

void DoubtFields(const UsageDoubts& doubts, Line& line) {
  line.Count("usage_output_counted_as_none", doubts.no_output);
  line.Count("usage_first_chunk_over_output", doubts.first_chunk_over);
  line.Count("usage_output_over_cap", doubts.output_over_cap);
  line.Count("usage_cached_over_prompt", doubts.cached_over_prompt);
  line.Count("interactivity_over_10000_tok_s", doubts.rate_unbelievable);
  line.Count("answers_in_chunks", doubts.answers);
  line.Count("answers_chunks_unlike_tokens", doubts.answers_unlike);
}

// An end of a value's interval; neither a number nor infinite where nothing bounds the value.
void EndFields(const std::string& name, const ShownPercentile* end, Line& line) {
  line.Real(name, end != nullptr ? end->value : std::nullopt);
  end != nullptr ? line.Flag(name + "_infinite", end->infinite) : line.Absent(name + "_infinite");
}

// Of one metric of the bar, always the same columns; empty without a limit on it.
void PartFields(std::string_view metric, const PartVerdict* part, Line& line) {
  const auto name = [metric](const char* what) { return fmt::format("bar_{}_{}", metric, what); };
  const bool there = part != nullptr;
  there ? line.Text(name("verdict"), Name(part->verdict)) : line.Absent(name("verdict"));
  there ? line.Count(name("n"), part->n) : line.Absent(name("n"));
  const auto real = [&](const char* what, std::optional<double> value) {
    line.Real(name(what), there ? value : std::nullopt);
  };
  real("limit", there ? part->limit.value : 0);
  real("value", there ? part->value : std::nullopt);
  there ? line.Flag(name("value_infinite"), part->value_infinite)
        : line.Absent(name("value_infinite"));
  EndFields(name("value_low_95"), there ? &part->value_low : nullptr, line);
  EndFields(name("value_high_95"), there ? &part->value_high : nullptr, line);
  const bool any = there && part->n > 0;  // Without a call there is no share.
  const auto share = [&](const char* what, double value) {
    any ? line.Real(name(what), value) : line.Absent(name(what));
  };
  share("share", there ? part->share_within : 0);
  share("share_low_95", there ? part->share_low : 0);
  share("share_high_95", there ? part->share_high : 0);
}

// The bar's first limit on all calls' `metric`; rows of parts have every limit.
const PartVerdict* PartOf(const StepVerdict& verdict, Metric metric) {
  for (const PartVerdict& part : verdict.parts) {
    if (part.limit.metric == metric && part.limit.tier.empty()) return &part;
  }
  return nullptr;
}

// Of the step as it was measured, whatever its verdict; empty of one that says nothing.
void CostFields(const StepSummary& s, const std::optional<CostSettings>& price, Line& line) {
  const bool says = !s.verdict.is_void && !s.broken_off_after;
  const Cost cost = CostOfStep(s, price);
  line.Text("cost_currency", price ? price->currency : "");
  for (const auto& [name, figure] : FiguresOf(cost)) {
    line.Real(fmt::format("cost_{}", name), says ? figure.value : std::nullopt);
  }
}

void AppendStepLine(LineKind kind, const StepRow& row, const std::optional<CostSettings>& price,
                    std::string* out) {
  const StepSummary& s = row.summary;
  Line line(kind, out);
  PlanFields(s.plan, line);
  OriginFields(s.origin, line);
  line.Text("verdict", Name(s.verdict.verdict));
  line.Text("lean", LeanName(LeanOf(s.verdict)));
  line.Flag("void", s.verdict.is_void);
  s.broken_off_after ? line.Count("stopped_after_ns", s.broken_off_after->count())
                     : line.Absent("stopped_after_ns");
  line.Text("reasons", Joined(s.verdict.reasons));
  PartFields("ttft", PartOf(s.verdict, Metric::kTtft), line);
  PartFields("interactivity", PartOf(s.verdict, Metric::kInteractivity), line);
  PartFields("errors", PartOf(s.verdict, Metric::kErrors), line);
  PartFields("tool_calls", PartOf(s.verdict, Metric::kToolCalls), line);
  LaneTimeFields(s, line);
  SpeedFields(s, line);
  ErrorFields(s, line);
  DoubtFields(s.fidelity.doubts, line);
  for (const Metric metric : {Metric::kEndToEndInteractivity, Metric::kGoodput}) {
    PartFields(TraitsOf(metric).key, PartOf(s.verdict, metric), line);
  }
  CostFields(s, price, line);
  ToolFaultFields(s.fidelity.tool_faults, line);
  EvalFields(s.evals, line);
  line.Text("notes", Joined(row.notes));
  line.End();
}

void OriginFields(const std::optional<LimitOrigin>& origin, Line& line) {
  const bool there = origin.has_value();
  line.Text("limit_from_runs", there ? Joined(origin->runs) : "");
  there ? line.Count("limit_from_sessions", origin->sessions) : line.Absent("limit_from_sessions");
  line.Real("limit_factor", there ? std::optional(origin->factor) : std::nullopt);
  line.Real("limit_baseline", there ? std::optional(origin->baseline) : std::nullopt);
  line.Real("limit_low_95", there ? origin->low : std::nullopt);
  line.Real("limit_high_95", there ? origin->high : std::nullopt);
}

void AppendPartLine(LineKind kind, const StepPlan& plan, std::string_view source,
                    const PartVerdict& part, std::string* out) {
  const Limit& limit = part.limit;
  Line line(kind, out);
  line.Count("step", plan.step);
  line.Count("sessions", plan.sessions);
  line.Text("part", PartKey(limit));
  line.Text("metric", TraitsOf(limit.metric).key);
  line.Text("tier", limit.tier);
  line.Text("unit", TraitsOf(limit.metric).unit);
  line.Real("quantile_share",
            IsBadShare(limit.metric) ? std::nullopt : std::optional(limit.quantile));
  line.Real("limit", limit.value);
  OriginFields(limit.origin, line);
  line.Text("verdict", Name(part.verdict));
  line.Text("lean", LeanName(part.lean));
  line.Count("n", part.n);
  line.Real("value", part.value);
  line.Flag("value_infinite", part.value_infinite);
  EndFields("value_low_95", &part.value_low, line);
  EndFields("value_high_95", &part.value_high, line);
  line.Real("value_ok_only", part.value_ok_only);
  line.Real("share", part.share_within);
  line.Real("share_low_95", part.share_low);
  line.Real("share_high_95", part.share_high);
  line.Real("margin_of_limit", part.margin);
  line.Text("reason", part.reason);
  line.Text("source", source);
  line.End();
}

void WhichCall(const keys::BatchKey& batch, const CallRecord& r, Line& line) {
  line.Count("agent_slot", batch.agent_slot);
  // Beyond what a double holds, so a text where that matters.
  line.Text("incarnation", fmt::format("{}", batch.incarnation));
  line.Count("sequence", batch.sequence);
  line.Count("step", r.step);
  line.Count("lane", r.lane);
  line.Count("play", r.play);
  line.Count("session", r.session);
  line.Count("stream", r.stream);
  line.Count("call", r.call);
  line.Count("attempt", r.attempt);
  line.Count("tier", r.tier);
  const bool warm_up = r.block == kWarmUpBlock;
  const bool cool_down = r.block == kCoolDownBlock;
  line.Text("released_in", warm_up ? "warm_up" : cool_down ? "cool_down" : "measured");
  warm_up || cool_down ? line.Absent("block") : line.Count("block", r.block);
}

void AppendRecordLine(LineKind kind, const keys::BatchKey& batch, const CallRecord& r,
                      std::string* out) {
  Line line(kind, out);
  WhichCall(batch, r, line);
  line.Nanos("first_released_ns", r.first_released);
  line.Nanos("released_ns", r.released);
  line.Nanos("connecting_ns", r.connecting);
  line.Nanos("sent_ns", r.sent);
  line.Nanos("upload_done_ns", r.upload_done);
  line.Nanos("headers_ns", r.headers);
  line.Nanos("first_chunk_ns", r.first_chunk);
  line.Nanos("first_token_ns", r.first_token);
  line.Nanos("last_token_ns", r.last_token);
  line.Nanos("end_ns", r.end);
  line.Tokens("tokens_in", r.tokens_in);
  line.Tokens("tokens_cached", r.tokens_cached);
  line.Tokens("tokens_out", r.tokens_out);
  line.Tokens("tokens_first_chunk", r.tokens_first_chunk);
  line.Count("tokens_planned", r.tokens_planned);
  r.tokens_asked == 0 ? line.Absent("tokens_asked") : line.Count("tokens_asked", r.tokens_asked);
  line.Count("messages", r.messages);
  line.Count("chunks", r.chunks);
  r.http_status == 0 ? line.Absent("http_status") : line.Count("http_status", r.http_status);
  line.Text("outcome", Name(r.outcome));
  line.Flag("new_connection", (r.flags & kNewConnection) != 0);
  line.Flag("cap_reached", (r.flags & kCapReached) != 0);
  line.Flag("tool_call_present", (r.flags & kToolCallPresent) != 0);
  line.Flag("tool_calls_valid", (r.answer & kToolCallsValid) != 0);
  line.Flag("tool_calls_invalid", (r.answer & kToolCallsInvalid) != 0);
  line.Flag("reasoning_only", (r.answer & kReasoningOnly) != 0);
  line.Flag("hidden_reasoning", (r.answer & kHiddenReasoning) != 0);
  line.Flag("last_attempt", (r.flags & kLastAttempt) != 0);
  line.Count("resends", static_cast<unsigned>(r.resends));
  line.Text("tool_call_faults", FaultNames(r.tool_faults));
  line.End();
}

}  // namespace

std::string StepHeader(RowForm form) {
  std::string header;
  if (form == RowForm::kCsv) AppendStepLine(LineKind::kCsvHeader, StepRow{}, {}, &header);
  return header;
}

std::string PartHeader(RowForm form) {
  std::string header;
  if (form == RowForm::kCsv) {
    AppendPartLine(LineKind::kCsvHeader, StepPlan{}, "", PartVerdict{}, &header);
  }
  return header;
}

std::string RecordHeader(RowForm form) {
  std::string header;
  if (form == RowForm::kCsv) {
    AppendRecordLine(LineKind::kCsvHeader, keys::BatchKey{}, CallRecord{}, &header);
  }
  return header;
}

void AppendStep(RowForm form, const StepRow& row, std::string* out,
                const std::optional<CostSettings>& price) {
  AppendStepLine(KindOf(form), row, price, out);
}

void AppendParts(RowForm form, const StepRow& row, std::string* out) {
  const StepSummary& s = row.summary;
  for (std::size_t i = 0; i < s.verdict.parts.size(); ++i) {
    AppendPartLine(KindOf(form), s.plan, "step", s.verdict.parts[i], out);
    if (!s.server) continue;
    for (const SourcePart& part : s.server->parts) {
      if (part.part == i)
        AppendPartLine(KindOf(form), s.plan, Name(part.source), part.verdict, out);
    }
  }
}

void AppendRecord(RowForm form, const keys::BatchKey& batch, const CallRecord& record,
                  std::string* out) {
  AppendRecordLine(KindOf(form), batch, record, out);
}

std::string EvalHeader(RowForm form) {
  std::string header;
  if (form == RowForm::kCsv) {
    AppendEvalLine(LineKind::kCsvHeader, keys::BatchKey{}, EvalRecord{}, &header);
  }
  return header;
}

void AppendEval(RowForm form, const keys::BatchKey& batch, const EvalRecord& eval,
                std::string* out) {
  AppendEvalLine(KindOf(form), batch, eval, out);
}

}  // namespace plimsoll
