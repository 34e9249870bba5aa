#include "coordinator/judge/step_summary.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/judge_part.h"
#include "coordinator/judge/proportion.h"

namespace plimsoll {
namespace {

constexpr double kNanosPerSecond = 1e9;
constexpr double kMilliPerUnit = 1e3;

ShownPercentile Shown(const Percentile& percentile) {
  ShownPercentile shown{.infinite = percentile.infinite};
  if (percentile.value) shown.value = static_cast<double>(*percentile.value) / kNanosPerSecond;
  return shown;
}

std::optional<double> TokensPerSecond(std::optional<std::int64_t> thousandths) {
  if (!thousandths) return std::nullopt;
  return static_cast<double>(*thousandths) / kMilliPerUnit;
}

// Percentiles that the calls cannot carry are withheld: fewer than a two-sided interval needs.
TtftSummary SummarizeTtft(const StepEvidence& evidence) {
  const auto of = [](const Histogram& values, std::uint64_t infinite, double q) {
    if (values.count() + infinite < FewestForQuantile(q)) return ShownPercentile{};
    return Shown(values.QuantileWithInfinite(q, infinite));
  };
  const Histogram& all = evidence.ttft_ns;
  const std::uint64_t infinite = evidence.ttft_infinite;
  return {.n = all.count() + infinite,
          .p50_s = of(all, infinite, 0.5),
          .p90_s = of(all, infinite, 0.9),
          .p90_ok_s = of(all, 0, 0.9),
          .p90_sent_s = of(evidence.ttft_sent_ns, 0, 0.9),
          .p95_s = of(all, infinite, 0.95),
          .p99_s = of(all, infinite, 0.99)};
}

RateSummary SummarizeRate(const StepEvidence& evidence) {
  const auto of = [](const Histogram& values, std::uint64_t zeros,
                     double q) -> std::optional<double> {
    if (values.count() + zeros < FewestForQuantile(q)) return std::nullopt;
    return TokensPerSecond(values.ReachedByWithZeros(q, zeros));
  };
  const Histogram& all = evidence.rate_mtok_s;
  const std::uint64_t zeros = evidence.rate_zero;
  RateSummary summary{.n = all.count() + zeros,
                      .reached_by_50_tok_s = of(all, zeros, 0.5),
                      .reached_by_90_tok_s = of(all, zeros, 0.9),
                      .reached_by_90_ok_tok_s = of(all, 0, 0.9),
                      .end_to_end_reached_by_90_tok_s =
                          of(evidence.end_to_end_rate_mtok_s, evidence.end_to_end_zero, 0.9),
                      .reached_by_95_tok_s = of(all, zeros, 0.95),
                      .reached_by_99_tok_s = of(all, zeros, 0.99)};
  for (const CellCounts& cell : evidence.cells) summary.one_chunk += cell.rate_one_chunk;
  return summary;
}

ErrorSummary SummarizeErrors(const StepEvidence& evidence) {
  ErrorSummary summary{.outcomes = evidence.outcomes};
  for (const CellCounts& cell : evidence.cells) {
    summary.attempts += cell.attempts;
    summary.failed += cell.failed;
    summary.unsent += cell.unsent;
  }
  summary.ok = evidence.outcomes[static_cast<std::size_t>(Outcome::kOk)];
  summary.client_errors = evidence.outcomes[static_cast<std::size_t>(Outcome::kClientError)];
  const std::uint64_t all = summary.attempts + summary.unsent;
  if (all > 0) {
    summary.error_share =
        static_cast<double>(summary.failed + summary.unsent) / static_cast<double>(all);
  }
  return summary;
}

constexpr double kPpm = 1e6;

std::optional<double> Share(std::optional<std::int64_t> ppm) {
  if (!ppm) return std::nullopt;
  return static_cast<double>(*ppm) / kPpm;
}

FidelitySummary SummarizeFidelity(const FidelityEvidence& e) {
  FidelitySummary summary{.output_n = e.output_n,
                          .output_ratio_p50 = Share(e.output_ratio_ppm.Quantile(0.5)),
                          .prompt_n = e.prompt_n,
                          .cached_n = e.cached_n,
                          .tokens_out_n = e.tokens_out_n,
                          .drift_p50 = Share(e.drift_ppm.Quantile(0.5)),
                          .drift_over = e.drift_over,
                          .tool_present = e.tool_present,
                          .tool_valid = e.tool_valid,
                          .tool_invalid = e.tool_invalid,
                          .reasoning_only = e.reasoning_only,
                          .hidden_reasoning = e.hidden_reasoning,
                          .doubts = e.doubts,
                          .tool_faults = e.tool_faults};
  if (e.tokens_asked > 0) {
    summary.output_ratio = static_cast<double>(e.tokens_came) / static_cast<double>(e.tokens_asked);
  }
  if (!e.drift_ppm.empty()) summary.drift_max = Share(e.drift_ppm.max());
  if (e.tokens_expected > 0) {
    summary.drift_total = static_cast<double>(e.tokens_reported) / e.tokens_expected - 1;
  }
  return summary;
}

}  // namespace

bool HasTally(const StepSummary& step, const AgentEvidence& agent) {
  return !step.broken_off_after && !agent.lost && !agent.no_tally;
}

bool HasTallies(const StepSummary& step) {
  return !step.broken_off_after &&
         std::all_of(step.agents.begin(), step.agents.end(),
                     [&](const AgentEvidence& agent) { return HasTally(step, agent); });
}

StepSummary Summarize(const StepEvidence& evidence, const StepVerdict& verdict) {
  StepSummary summary{.plan = evidence.plan,
                      .verdict = verdict,
                      .requests_in_flight_mean = evidence.requests_in_flight_mean,
                      .ttft = SummarizeTtft(evidence),
                      .rate = SummarizeRate(evidence),
                      .errors = SummarizeErrors(evidence),
                      .tokens_in = evidence.tokens_in,
                      .tokens_cached = evidence.tokens_cached,
                      .tokens_out = evidence.tokens_out,
                      .usage_missing = evidence.usage_missing,
                      .fidelity = SummarizeFidelity(evidence.fidelity),
                      .agents = evidence.agents,
                      .identities = evidence.identities,
                      .replay = evidence.replay};
  if (evidence.planned_lane_ns > 0) {
    for (std::size_t i = 0; i < kLaneStates; ++i) {
      summary.lane_state_share[i] = static_cast<double>(evidence.lane_state_ns[i]) /
                                    static_cast<double>(evidence.planned_lane_ns);
    }
  }
  const double measured_s = ToSeconds(evidence.plan.measure);
  if (measured_s > 0) {
    summary.calls_ok_per_s = static_cast<double>(summary.errors.ok) / measured_s;
  }
  return summary;
}

StepSummary SummarizeBrokenOff(const StepEvidence& evidence, const Bar& bar, Duration measured) {
  const Duration whole = evidence.plan.measure;
  const std::string why =
      measured > Duration{0}
          ? fmt::format("stopped after {} of {}", ShortTime(measured), ShortTime(whole))
          : std::string("stopped before its measured time began");
  StepVerdict verdict{.is_void = true, .reasons = {why}};
  for (const Limit& limit : bar.limits) {
    if (IsJudged(limit, evidence)) verdict.parts.push_back({.limit = limit, .reason = why});
  }
  StepSummary summary = Summarize(evidence, verdict);
  summary.broken_off_after = measured;
  summary.calls_ok_per_s.reset();
  if (measured > Duration{0}) {
    summary.calls_ok_per_s = static_cast<double>(summary.errors.ok) / ToSeconds(measured);
  }
  return summary;
}

}  // namespace plimsoll
