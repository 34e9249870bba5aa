#include "coordinator/judge/metrics.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace plimsoll {
namespace {

constexpr double kNanosPerSecond = 1e9;
constexpr double kMilliPerUnit = 1e3;

constexpr std::array<MetricTraits, kMetricsKnown> kTable = {{
    {.metric = Metric::kTtft,
     .name = "TTFT",
     .key = "ttft",
     .unit = "s",
     .sentence = "P{q} of {calls} {value}",
     .per_unit = kNanosPerSecond,
     .n = &CellCounts::ttft_n,
     .of_cell = &Cell::ttft_ns,
     .values = &CallEvidence::ttft_ns,
     .valueless = &CallEvidence::ttft_infinite},
    {.metric = Metric::kInteractivity,
     .name = "interactivity",
     .key = "interactivity",
     .unit = "tok/s",
     .sentence = "{q}% of {calls} reach {value}",
     .at_most = false,
     .needs_usage = true,
     .per_unit = kMilliPerUnit,
     .n = &CellCounts::rate_n,
     .of_cell = &Cell::rate_mtok_s,
     .values = &CallEvidence::rate_mtok_s,
     .valueless = &CallEvidence::rate_zero},
    {.metric = Metric::kErrors, .name = "errors", .key = "errors", .unit = "share"},
    {.metric = Metric::kToolCalls, .name = "tool calls", .key = "tool_calls", .unit = "share"},
    {.metric = Metric::kEndToEndInteractivity,
     .name = "end-to-end interactivity",
     .key = "end_to_end_interactivity",
     .unit = "tok/s",
     .sentence = "{q}% of {calls} reach {value} from release to last token",
     .at_most = false,
     .needs_usage = true,
     .per_unit = kMilliPerUnit,
     .n = &CellCounts::end_to_end_n,
     .of_cell = &Cell::end_to_end_rate_mtok_s,
     .values = &CallEvidence::end_to_end_rate_mtok_s,
     .valueless = &CallEvidence::end_to_end_zero},
    {.metric = Metric::kGoodput,
     .name = "goodput",
     .key = "goodput",
     .unit = "s",
     .sentence = "P{q} of {calls}' whole answers {value}",
     .per_unit = kNanosPerSecond,
     .n = &CellCounts::answer_n,
     .of_cell = &Cell::answer_ns,
     .values = &CallEvidence::answer_ns,
     .valueless = &CallEvidence::answer_infinite},
}};

std::string TierPrefix(const Limit& limit, std::string_view separator) {
  return limit.tier.empty() ? std::string() : fmt::format("{}{}", limit.tier, separator);
}

}  // namespace

std::span<const MetricTraits> AllMetrics() {
  return kTable;
}

const MetricTraits* FindTraits(Metric metric) {
  for (const MetricTraits& traits : kTable) {
    if (traits.metric == metric) return &traits;
  }
  return nullptr;
}

const MetricTraits& TraitsOf(Metric metric) {
  const MetricTraits* traits = FindTraits(metric);
  return traits != nullptr ? *traits : kTable.front();
}

const char* Name(Metric metric) {
  const MetricTraits* traits = FindTraits(metric);
  return traits != nullptr ? traits->name : "unknown";
}

std::string PartName(const Limit& limit) {
  std::string name = TierPrefix(limit, " ") + Name(limit.metric);
  if (IsBadShare(limit.metric)) return name;
  return fmt::format("{} P{:g}", name, limit.quantile * 100);
}

std::string PartKey(const Limit& limit) {
  std::string key = TierPrefix(limit, ".") + TraitsOf(limit.metric).key;
  if (IsBadShare(limit.metric)) return key;
  return fmt::format("{}_p{:g}", key, limit.quantile * 100);
}

std::string LimitText(const Limit& limit) {
  // What was measured has no end of digits; what was written down is shown as it was.
  const int digits = limit.origin ? 4 : 6;
  if (IsBadShare(limit.metric)) return fmt::format("{:.{}g}%", limit.value * 100, digits);
  return fmt::format("{:.{}g} {}", limit.value, digits, TraitsOf(limit.metric).unit);
}

std::string PartLabel(std::span<const Limit> limits, std::size_t index) {
  const Limit& limit = limits[index];
  const auto same = std::count_if(limits.begin(), limits.end(), [&](const Limit& other) {
    return other.metric == limit.metric && other.tier == limit.tier;
  });
  return same > 1 ? PartName(limit) : TierPrefix(limit, " ") + Name(limit.metric);
}

double StrictEdge(const Limit& limit) {
  if (!limit.origin) return limit.value;
  return (TraitsOf(limit.metric).at_most ? limit.origin->low : limit.origin->high)
      .value_or(limit.value);
}

double LooseEdge(const Limit& limit) {
  if (!limit.origin) return limit.value;
  return (TraitsOf(limit.metric).at_most ? limit.origin->high : limit.origin->low)
      .value_or(limit.value);
}

std::optional<std::uint8_t> TierOf(const Limit& limit, std::span<const std::string> tiers) {
  if (limit.tier.empty()) return std::nullopt;
  const auto at = std::find(tiers.begin(), tiers.end(), limit.tier);
  if (at == tiers.end()) return std::nullopt;
  return static_cast<std::uint8_t>(at - tiers.begin());
}

MetricValue ValueAt(const MetricTraits& traits, const Histogram& values, std::uint64_t valueless,
                    double quantile) {
  const auto in_unit = [&](std::optional<std::int64_t> value) -> std::optional<double> {
    if (!value) return std::nullopt;
    return static_cast<double>(*value) / traits.per_unit;
  };
  if (!traits.at_most) return {.value = in_unit(values.ReachedByWithZeros(quantile, valueless))};
  const Percentile percentile = values.QuantileWithInfinite(quantile, valueless);
  return {.value = in_unit(percentile.value), .infinite = percentile.infinite};
}

}  // namespace plimsoll
