#include "gateway/faults/faults.h"

#include <algorithm>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

bool Active(const FaultRule& rule, const FaultMoment& moment) {
  Duration since = moment.elapsed;
  if (rule.from_first_request) {
    if (!moment.first_request) return false;
    since -= *moment.first_request;
  }
  return since >= rule.at && since - rule.at < rule.span;
}

}  // namespace

const FaultRule* FaultFor(std::span<const FaultRule> rules, std::uint64_t seed,
                          std::uint64_t number, const FaultMoment& moment) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const FaultRule& rule = rules[i];
    if (!Active(rule, moment)) continue;
    // A draw a rule and request, so that a rule more moves nobody else's luck.
    if (Rng(MixKey(seed, number, i)).Chance(rule.probability)) return &rule;
  }
  return nullptr;
}

bool HtmlAt(std::span<const FaultRule> rules, const FaultMoment& moment) {
  return std::any_of(rules.begin(), rules.end(), [&](const FaultRule& rule) {
    return rule.kind == FaultKind::kHtml && Active(rule, moment);
  });
}

std::optional<Duration> CrashAt(std::span<const FaultRule> rules,
                                std::optional<Duration> first_request) {
  std::optional<Duration> earliest;
  for (const FaultRule& rule : rules) {
    if (rule.kind != FaultKind::kCrash || rule.probability < 1) continue;
    if (rule.from_first_request && !first_request) continue;
    const Duration at = rule.at + (rule.from_first_request ? *first_request : Duration{0});
    earliest = std::min(earliest.value_or(at), at);
  }
  return earliest;
}

}  // namespace plimsoll
