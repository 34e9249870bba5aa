#include "common/evals/answer_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/evals/json_bounds.h"
#include "common/evals/json_match.h"
#include "common/evals/json_schema.h"
#include "common/evals/last_number.h"
#include "common/evals/pattern.h"
#include "common/evals/tool_faults.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using nlohmann::json;

constexpr std::size_t kAlternativesMax = 64;

struct ExpectedCall {
  std::string name;
  JsonMatch arguments;
  bool more_arguments = false;

  bool Matches(const ToolCall& call) const {
    return !call.free_text && call.name == name &&
           arguments.Matches(call.arguments, more_arguments);
  }
};

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Without the code fence that the text stands in, if it does.
std::string_view WithoutFence(std::string_view text) {
  constexpr std::string_view kFence = "```";
  const std::size_t line = text.find('\n');
  if (!text.starts_with(kFence) || !text.ends_with(kFence) || line == std::string_view::npos ||
      line + 1 + kFence.size() > text.size()) {
    return text;
  }
  return Trimmed(text.substr(line + 1, text.size() - kFence.size() - line - 1));
}

// Whether each expected call has a call of its own, whatever the order: a matching in the graph of
// which fits which, grown by augmenting paths (Kuhn).
bool MatchAnyOrder(const std::vector<ExpectedCall>& expected, const std::vector<ToolCall>& calls) {
  const std::size_t n = expected.size();
  std::vector<std::vector<bool>> fits(n, std::vector<bool>(n));
  for (std::size_t e = 0; e < n; ++e) {
    for (std::size_t c = 0; c < n; ++c) fits[e][c] = expected[e].Matches(calls[c]);
  }
  std::vector<std::size_t> owner(n, n);  // Of each call: the expected one it stands for.
  for (std::size_t e = 0; e < n; ++e) {
    std::vector<bool> seen(n);
    const auto place = [&](const auto& self, std::size_t wanted) -> bool {
      for (std::size_t c = 0; c < n; ++c) {
        if (!fits[wanted][c] || seen[c]) continue;
        seen[c] = true;
        if (owner[c] == n || self(self, owner[c])) {
          owner[c] = wanted;
          return true;
        }
      }
      return false;
    };
    if (!place(place, e)) return false;
  }
  return true;
}

Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

}  // namespace

struct AnswerCheck::Impl {
  std::vector<std::string> exact;
  bool ignore_case = false;
  std::optional<Pattern> regex;
  std::optional<double> number;
  double tolerance = 0;
  std::optional<JsonMatch> value;
  std::optional<JsonSchema> schema;
  bool allow_fence = false;
  std::vector<ExpectedCall> calls;
  bool in_order = false;
  bool no_calls = false;

  Status Take(const std::string& key, const json& value_of);
  Status TakeExact(const json& texts);
  Status TakeCall(const json& call);
  Status TakeCalls(const json& list);
  Status TakeTolerance(const json& tolerance_of);
  Status Check(const json& expect) const;
  bool HoldsText(std::string_view content) const;
};

Status AnswerCheck::Impl::TakeExact(const json& texts) {
  const json list = texts.is_array() ? texts : json::array({texts});
  for (const json& text : list) {
    if (!text.is_string()) return Wrong("exact takes a string, or a list of right ones");
    exact.emplace_back(Trimmed(text.get_ref<const std::string&>()));
  }
  if (exact.empty() || exact.size() > kAlternativesMax) {
    return Wrong(fmt::format("exact takes 1 to {} strings", kAlternativesMax));
  }
  return absl::OkStatus();
}

Status AnswerCheck::Impl::TakeCall(const json& call) {
  const bool whole = call.is_object() && call.contains("name") && call.at("name").is_string() &&
                     call.contains("arguments") && call.at("arguments").is_object();
  const bool more = whole && call.contains("more_arguments");
  if (!whole || (more && !call.at("more_arguments").is_boolean()) ||
      call.size() != (more ? 3u : 2u)) {
    return Wrong(
        R"(a call is {"name": …, "arguments": {…}}, and "more_arguments": true or nothing)");
  }
  ASSIGN_OR_RETURN(JsonMatch arguments, JsonMatch::Read(call.at("arguments").dump()));
  calls.push_back({.name = call.at("name").get<std::string>(),
                   .arguments = std::move(arguments),
                   .more_arguments = more && call.at("more_arguments").get<bool>()});
  return absl::OkStatus();
}

Status AnswerCheck::Impl::TakeCalls(const json& list) {
  if (!list.is_array() || list.empty() || list.size() > ToolCallCollector::kCallsMax) {
    return Wrong(
        fmt::format("calls takes a list of 1 to {} calls; no_calls says that there are none",
                    ToolCallCollector::kCallsMax));
  }
  for (const json& call : list) RETURN_IF_ERROR(TakeCall(call));
  return absl::OkStatus();
}

Status AnswerCheck::Impl::TakeTolerance(const json& tolerance_of) {
  if (!tolerance_of.is_number() || tolerance_of < 0) {
    return Wrong("tolerance takes a number of at least 0");
  }
  tolerance = tolerance_of.get<double>();
  return absl::OkStatus();
}

Status AnswerCheck::Impl::Take(const std::string& key, const json& value_of) {
  const auto flag = [&](bool* to) {
    if (!value_of.is_boolean()) return Wrong(key + " takes true or false");
    *to = value_of.get<bool>();
    return absl::OkStatus();
  };
  if (key == "exact") return TakeExact(value_of);
  if (key == "ignore_case") return flag(&ignore_case);
  if (key == "allow_fence") return flag(&allow_fence);
  if (key == "no_calls") return flag(&no_calls);
  if (key == "tolerance") return TakeTolerance(value_of);
  if (key == "calls") return TakeCalls(value_of);
  if (key == "regex") {
    if (!value_of.is_string()) return Wrong("regex takes an expression as a string");
    ASSIGN_OR_RETURN(regex, Pattern::Compile(value_of.get_ref<const std::string&>()));
  } else if (key == "number") {
    if (!value_of.is_number()) return Wrong("number takes a number");
    number = value_of.get<double>();
  } else if (key == "json") {
    ASSIGN_OR_RETURN(value, JsonMatch::Read(value_of.dump()));
  } else if (key == "json_schema") {
    ASSIGN_OR_RETURN(schema, JsonSchema::Read(value_of.dump()));
  } else if (key == "order") {
    if (value_of != "any" && value_of != "given") return Wrong("order is \"any\" or \"given\"");
    in_order = value_of == "given";
  } else {
    return Wrong(
        fmt::format("\"{}\" is no check: they are exact, regex, number, json, json_schema, "
                    "calls and no_calls",
                    Printable(key, 40)));
  }
  return absl::OkStatus();
}

// Each option beside the check that it belongs to.
Status AnswerCheck::Impl::Check(const json& expect) const {
  const auto alone = [&](const char* option, std::initializer_list<const char*> checks) {
    return expect.contains(option) &&
           std::none_of(checks.begin(), checks.end(),
                        [&](const char* check) { return expect.contains(check); });
  };
  if (alone("ignore_case", {"exact"})) return Wrong("ignore_case stands beside exact");
  if (alone("tolerance", {"number"})) return Wrong("tolerance stands beside number");
  if (alone("order", {"calls"})) return Wrong("order stands beside calls");
  if (alone("allow_fence", {"json", "json_schema"})) {
    return Wrong("allow_fence stands beside json or json_schema");
  }
  if (no_calls && !calls.empty()) return Wrong("calls and no_calls exclude each other");
  const bool any =
      !exact.empty() || regex || number || value || schema || !calls.empty() || no_calls;
  return any ? absl::OkStatus() : Wrong("checks nothing");
}

bool AnswerCheck::Impl::HoldsText(std::string_view content) const {
  const std::string_view text = Trimmed(content);
  if (!exact.empty()) {
    const bool found = std::any_of(exact.begin(), exact.end(), [&](const std::string& right) {
      return ignore_case ? LowerAscii(right) == LowerAscii(text) : right == text;
    });
    if (!found) return false;
  }
  if (regex && !regex->Found(text)) return false;
  if (number) {
    const std::optional<double> last = LastNumber(text);
    if (!last || std::fabs(*last - *number) > tolerance) return false;
  }
  const std::string_view bare = allow_fence ? WithoutFence(text) : text;
  if (value && !value->Matches(bare)) return false;
  return !schema || schema->Check(bare) == SchemaFit::kFits;
}

StatusOr<AnswerCheck> AnswerCheck::Read(std::string_view expect_json) {
  RETURN_IF_ERROR(CheckJson(expect_json, {.unique_keys = true}));
  const json expect = json::parse(expect_json, nullptr, false);
  if (!expect.is_object()) return Wrong("expect is an object of checks");
  auto impl = std::make_shared<Impl>();
  for (const auto& [key, value] : expect.items()) RETURN_IF_ERROR(impl->Take(key, value));
  RETURN_IF_ERROR(impl->Check(expect));
  return AnswerCheck(std::move(impl));
}

bool AnswerCheck::wants_calls() const {
  return !impl_->calls.empty();
}

bool AnswerCheck::Holds(const EvalAnswer& answer) const {
  if (answer.content_too_long || answer.content.size() > kContentBytesMax) return false;
  const std::vector<ToolCall>& calls = answer.tools.calls;
  if (impl_->no_calls && !calls.empty()) return false;
  if (!impl_->calls.empty()) {
    if (calls.size() != impl_->calls.size()) return false;
    const bool match =
        impl_->in_order
            ? std::equal(calls.begin(), calls.end(), impl_->calls.begin(),
                         [](const ToolCall& c, const ExpectedCall& e) { return e.Matches(c); })
            : MatchAnyOrder(impl_->calls, calls);
    if (!match) return false;
  }
  return impl_->HoldsText(answer.content);
}

EvalJudgement JudgeAnswer(const AnswerCheck& check, const ToolSet& tools,
                          const EvalAnswer& answer) {
  EvalJudgement judgement{.faults = JudgeToolCalls(answer.tools, &tools)};
  const bool silent = answer.content.empty() && !answer.content_too_long;
  if (judgement.faults.faulty > 0) {
    judgement.outcome = EvalOutcome::kToolFault;
  } else if (check.Holds(answer)) {
    judgement.outcome = EvalOutcome::kPass;
  } else if (answer.tools.cut) {
    judgement.outcome = EvalOutcome::kCut;
  } else if (silent && answer.tools.calls.empty()) {
    judgement.outcome = EvalOutcome::kEmpty;
  } else if (check.wants_calls() && answer.tools.calls.empty()) {
    judgement.outcome = EvalOutcome::kNoCall;
  }
  return judgement;
}

}  // namespace plimsoll
