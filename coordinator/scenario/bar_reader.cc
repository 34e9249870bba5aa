#include "coordinator/scenario/bar_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/limits.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/scenario/evals_reader.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::string_view kFromBaseline = "from_baseline";
constexpr std::string_view kBaselineExample = "from_baseline: {runs: [RUN-ID], sessions: 10}";

// What relative limits are relative to, and which tiers there are.
struct Context {
  const std::vector<TierPlan>& mix;
  std::optional<LimitOrigin> baseline;
  bool baseline_used = false;

  bool HasTier(std::string_view name) const {
    return std::any_of(mix.begin(), mix.end(),
                       [name](const TierPlan& tier) { return tier.name == name; });
  }
};

// "90", "99.5": thousandths of a percent, at most 999,999. Nothing if it is no such number.
std::optional<std::uint32_t> MilliPercent(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  std::string decimals(text.substr(std::min(point + 1, text.size())));
  if (digits.empty() || digits.size() > 3 || decimals.size() > 3) return std::nullopt;
  if (point < text.size() && decimals.empty()) return std::nullopt;
  decimals.resize(3, '0');
  digits += decimals;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// The limit that `key` names, without its value; nothing if it names none, or one that is wrong
// (then with a problem).
std::optional<Limit> NamedBy(FieldReader& fields, const std::string& key) {
  for (const MetricTraits& traits : AllMetrics()) {
    if (IsBadShare(traits.metric)) {
      if (key == traits.key) return Limit{.metric = traits.metric, .quantile = 0};
      continue;
    }
    const std::string stem = fmt::format("{}_p", traits.key);
    if (!key.starts_with(stem)) continue;
    const auto milli = MilliPercent(std::string_view(key).substr(stem.size()));
    if (!milli.has_value()) continue;
    (void)fields.Find(key);
    if (*milli < 50'000 || *milli >= 100'000) {
      fields.Problem(
          key, fmt::format("{}, write {}50 to {}99.9",
                           *milli < 50'000 ? "is below the median" : "is all of them", stem, stem));
      return std::nullopt;
    }
    Limit limit{.metric = traits.metric, .quantile = *milli / 100'000.0};
    if (PartKey(limit) == key) return limit;
    fields.Problem(key, fmt::format("is written {}", PartKey(limit)));
    return std::nullopt;
  }
  return std::nullopt;
}

bool IsRelative(const ConfigNode* node) {
  return node != nullptr && node->kind == ConfigNode::Kind::kScalar &&
         (node->text.starts_with('+') || node->text.starts_with('-')) && node->text.ends_with('%');
}

// "+10%" is 1.1, "-20%" is 0.8.
std::optional<double> FactorOf(const std::string& text) {
  double percent = 0;
  const char* const last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data() + 1, last, percent);
  // Ten times a baseline, or a tenth of it, is a slip of the pen.
  const bool less = text.front() == '-';
  const double most = less ? 90 : 900;
  if (error != std::errc() || end != last || !(percent >= 0 && percent <= most))
    return std::nullopt;
  return (less ? 100 - percent : 100 + percent) / 100;
}

bool TakeRelative(FieldReader& fields, const std::string& key, Context& context, Limit& limit) {
  if (!context.baseline.has_value()) {
    fields.Problem(key, fmt::format("is relative, and nothing says to what; add {} to the bar",
                                    kBaselineExample));
    return false;
  }
  context.baseline_used = true;
  const std::optional<double> factor = FactorOf(fields.Find(key)->text);
  if (!factor.has_value()) {
    fields.Problem(key, "is no change from a tenth to ten times of a baseline, write e.g. +10%");
    return false;
  }
  limit.origin = context.baseline;
  limit.origin->factor = *factor;
  return true;
}

bool TakeValue(FieldReader& fields, const std::string& key, Context& context, Limit& limit) {
  if (IsRelative(fields.Find(key))) return TakeRelative(fields, key, context, limit);
  std::optional<double> value;
  if (IsBadShare(limit.metric)) {
    value = fields.Share(key);
  } else if (TraitsOf(limit.metric).at_most) {
    if (const auto time = fields.Time(key)) value = ToSeconds(*time);
  } else {
    value = fields.TokenRate(key);
  }
  limit.value = value.value_or(0);
  return value.has_value();
}

void ReadTier(FieldReader& fields, const std::string& tier, Context& context, Bar& bar);

// What is no limit of all calls, and not the baseline either, may be a tier with limits of its own.
bool MayBeTier(const ConfigNode& bar, const std::string& key, const Context& context) {
  if (key == kFromBaseline) return false;
  const ConfigNode* node = bar.Find(key);
  return (node != nullptr && node->kind == ConfigNode::Kind::kMap) || context.HasTier(key);
}

// Limits of `fields`, all of them on `tier`; empty: on all calls, and `node` may hold tiers.
void ReadLimits(FieldReader& fields, const std::string& tier, const ConfigNode* node,
                Context& context, Bar& bar) {
  for (const std::string& key : fields.Keys()) {
    if (key == "evals" && node != nullptr) {
      ReadEvalBar(fields, bar.evals);
    } else if (std::optional<Limit> limit = NamedBy(fields, key)) {
      limit->tier = tier;
      if (TakeValue(fields, key, context, *limit)) bar.limits.push_back(*std::move(limit));
    } else if (node != nullptr && MayBeTier(*node, key, context)) {
      ReadTier(fields, key, context, bar);
    }
  }
}

void ReadTier(FieldReader& fields, const std::string& tier, Context& context, Bar& bar) {
  (void)fields.Find(tier);
  if (!context.HasTier(tier)) {
    std::vector<std::string> names;
    for (const TierPlan& plan : context.mix) names.push_back(plan.name);
    if (names.empty()) return;  // The mix has a problem of its own.
    return fields.Problem(
        tier, fmt::format("is no tier of the mix, which has {}", fmt::join(names, ", ")));
  }
  std::optional<FieldReader> limits = fields.Map(tier);
  if (!limits.has_value()) return;
  if (limits->Keys().empty()) {
    fields.Problem(tier, "has no limit, write e.g. {ttft_p90: 10s}");
  }
  ReadLimits(*limits, tier, nullptr, context, bar);
  for (const std::string_view key : {"ttft_p90", "interactivity_p90", "errors", "tool_calls"}) {
    (void)limits->Find(key);
  }
  limits->Finish();
}

void ReadBaseline(FieldReader& fields, Context& context) {
  std::optional<FieldReader> source = fields.Map(kFromBaseline);
  if (!source.has_value()) return;
  LimitOrigin origin;
  if (source->Require("runs", "[RUN-ID]")) {
    if (auto runs = source->Texts("runs")) origin.runs = *std::move(runs);
    if (origin.runs.empty() || origin.runs.size() > kBaselineRunsMax) {
      source->Problem("runs", fmt::format("must be 1 to {} ids, as `plimsoll runs list` shows them",
                                          kBaselineRunsMax));
    }
    if (std::set(origin.runs.begin(), origin.runs.end()).size() != origin.runs.size()) {
      source->Problem("runs", "names a run twice, keep one");
    }
  }
  if (source->Require("sessions", "10")) {
    if (const auto sessions = source->Count("sessions", 1, limits::kLanesMax)) {
      origin.sessions = static_cast<std::uint32_t>(*sessions);
    }
  }
  source->Finish();
  context.baseline = std::move(origin);
}

}  // namespace

void ReadBar(FieldReader& top, const std::vector<TierPlan>& mix, Bar& bar) {
  if (!top.Require("bar", "{ttft_p90: 5.3s, interactivity_p90: 10 tok/s, errors: 2%}")) return;
  std::optional<FieldReader> fields = top.Map("bar");
  if (!fields.has_value()) return;
  Context context{.mix = mix, .baseline = std::nullopt};
  ReadBaseline(*fields, context);
  ReadLimits(*fields, "", top.Find("bar"), context, bar);
  if (context.baseline.has_value() && !context.baseline_used) {
    fields->Problem(kFromBaseline, "is used by no limit, write one such as ttft_p90: +10%");
  }
  if (bar.limits.size() > kBarLimitsMax) {
    top.Problem("bar", fmt::format("has {} limits, at most {} are possible", bar.limits.size(),
                                   kBarLimitsMax));
  }
  for (const std::string_view key :
       {"ttft_p90", "interactivity_p90", "end_to_end_interactivity_p90", "goodput_p90", "errors",
        "tool_calls", "evals"}) {
    (void)fields->Find(key);
  }
  for (const TierPlan& tier : mix) (void)fields->Find(tier.name);
  fields->Finish();
}

}  // namespace plimsoll
