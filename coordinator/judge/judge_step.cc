#include "coordinator/judge/judge_step.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/judge/void_rules.h"

namespace plimsoll {
namespace {

PartVerdict NoData(PartVerdict part, std::string reason) {
  part.verdict = Verdict::kNoData;
  part.reason = std::move(reason);
  return part;
}

// The cells as observations of one metric.
std::vector<ShareCell> CellsOf(const StepEvidence& evidence, Metric metric) {
  std::vector<ShareCell> cells;
  cells.reserve(evidence.cells.size());
  for (const CellCounts& cell : evidence.cells) {
    ShareCell share{.lane = cell.lane, .block = cell.block};
    switch (metric) {
      case Metric::kTtft:
        share.n = cell.ttft_n;
        share.hits = cell.ttft_within;
        break;
      case Metric::kInteractivity:
        share.n = cell.rate_n;
        share.hits = cell.rate_within;
        break;
      case Metric::kErrors:
        share.n = std::uint64_t{cell.attempts} + cell.unsent;
        share.hits = std::uint64_t{cell.failed} + cell.unsent;
        break;
      case Metric::kToolCalls:
        share.n = cell.tool_answers;
        share.hits = cell.tool_invalid;
        break;
    }
    cells.push_back(share);
  }
  return cells;
}

void TakeInterval(PartVerdict& part, const ShareInterval& interval) {
  part.n = interval.n;
  part.share_within = interval.share;
  part.share_low = interval.low;
  part.share_high = interval.high;
}

void TakeSide(PartVerdict& part, const ShareInterval& interval, double limit, Side good) {
  const SideOf side = Compare(interval, limit, good);
  part.lean = side.lean;
  part.verdict = side.side == Side::kCrosses ? Verdict::kTooClose
                 : side.side == good         ? Verdict::kPass
                                             : Verdict::kFail;
}

// "92.0% within (95% interval 88.1–95.3%), needs 90%"
std::string ShareSentence(const PartVerdict& part) {
  return fmt::format("{:.1f}% within (95% interval {:.1f}–{:.1f}%), needs {:g}%",
                     part.share_within * 100, part.share_low * 100, part.share_high * 100,
                     part.limit.quantile * 100);
}

void TakeTtft(PartVerdict& part, const StepEvidence& evidence) {
  const Limit& limit = part.limit;
  const Percentile all =
      evidence.ttft_ns.QuantileWithInfinite(limit.quantile, evidence.ttft_infinite);
  part.value_infinite = all.infinite;
  if (all.value) part.value = static_cast<double>(*all.value) * 1e-9;
  if (const auto finite = evidence.ttft_ns.Quantile(limit.quantile)) {
    part.value_ok_only = static_cast<double>(*finite) * 1e-9;
  }
  if (part.value && limit.value > 0) part.margin = (limit.value - *part.value) / limit.value;
  const std::string value = part.value            ? ThreeDigits(*part.value) + " s"
                            : part.value_infinite ? "infinite (failed calls)"
                                                  : "unknown";
  part.reason = fmt::format("P{:g} of {} calls {}, limit {:g} s: {}", limit.quantile * 100, part.n,
                            value, limit.value, ShareSentence(part));
}

void TakeInteractivity(PartVerdict& part, const StepEvidence& evidence) {
  const Limit& limit = part.limit;
  if (const auto all =
          evidence.rate_mtok_s.ReachedByWithZeros(limit.quantile, evidence.rate_zero)) {
    part.value = static_cast<double>(*all) * 1e-3;
  }
  if (const auto nonzero = evidence.rate_mtok_s.ReachedBy(limit.quantile)) {
    part.value_ok_only = static_cast<double>(*nonzero) * 1e-3;
  }
  if (part.value && limit.value > 0) part.margin = (*part.value - limit.value) / limit.value;
  const std::string value = part.value ? ThreeDigits(*part.value) + " tok/s" : "unknown";
  part.reason = fmt::format("{:g}% of {} calls reach {}, limit {:g} tok/s: {}",
                            limit.quantile * 100, part.n, value, limit.value, ShareSentence(part));
}

PartVerdict JudgeLatency(PartVerdict part, const StepEvidence& evidence, double tail) {
  const double quantile = part.limit.quantile;
  const std::uint64_t needed = FewestForQuantile(quantile);
  if (needed == 0) {
    return NoData(std::move(part), fmt::format("the bar asks for {:g}% of the calls, which is no "
                                               "share between 0% and 100%",
                                               quantile * 100));
  }
  const ShareInterval interval = ShareOf(CellsOf(evidence, part.limit.metric), tail);
  TakeInterval(part, interval);
  if (interval.n < needed) {
    return NoData(std::move(part), fmt::format("{} calls, at least {} are needed for P{:g}",
                                               interval.n, needed, quantile * 100));
  }
  TakeSide(part, interval, quantile, Side::kAbove);
  if (part.limit.metric == Metric::kTtft) {
    TakeTtft(part, evidence);
  } else {
    TakeInteractivity(part, evidence);
  }
  return part;
}

PartVerdict JudgeBadShare(PartVerdict part, const StepEvidence& evidence, double tail) {
  const bool errors = part.limit.metric == Metric::kErrors;
  const ShareInterval interval = SmallShareOf(CellsOf(evidence, part.limit.metric), tail);
  TakeInterval(part, interval);
  if (interval.n == 0) {
    return NoData(std::move(part),
                  errors ? "no attempt was released" : "no answer held a whole tool call");
  }
  TakeSide(part, interval, part.limit.value, Side::kBelow);
  part.value = interval.share;
  if (part.limit.value > 0) part.margin = (part.limit.value - interval.share) / part.limit.value;
  part.reason = fmt::format(
      "{} of {} {}: {:.2f}% (95% interval {:.2f}–{:.2f}%), limit {:g}%", interval.hits, interval.n,
      errors ? "attempts failed or were never sent" : "answers with tool calls were malformed",
      interval.share * 100, interval.low * 100, interval.high * 100, part.limit.value * 100);
  return part;
}

std::string LighterLoad(double sent_share, std::string_view what) {
  return fmt::format(
      "only {:.1f}% of the planned load was sent, under {:.0f}%: the {} belong to a "
      "lighter load",
      sent_share * 100, void_rules::kSentShareMin * 100, what);
}

PartVerdict JudgePart(const Limit& limit, const StepEvidence& evidence, double sent_share,
                      double tail) {
  PartVerdict part{.limit = limit};
  if (!std::isfinite(limit.value)) return NoData(std::move(part), "the limit is not a number");
  if (limit.metric == Metric::kErrors) return JudgeBadShare(std::move(part), evidence, tail);
  if (limit.metric == Metric::kToolCalls) {
    part = JudgeBadShare(std::move(part), evidence, tail);
    // Malformed is malformed; but well formed under a lighter load proves nothing.
    if (part.verdict == Verdict::kFail || sent_share >= void_rules::kSentShareMin) return part;
    return NoData(std::move(part), LighterLoad(sent_share, "tool calls"));
  }
  if (limit.metric != Metric::kTtft && limit.metric != Metric::kInteractivity) {
    return NoData(std::move(part), "the bar names an unknown part");
  }
  if (sent_share < void_rules::kSentShareMin) {
    return NoData(std::move(part), LighterLoad(sent_share, "latencies"));
  }
  if (limit.metric == Metric::kInteractivity) {
    const std::uint64_t ok = evidence.outcomes[static_cast<std::size_t>(Outcome::kOk)];
    const std::uint64_t contradicted = evidence.fidelity.doubts.contradicted();
    const std::uint64_t missing = evidence.usage_missing + contradicted;
    if (static_cast<double>(missing) >
        void_rules::kUsageMissingShareMax * static_cast<double>(ok)) {
      return NoData(
          std::move(part),
          fmt::format("{} of {} ok calls came without usage{}, over {:g}%: their "
                      "interactivity is unknown",
                      missing, ok, contradicted > 0 ? " or with usage that contradicts itself" : "",
                      void_rules::kUsageMissingShareMax * 100));
    }
  }
  return JudgeLatency(std::move(part), evidence, tail);
}

// Any fail, else any no data, else any too close, else pass.
Verdict Combine(const std::vector<PartVerdict>& parts) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const PartVerdict& part) { return part.verdict == verdict; });
  };
  if (parts.empty()) return Verdict::kNoData;
  for (const Verdict verdict : {Verdict::kFail, Verdict::kNoData, Verdict::kTooClose}) {
    if (any(verdict)) return verdict;
  }
  return Verdict::kPass;
}

}  // namespace

StepVerdict JudgeStep(const StepEvidence& evidence, const Bar& bar) {
  StepVerdict step{.offered_share = OfferedShare(evidence), .sent_share = SentShare(evidence)};
  step.reasons = VoidReasons(evidence);
  step.is_void = !step.reasons.empty();
  for (const Limit& limit : bar.limits) {
    step.parts.push_back(step.is_void
                             ? NoData({.limit = limit}, "the step is void: " + step.reasons.front())
                             : JudgePart(limit, evidence, step.sent_share, kIntervalTail));
  }
  if (step.is_void) return step;

  step.verdict = Combine(step.parts);
  for (const PartVerdict& part : step.parts) {
    if (part.verdict != step.verdict || step.verdict == Verdict::kPass) continue;
    step.reasons.push_back(fmt::format("{}: {}", Name(part.limit.metric), part.reason));
  }
  if (bar.limits.empty()) step.reasons.emplace_back("the bar names no part");
  return step;
}

std::vector<PartVerdict> JudgePartsSoFar(const StepEvidence& evidence, const Bar& bar,
                                         double tail) {
  std::vector<PartVerdict> parts;
  for (const Limit& limit : bar.limits) parts.push_back(JudgePart(limit, evidence, 1, tail));
  return parts;
}

}  // namespace plimsoll
