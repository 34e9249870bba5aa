#include "gateway/faults/fault_reader.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace plimsoll {
namespace {

template <typename From, typename To>
void Take(const std::optional<From>& from, To& to) {
  if (from.has_value()) to = static_cast<To>(*from);
}

// When, how often and where a fault strikes.
void ReadConditions(FieldReader& fields, bool per_request, std::uint32_t copies, FaultRule* rule) {
  Take(fields.Time("at"), rule->at);
  Take(fields.Time("for"), rule->span);
  constexpr std::array<std::string_view, 2> kFrom = {"start", "first_request"};
  rule->from_first_request = fields.Choice("from", kFrom).value_or(0) == 1;
  if (per_request) {
    Take(fields.Fraction("probability"), rule->probability);
    Take(fields.Count("in_flight_min", 1, 1'000'000), rule->in_flight_min);
  } else {
    for (const std::string_view key : {"probability", "in_flight_min"}) {
      if (fields.Find(key) == nullptr) continue;
      fields.Problem(key, "is not for this kind, which strikes all the time that it lasts");
    }
  }
  const bool everywhere = rule->kind == FaultKind::kHtml || rule->kind == FaultKind::kSlowStart;
  if (!everywhere && fields.Find("copies") != nullptr) {
    if (const auto list = fields.Counts("copies", 0, copies - 1)) {
      for (const std::uint64_t copy : *list) {
        rule->copies.push_back(static_cast<std::uint32_t>(copy));
      }
    }
  }
}

// Which pages a fault of metrics strikes.
void ReadPages(FieldReader& fields, FaultRule* rule) {
  constexpr std::array<std::string_view, 3> kPages = {"all", "engines", "gateway"};
  const auto choice = fields.Choice("pages", kPages);
  if (choice) rule->pages = static_cast<FaultPages>(*choice);
  if (rule->copies.empty()) return;
  if (rule->pages == FaultPages::kGateway) {
    fields.Problem("copies", "the gateway's page is of no copy");
  }
  rule->pages = FaultPages::kEngines;
}

// What only some kinds have.
void ReadDetails(FieldReader& fields, FaultRule* rule) {
  switch (rule->kind) {
    case FaultKind::kRefuse:
    case FaultKind::kEngineRefuse:
      Take(fields.Count("status", 400, 599), rule->status);
      Take(fields.Time("retry_after"), rule->retry_after);
      break;
    case FaultKind::kSlowStart:
      Take(fields.Time("retry_after"), rule->retry_after);
      if (fields.Require("for", "for: 30s, the time it takes to come up") &&
          rule->from_first_request) {
        fields.Problem("from", "a gateway that starts counts from its start");
      }
      break;
    case FaultKind::kContextLimit:
      if (fields.Require("tokens", "tokens: 8k, the limit")) {
        Take(fields.Count("tokens", 1, 100'000'000), rule->tokens);
      }
      break;
    case FaultKind::kStall:
      Take(fields.Count("after_tokens", 0, 1'000'000), rule->after_tokens);
      Take(fields.Time("pause"), rule->pause);
      break;
    case FaultKind::kErrorAfter200:
    case FaultKind::kTruncate:
    case FaultKind::kGarbage:
      Take(fields.Count("after_tokens", 0, 1'000'000), rule->after_tokens);
      break;
    case FaultKind::kUncapped:
      Take(fields.Count("tokens", 1, 10'000'000), rule->tokens);
      break;
    case FaultKind::kSlower:
      Take(fields.Number("factor", 0.001, 1'000), rule->factor);
      break;
    case FaultKind::kKvFull:
      Take(fields.Fraction("share"), rule->share);
      break;
    case FaultKind::kCrash:
      if (fields.Find("down") != nullptr && !(OfCopies(*rule) && ByChance(*rule))) {
        fields.Problem("down",
                       "is for copies that crash by chance or under load; elsewhere write for:");
      } else {
        Take(fields.Time("down"), rule->down);
      }
      break;
    case FaultKind::kMetricsPartial:
      ReadPages(fields, rule);
      if (rule->form == FaultForm::kFamilies) {
        if (fields.Require("families", "families: [\"vllm:time_to_first_token_seconds\"]")) {
          if (auto names = fields.Texts("families")) rule->families = *std::move(names);
        }
      }
      break;
    case FaultKind::kMetricsReset:
      ReadPages(fields, rule);
      if (fields.Find("for") != nullptr) {
        fields.Problem("for", "is not for this kind, which strikes once");
      }
      break;
    case FaultKind::kMetricsMissing:
    case FaultKind::kMetricsStale:
      ReadPages(fields, rule);
      break;
    case FaultKind::kGaugesFrozen:
    case FaultKind::kHtml:
    case FaultKind::kMalformedToolCalls:
    case FaultKind::kWrongAnswers:
    case FaultKind::kOrphan:
    case FaultKind::kCacheOff:
    case FaultKind::kStuckQueue:
      break;
  }
}

FaultRule ReadFault(const ConfigNode& node, std::string path, std::uint32_t copies,
                    Problems& problems) {
  FaultRule rule;
  FieldReader fields(node, std::move(path), problems);
  if (node.kind != ConfigNode::Kind::kMap) return rule;
  std::vector<std::string_view> names;
  for (const FaultKindInfo& info : FaultKinds()) names.push_back(info.name);
  std::optional<std::size_t> kind;
  if (fields.Require("kind", "kind: refuse")) kind = fields.Choice("kind", names);
  if (!kind) {  // What else it may have depends on its kind.
    ReadConditions(fields, true, copies, &rule);
    return rule;
  }
  const FaultKindInfo& info = FaultKinds()[*kind];
  rule.kind = info.kind;
  ReadConditions(fields, info.per_request, copies, &rule);
  if (!info.forms.empty()) {
    names.clear();
    for (const FaultForms& form : info.forms) names.push_back(form.name);
    rule.form = info.forms[fields.Choice("form", names).value_or(0)].form;
  }
  ReadDetails(fields, &rule);
  fields.Finish();
  return rule;
}

}  // namespace

std::vector<FaultRule> ReadFaults(FieldReader& top, std::uint32_t copies, Problems& problems) {
  std::vector<FaultRule> rules;
  const ConfigNode* const list = top.Find("faults");
  if (list == nullptr || list->kind == ConfigNode::Kind::kNull) return rules;
  if (list->kind != ConfigNode::Kind::kList) {
    top.Problem("faults", "must be a list, write e.g. [{kind: refuse, status: 429, at: 30s}]");
    return rules;
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    rules.push_back(ReadFault(list->items[i], fmt::format("faults[{}]", i), copies, problems));
  }
  return rules;
}

}  // namespace plimsoll
