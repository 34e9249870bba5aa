#include "gateway/faults/faults.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/rng.h"

namespace plimsoll {
namespace {

using Forms = FaultForms;
constexpr Forms kRefuseForms[] = {{FaultForm::kSeconds, "seconds"}, {FaultForm::kDate, "date"}};
constexpr Forms kStartForms[] = {{FaultForm::kRefuses, "refuses"}, {FaultForm::kSilent, "silent"}};
constexpr Forms kTruncateForms[] = {
    {FaultForm::kClose, "close"}, {FaultForm::kEnd, "end"}, {FaultForm::kReset, "reset"}};
constexpr Forms kErrorForms[] = {{FaultForm::kObject, "object"}, {FaultForm::kEvent, "event"}};
constexpr Forms kGarbageForms[] = {{FaultForm::kBrokenJson, "broken_json"},
                                   {FaultForm::kBytes, "bytes"},
                                   {FaultForm::kJson, "json"},
                                   {FaultForm::kPage, "html"}};
constexpr Forms kContextForms[] = {{FaultForm::kOpenAi, "openai"},
                                   {FaultForm::kVllm, "vllm"},
                                   {FaultForm::kLlamaCpp, "llama_cpp"}};

constexpr Forms kToolCallForms[] = {{FaultForm::kMalformedJson, "malformed_json"},
                                    {FaultForm::kEmptyDelta, "empty_delta"},
                                    {FaultForm::kMissingName, "missing_name"},
                                    {FaultForm::kUnknownTool, "unknown_tool"},
                                    {FaultForm::kBlankRequired, "blank_required"},
                                    {FaultForm::kSchemaMismatch, "schema_mismatch"},
                                    {FaultForm::kFinishWithoutCall, "finish_without_call"}};
constexpr Forms kMissingForms[] = {{FaultForm::kNotFound, "not_found"},
                                   {FaultForm::kNoAnswer, "close"},
                                   {FaultForm::kHang, "hang"}};
constexpr Forms kResetForms[] = {{FaultForm::kCounters, "counters"},
                                 {FaultForm::kRestart, "restart"}};
constexpr Forms kPartialForms[] = {{FaultForm::kCut, "cut"}, {FaultForm::kFamilies, "families"}};

constexpr FaultKindInfo kKinds[] = {
    {FaultKind::kRefuse, "refuse", true, kRefuseForms},
    {FaultKind::kEngineRefuse, "engine_refuse", true, kRefuseForms},
    {FaultKind::kCrash, "crash", true, {}},
    {FaultKind::kHtml, "html", false, {}},
    {FaultKind::kSlowStart, "slow_start", false, kStartForms},
    {FaultKind::kContextLimit, "context_limit", false, kContextForms},
    {FaultKind::kErrorAfter200, "error_after_200", true, kErrorForms},
    {FaultKind::kTruncate, "truncate", true, kTruncateForms},
    {FaultKind::kStall, "stall", true, {}},
    {FaultKind::kGarbage, "garbage", true, kGarbageForms},
    {FaultKind::kMalformedToolCalls, "malformed_tool_calls", true, kToolCallForms},
    {FaultKind::kWrongAnswers, "wrong_answers", true, {}},
    {FaultKind::kUncapped, "uncapped", true, {}},
    {FaultKind::kOrphan, "orphan", true, {}},
    {FaultKind::kSlower, "slower", false, {}},
    {FaultKind::kCacheOff, "cache_off", false, {}},
    {FaultKind::kKvFull, "kv_full", false, {}},
    {FaultKind::kStuckQueue, "stuck_queue", false, {}},
    {FaultKind::kMetricsMissing, "metrics_missing", false, kMissingForms},
    {FaultKind::kMetricsStale, "metrics_stale", false, {}},
    {FaultKind::kMetricsReset, "metrics_reset", false, kResetForms},
    {FaultKind::kMetricsPartial, "metrics_partial", false, kPartialForms},
    {FaultKind::kGaugesFrozen, "gauges_frozen", false, {}},
};

bool OnCopy(const FaultRule& rule, std::uint32_t copy) {
  return rule.copies.empty() ||
         std::find(rule.copies.begin(), rule.copies.end(), copy) != rule.copies.end();
}

// The rule's beginning, and its end if it has one; absent: not known before the first request.
std::optional<Duration> BeginOf(const FaultRule& rule, const std::optional<Duration>& first) {
  if (rule.from_first_request && !first) return std::nullopt;
  return rule.at + (rule.from_first_request ? *first : Duration{0});
}

}  // namespace

std::span<const FaultKindInfo> FaultKinds() {
  return kKinds;
}

const FaultKindInfo& InfoOf(FaultKind kind) {
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [kind](const auto& info) { return info.kind == kind; });
  PLIMSOLL_CHECK(found != std::end(kKinds));
  return *found;
}

bool ActiveAt(const FaultRule& rule, const FaultMoment& moment) {
  Duration since = moment.elapsed;
  if (rule.from_first_request) {
    if (!moment.first_request) return false;
    since -= *moment.first_request;
  }
  return since >= rule.at && since - rule.at < rule.span;
}

const FaultRule* FaultFor(std::span<const FaultRule> rules, std::span<const FaultKind> kinds,
                          std::uint64_t seed, const FaultTarget& target,
                          const FaultMoment& moment) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const FaultRule& rule = rules[i];
    if (std::find(kinds.begin(), kinds.end(), rule.kind) == kinds.end()) continue;
    if (!ActiveAt(rule, moment) || !OnCopy(rule, target.copy)) continue;
    if (target.in_flight < rule.in_flight_min) continue;
    // A draw a rule and request, so that a rule more moves nobody else's luck.
    if (Rng(MixKey(seed, target.number, i)).Chance(rule.probability)) return &rule;
  }
  return nullptr;
}

const FaultRule* ActiveFault(std::span<const FaultRule> rules, FaultKind kind, std::uint32_t copy,
                             const FaultMoment& moment) {
  for (const FaultRule& rule : rules) {
    if (rule.kind == kind && ActiveAt(rule, moment) && OnCopy(rule, copy)) return &rule;
  }
  return nullptr;
}

const FaultRule* PageFault(std::span<const FaultRule> rules, FaultKind kind, const FaultPage& page,
                           const FaultMoment& moment) {
  for (const FaultRule& rule : rules) {
    if (rule.kind != kind || !ActiveAt(rule, moment)) continue;
    if (rule.pages != FaultPages::kAll && (rule.pages == FaultPages::kGateway) != page.gateway) {
      continue;
    }
    if (page.gateway) {
      if (rule.copies.empty()) return &rule;
      continue;
    }
    bool all = true;
    for (std::uint32_t copy = 0; copy < page.copies; ++copy) all = all && OnCopy(rule, copy);
    if (page.copy ? OnCopy(rule, *page.copy) : all) return &rule;
  }
  return nullptr;
}

bool OfCopies(const FaultRule& rule) {
  return rule.kind == FaultKind::kCrash && !rule.copies.empty();
}

bool ByChance(const FaultRule& rule) {
  return rule.probability < 1 || rule.in_flight_min > 0;
}

EngineCondition ConditionAt(std::span<const FaultRule> rules, std::uint32_t copy,
                            const FaultMoment& moment) {
  EngineCondition condition;
  for (const FaultRule& rule : rules) {
    if (!ActiveAt(rule, moment) || !OnCopy(rule, copy)) continue;
    switch (rule.kind) {
      case FaultKind::kSlower:
        condition.slowdown *= rule.factor;
        break;
      case FaultKind::kCacheOff:
        condition.cache_off = true;
        break;
      case FaultKind::kKvFull:
        condition.kv_taken = std::max(condition.kv_taken, rule.share);
        break;
      case FaultKind::kStuckQueue:
        condition.queue_stuck = true;
        break;
      default:
        break;
    }
  }
  return condition;
}

std::optional<Duration> NextChange(std::span<const FaultRule> rules, const FaultMoment& moment) {
  std::optional<Duration> next;
  const auto take = [&](Duration at) {
    if (at > moment.elapsed) next = std::min(next.value_or(at), at);
  };
  for (const FaultRule& rule : rules) {
    const std::optional<Duration> begin = BeginOf(rule, moment.first_request);
    if (!begin) continue;
    take(*begin);
    if (rule.span < Duration::max() - *begin) take(*begin + rule.span);
  }
  return next;
}

std::optional<Duration> CrashAt(std::span<const FaultRule> rules,
                                std::optional<Duration> first_request) {
  std::optional<Duration> earliest;
  for (const FaultRule& rule : rules) {
    if (rule.kind != FaultKind::kCrash || OfCopies(rule) || ByChance(rule)) continue;
    if (const auto at = BeginOf(rule, first_request)) {
      earliest = std::min(earliest.value_or(*at), *at);
    }
  }
  return earliest;
}

}  // namespace plimsoll
