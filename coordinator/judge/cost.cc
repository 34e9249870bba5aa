#include "coordinator/judge/cost.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "coordinator/judge/void_rules.h"

namespace plimsoll {
namespace {

constexpr std::string_view kNoPrice = "the scenario names no price";
constexpr std::string_view kNoNodes = "the scenario names no nodes";

Figure None(std::string_view why) {
  return {.value = std::nullopt, .why_not = std::string(why)};
}

// A count of tokens with how many of the calls that should say it do.
struct Count {
  const std::optional<std::uint64_t>& tokens;
  std::uint64_t said = 0;
  std::uint64_t asked = 0;
  const char* what = "";
};

// Tokens, or why they are not known: a sum that misses calls would make every token look dearer.
Figure Known(const Count& count) {
  if (!count.tokens) return None(fmt::format("usage reports no {}", count.what));
  const double missing =
      count.said < count.asked ? static_cast<double>(count.asked - count.said) : 0;
  if (missing > void_rules::kUsageMissingShareMax * static_cast<double>(count.asked)) {
    return None(fmt::format("{} of {} calls do not report {}", count.asked - count.said,
                            count.asked, count.what));
  }
  return {.value = static_cast<double>(*count.tokens), .why_not = ""};
}

Figure Sum(const Figure& a, const Figure& b) {
  if (!a.value) return a;
  if (!b.value) return b;
  return {.value = *a.value + *b.value, .why_not = ""};
}

TokenFigures TokensOf(const StepSummary& step) {
  const FidelitySummary& f = step.fidelity;
  const std::uint64_t ok = step.errors.ok;
  const Figure in =
      Known({.tokens = step.tokens_in, .said = f.prompt_n, .asked = ok, .what = "prompt tokens"});
  TokenFigures tokens;
  tokens.out = Known({.tokens = step.tokens_out,
                      .said = ok - std::min(ok, step.usage_missing),
                      .asked = ok,
                      .what = "output tokens"});
  tokens.all = Sum(in, tokens.out);
  tokens.cached = Known({.tokens = step.tokens_cached,
                         .said = f.cached_n,
                         .asked = f.prompt_n,
                         .what = "cached tokens"});
  if (!in.value || !tokens.cached.value) {
    tokens.uncached = in.value ? tokens.cached : in;
  } else if (*tokens.cached.value > *in.value) {
    tokens.cached = tokens.uncached =
        None("usage counts more cached tokens than prompt tokens, so one of them is wrong");
  } else {
    tokens.uncached = {.value = *in.value - *tokens.cached.value, .why_not = ""};
  }
  return tokens;
}

// How long the step's tokens were counted: one that was failed early ended there.
Duration CountedTime(const StepSummary& step) {
  return step.origin.failed_early_after ? step.origin.measured : step.plan.measure;
}

// Tokens of the measured time to millions an hour.
Figure PerHour(const Figure& tokens, double hours) {
  if (!tokens.value) return tokens;
  if (!(hours > 0)) return None("nothing was measured");
  return {.value = *tokens.value / 1e6 / hours, .why_not = ""};
}

// `price` carried by `amount` of something.
Figure Over(double price, const Figure& amount, std::string_view none) {
  if (!amount.value) return amount;
  const double each = price / *amount.value;
  if (!(*amount.value > 0) || !std::isfinite(each)) return None(none);
  return {.value = each, .why_not = ""};
}

template <typename Change>
TokenFigures Each(const TokenFigures& figures, Change change) {
  return {.all = change(figures.all),
          .cached = change(figures.cached),
          .uncached = change(figures.uncached),
          .out = change(figures.out)};
}

Figure Divided(const Figure& figure, std::uint32_t nodes) {
  if (!figure.value) return figure;
  return {.value = *figure.value / nodes, .why_not = ""};
}

Cost Nothing(const std::optional<CostSettings>& settings, std::string_view why) {
  const Figure none = None(why);
  const TokenFigures tokens = {none, none, none, none};
  return {.settings = settings,
          .sessions = std::nullopt,
          .per_session_hour = none,
          .per_mtok = tokens,
          .mtok_per_hour = tokens,
          .sessions_per_node = none,
          .mtok_per_node_hour = none};
}

}  // namespace

std::vector<NamedFigure> FiguresOf(const Cost& cost) {
  return {{"per_session_hour", cost.per_session_hour},
          {"per_million_tokens", cost.per_mtok.all},
          {"per_million_tokens_if_cached_in_carried_all", cost.per_mtok.cached},
          {"per_million_tokens_if_uncached_in_carried_all", cost.per_mtok.uncached},
          {"per_million_tokens_if_out_carried_all", cost.per_mtok.out},
          {"million_tokens_per_hour", cost.mtok_per_hour.all},
          {"million_cached_in_tokens_per_hour", cost.mtok_per_hour.cached},
          {"million_uncached_in_tokens_per_hour", cost.mtok_per_hour.uncached},
          {"million_out_tokens_per_hour", cost.mtok_per_hour.out},
          {"sessions_per_node", cost.sessions_per_node},
          {"million_tokens_per_node_hour", cost.mtok_per_node_hour}};
}

Cost CostOfStep(const StepSummary& step, const std::optional<CostSettings>& settings) {
  Cost cost = Nothing(settings, kNoPrice);
  cost.sessions = step.plan.sessions;
  const double hours = ToSeconds(CountedTime(step)) / 3600;
  cost.mtok_per_hour =
      Each(TokensOf(step), [&](const Figure& tokens) { return PerHour(tokens, hours); });
  if (!settings || settings->nodes == 0) {
    cost.sessions_per_node = cost.mtok_per_node_hour = None(kNoNodes);
    return cost;
  }
  const Figure sessions = {.value = step.plan.sessions, .why_not = ""};
  cost.sessions_per_node = Divided(sessions, settings->nodes);
  cost.mtok_per_node_hour = Divided(cost.mtok_per_hour.all, settings->nodes);
  const double hourly = settings->hourly();
  if (!(hourly > 0)) return cost;
  cost.per_session_hour = Over(hourly, sessions, "the step had no session");
  cost.per_mtok = Each(cost.mtok_per_hour, [&](const Figure& rate) {
    return Over(hourly, rate, "there were none of them");
  });
  return cost;
}

Cost CostOfRun(const std::vector<const StepSummary*>& steps, const Capacity& capacity,
               const std::optional<CostSettings>& settings) {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const StepSummary& s = **step;
    if (!capacity.passed || s.plan.sessions != *capacity.passed || !s.verdict.holds()) continue;
    return CostOfStep(s, settings);
  }
  return Nothing(settings, "no step held");
}

}  // namespace plimsoll
