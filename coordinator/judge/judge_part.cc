#include "coordinator/judge/judge_part.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/judge/value_interval.h"
#include "coordinator/judge/void_rules.h"

namespace plimsoll {
namespace {

// One limit and what of the step it is about.
struct Subject {
  const Limit& limit;
  const MetricTraits& traits;
  const std::size_t index;
  const StepEvidence& evidence;
  const std::optional<std::uint8_t> tier;  // Absent: all calls.

  const CallEvidence& calls() const {
    static const CallEvidence kNone;
    if (!tier) return evidence;
    return *tier < evidence.tiers.size() ? evidence.tiers[*tier] : kNone;
  }
  std::string CallsText(std::uint64_t n) const {
    return fmt::format("{} {}{}calls", n, limit.tier, limit.tier.empty() ? "" : " ");
  }
  std::string InUnit(double value) const {
    if (IsBadShare(limit.metric)) return fmt::format("{:.2f}%", value * 100);
    return fmt::format("{} {}", ThreeDigits(value), traits.unit);
  }
};

// False if a cell was counted against another bar. hits(counts) is called of limits on calls only.
template <typename Hits>
bool Count(const Limit& limit, std::size_t index, std::optional<std::uint8_t> tier,
           const std::vector<CellCounts>& from, const Hits& hits, std::vector<ShareCell>* cells) {
  for (const CellCounts& cell : from) {
    if (tier && cell.tier != *tier) continue;
    ShareCell share;
    if (IsBadShare(limit.metric)) {
      share = BadCallsOf(limit.metric, cell);
    } else if (index < cell.parts.size()) {
      const PartCounts& part = cell.parts[index];
      share = {.lane = cell.lane,
               .block = cell.block,
               .n = part.n,
               .hits = hits(part),
               .half = cell.half};
    } else {
      return false;
    }
    cells->push_back(share);
  }
  return true;
}

template <typename Hits>
bool CountsOf(const Subject& subject, const Hits& hits, std::vector<ShareCell>* cells) {
  return Count(subject.limit, subject.index, subject.tier, subject.evidence.cells, hits, cells);
}

std::uint64_t Within(const PartCounts& part) {
  return part.hits;
}
std::uint64_t WithinStrict(const PartCounts& part) {
  return part.hits_strict;
}
std::uint64_t WithinLoose(const PartCounts& part) {
  return part.hits_loose;
}

void TakeInterval(PartVerdict& part, const ShareInterval& interval) {
  part.n = interval.n;
  part.share_within = interval.share;
  part.share_low = interval.low;
  part.share_high = interval.high;
}

// The side of each end of the limit; without an interval of its own both are the value's.
struct Sides {
  SideOf value;
  SideOf strict;
  SideOf loose;
};

// Pass where the harder end is kept, fail where the easier one is missed.
void TakeSides(PartVerdict& part, const Sides& sides, Side good) {
  if (sides.strict.side == good) {
    part.verdict = Verdict::kPass;
  } else if (sides.loose.side != good && sides.loose.side != Side::kCrosses) {
    part.verdict = Verdict::kFail;
  } else {
    part.verdict = Verdict::kTooClose;
    part.lean = sides.value.side == Side::kCrosses ? sides.value.lean
                : sides.value.side == good         ? Lean::kPass
                                                   : Lean::kFail;
  }
}

// What a limit that comes from baseline runs adds to a reason; empty for others.
std::string OriginClause(const Subject& subject, const PartVerdict& part, const Sides& sides) {
  if (!subject.limit.origin) return "";
  const LimitOrigin& origin = *subject.limit.origin;
  if (!origin.low || !origin.high) {
    return "; the limit comes from one baseline run: how windows differ is unknown";
  }
  std::string text =
      fmt::format("; the limit comes from {} baseline runs, which put it at {} to {}",
                  origin.runs.size(), subject.InUnit(*origin.low), subject.InUnit(*origin.high));
  const bool alone = part.verdict == Verdict::kTooClose && sides.value.side != Side::kCrosses;
  return alone ? text + ": too wide to decide, though the value alone would" : text;
}

// "92.0% within (95% interval 88.1–95.3%), needs 90%"
std::string ShareSentence(const PartVerdict& part) {
  return fmt::format("{:.1f}% within (95% interval {:.1f}–{:.1f}%), needs {:g}%",
                     part.share_within * 100, part.share_low * 100, part.share_high * 100,
                     part.limit.quantile * 100);
}

// Why the interval holds everything; empty if it does not.
std::string UnknownSpreadClause(const ShareInterval& interval) {
  if (interval.degrees > 0) return "";
  if (interval.clusters < 2) return "; calls of a single lane are too few to show how they differ";
  return "; the measured time is too short, or its blocks are too long, to show how calls of one "
         "time depend on each other";
}

void TakeValue(PartVerdict& part, const Subject& subject) {
  const MetricTraits& traits = subject.traits;
  const CallEvidence& calls = subject.calls();
  const double quantile = part.limit.quantile;
  const Histogram& values = calls.*traits.values;
  const MetricValue all = ValueAt(traits, values, calls.*traits.valueless, quantile);
  part.value = all.value;
  part.value_infinite = all.infinite;
  part.value_ok_only = ValueAt(traits, values, 0, quantile).value;
  if (!part.value || !(part.limit.value > 0)) return;
  const double over = (*part.value - part.limit.value) / part.limit.value;
  part.margin = traits.at_most ? -over : over;
}

// The band of the percentile, from the cells at the threshold nearest to it.
QuantileBand BandOf(const Subject& subject) {
  std::array<std::uint64_t, kThresholds> hits{};
  std::uint64_t n = 0;
  for (const CellCounts& cell : subject.evidence.cells) {
    if (subject.tier && cell.tier != *subject.tier) continue;
    const PartCounts& part = cell.parts[subject.index];
    n += part.n;
    for (std::size_t i = 0; i < kThresholds; ++i) hits[i] += part.HitsAt(i);
  }
  const double quantile = subject.limit.quantile;
  const std::size_t nearest = NearestThreshold(quantile, n, hits).value_or(kAtLimit);
  std::vector<ShareCell> cells;
  CountsOf(
      subject, [&](const PartCounts& part) { return std::uint64_t{part.HitsAt(nearest)}; }, &cells);
  return plimsoll::BandOf(quantile, cells, subject.evidence.plan.block / 2);
}

// After the verdict. The interval shown is always at 95%.
void TakeValueInterval(PartVerdict& part, const Subject& subject) {
  const CallEvidence& calls = subject.calls();
  ValueInterval interval = ValuesAt(subject.traits, calls.*subject.traits.values,
                                    calls.*subject.traits.valueless, BandOf(subject));
  interval = Settled(interval, part.verdict, part.limit);
  part.value_low = interval.low;
  part.value_high = interval.high;
}

// " [3.62–4.91]", after the value and its unit; "" where nothing is known.
std::string IntervalText(const PartVerdict& part) {
  const auto end = [](const ShownPercentile& p) {
    return p.value ? ThreeDigits(*p.value) : p.infinite ? "infinite" : "open";
  };
  const ShownPercentile open;
  if (part.value_low == open && part.value_high == open) return "";
  return fmt::format(" [{}–{}]", end(part.value_low), end(part.value_high));
}

std::string ValueSentence(const PartVerdict& part, const Subject& subject) {
  const std::string value = part.value            ? subject.InUnit(*part.value)
                            : part.value_infinite ? "infinite (failed calls)"
                                                  : "unknown";
  return fmt::format(fmt::runtime(subject.traits.sentence),
                     fmt::arg("q", fmt::format("{:g}", part.limit.quantile * 100)),
                     fmt::arg("calls", subject.CallsText(part.n)),
                     fmt::arg("value", value + IntervalText(part)));
}

PartVerdict JudgeCalls(PartVerdict part, const Subject& subject, Confidence confidence) {
  confidence.half_block = subject.evidence.plan.block / 2;
  const double quantile = part.limit.quantile;
  const std::uint64_t needed = FewestForQuantile(quantile);
  if (needed == 0) {
    return NoData(std::move(part), fmt::format("the bar asks for {:g}% of the calls, which is no "
                                               "share between 0% and 100%",
                                               quantile * 100));
  }
  const bool spread = part.limit.origin && part.limit.origin->low && part.limit.origin->high;
  std::vector<ShareCell> at_value;
  std::vector<ShareCell> at_strict;
  std::vector<ShareCell> at_loose;
  if (!CountsOf(subject, Within, &at_value) ||
      (spread && (!CountsOf(subject, WithinStrict, &at_strict) ||
                  !CountsOf(subject, WithinLoose, &at_loose)))) {
    return NoData(std::move(part), "its calls were counted against another bar");
  }
  const ShareInterval interval = ShareOf(at_value, confidence);
  TakeInterval(part, interval);
  if (interval.n < needed) {
    return NoData(std::move(part),
                  fmt::format("{}, at least {} are needed for P{:g}", subject.CallsText(interval.n),
                              needed, quantile * 100));
  }
  Sides sides;
  sides.value = sides.strict = sides.loose = Compare(interval, quantile, Side::kAbove);
  if (spread) {
    const ShareInterval strict = ShareOf(at_strict, confidence);
    const ShareInterval loose = ShareOf(at_loose, confidence);
    sides.strict = Compare(strict, quantile, Side::kAbove);
    sides.loose = Compare(loose, quantile, Side::kAbove);
    // What the share may be with the limit anywhere in its own interval.
    part.share_low = std::min(interval.low, strict.low);
    part.share_high = std::max(interval.high, loose.high);
  }
  TakeSides(part, sides, Side::kAbove);
  TakeValue(part, subject);
  TakeValueInterval(part, subject);
  part.reason = fmt::format("{}, limit {}: {}{}{}", ValueSentence(part, subject),
                            LimitText(part.limit), ShareSentence(part),
                            UnknownSpreadClause(interval), OriginClause(subject, part, sides));
  return part;
}

PartVerdict JudgeBadShare(PartVerdict part, const Subject& subject, double tail) {
  const bool errors = part.limit.metric == Metric::kErrors;
  const std::string tier = part.limit.tier.empty() ? "" : part.limit.tier + " ";
  std::vector<ShareCell> cells;
  CountsOf(subject, Within, &cells);
  const ShareInterval interval = SmallShareOf(cells, tail);
  TakeInterval(part, interval);
  if (interval.n == 0) {
    return NoData(std::move(part), errors
                                       ? fmt::format("no {}attempt was released", tier)
                                       : fmt::format("no {}answer held a whole tool call", tier));
  }
  const Sides sides{.value = Compare(interval, part.limit.value, Side::kBelow),
                    .strict = Compare(interval, StrictEdge(part.limit), Side::kBelow),
                    .loose = Compare(interval, LooseEdge(part.limit), Side::kBelow)};
  TakeSides(part, sides, Side::kBelow);
  part.value = interval.share;
  part.value_low.value = interval.low;
  part.value_high.value = interval.high;
  if (part.limit.value > 0) part.margin = (part.limit.value - interval.share) / part.limit.value;
  part.reason = fmt::format(
      "{} of {} {}{}: {:.2f}% (95% interval {:.2f}–{:.2f}%), limit {}{}", interval.hits, interval.n,
      tier,
      errors ? "attempts failed or were never sent" : "answers with tool calls were malformed",
      interval.share * 100, interval.low * 100, interval.high * 100, LimitText(part.limit),
      OriginClause(subject, part, sides));
  return part;
}

std::string LighterLoad(double sent_share, std::string_view what) {
  return fmt::format(
      "only {:.1f}% of the planned load was sent, under {:.0f}%: the {} belong to a "
      "lighter load",
      sent_share * 100, void_rules::kSentShareMin * 100, what);
}

// Why too many calls have no value to judge; empty: they have.
std::string MissingUsage(const Subject& subject) {
  const CallEvidence& calls = subject.calls();
  const std::uint64_t ok = calls.outcomes[static_cast<std::size_t>(Outcome::kOk)];
  const std::uint64_t contradicted = calls.usage_contradicted;
  const std::uint64_t missing = calls.usage_missing + contradicted;
  if (static_cast<double>(missing) <= void_rules::kUsageMissingShareMax * static_cast<double>(ok)) {
    return "";
  }
  return fmt::format("{} of {} ok calls came without usage{}, over {:g}%: their {} is unknown",
                     missing, ok, contradicted > 0 ? " or with usage that contradicts itself" : "",
                     void_rules::kUsageMissingShareMax * 100, subject.traits.name);
}

}  // namespace

bool IsJudged(const Limit& limit, const StepEvidence& evidence) {
  const auto& out = evidence.tiers_left_out;
  return limit.tier.empty() || std::find(out.begin(), out.end(), limit.tier) == out.end();
}

bool ShareCellsOf(const Limit& limit, std::size_t index, const std::vector<CellCounts>& cells,
                  const std::vector<std::string>& tier_names, std::vector<ShareCell>* out) {
  const std::optional<std::uint8_t> tier = TierOf(limit, tier_names);
  if (!limit.tier.empty() && !tier) return false;
  return Count(limit, index, tier, cells, Within, out);
}

ShareCell BadCallsOf(Metric metric, const CellCounts& cell) {
  const bool errors = metric == Metric::kErrors;
  return {.lane = cell.lane,
          .block = cell.block,
          .n = errors ? std::uint64_t{cell.attempts} + cell.unsent : cell.tool_answers,
          .hits = errors ? std::uint64_t{cell.failed} + cell.unsent : cell.tool_invalid,
          .half = cell.half};
}

PartVerdict NoData(PartVerdict part, std::string reason) {
  part.verdict = Verdict::kNoData;
  part.reason = std::move(reason);
  return part;
}

PartVerdict JudgePart(const Limit& limit, std::size_t index, const StepEvidence& evidence,
                      double sent_share, const Confidence& confidence) {
  PartVerdict part{.limit = limit};
  const MetricTraits* traits = FindTraits(limit.metric);
  if (traits == nullptr) return NoData(std::move(part), "the bar names an unknown part");
  if (!std::isfinite(limit.value) || !std::isfinite(StrictEdge(limit)) ||
      !std::isfinite(LooseEdge(limit))) {
    return NoData(std::move(part), "the limit is not a number");
  }
  const Subject subject{.limit = limit,
                        .traits = *traits,
                        .index = index,
                        .evidence = evidence,
                        .tier = TierOf(limit, evidence.tier_names)};
  if (!limit.tier.empty() && !subject.tier) {
    return NoData(std::move(part), fmt::format("the step has no tier '{}'", limit.tier));
  }
  if (limit.metric == Metric::kErrors) {
    return JudgeBadShare(std::move(part), subject, confidence.tail);
  }
  if (limit.metric == Metric::kToolCalls) {
    part = JudgeBadShare(std::move(part), subject, confidence.tail);
    // Malformed is malformed; but well formed under a lighter load proves nothing.
    if (part.verdict == Verdict::kFail || sent_share >= void_rules::kSentShareMin) return part;
    return NoData(std::move(part), LighterLoad(sent_share, "tool calls"));
  }
  if (sent_share < void_rules::kSentShareMin) {
    return NoData(std::move(part), LighterLoad(sent_share, "latencies"));
  }
  if (traits->needs_usage) {
    if (std::string why = MissingUsage(subject); !why.empty()) {
      return NoData(std::move(part), std::move(why));
    }
  }
  return JudgeCalls(std::move(part), subject, confidence);
}

}  // namespace plimsoll
