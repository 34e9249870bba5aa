#include "common/evals/case_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/evals/json_bounds.h"
#include "common/evals/tool_faults.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using nlohmann::json;

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kMessagesMax = 64;
constexpr std::size_t kWrongMax = 8;
constexpr std::array<std::string_view, 10> kFields = {
    "id",          "kind",       "prompt", "messages",  "tools",
    "tool_choice", "max_tokens", "expect", "reference", "wrong"};

Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

// Ids and kinds go into reports, labels of metrics and file names as they are.
StatusOr<std::string> NameOf(const json& line, const char* field) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  if (line.contains(field) && line.at(field).is_string()) {
    auto name = line.at(field).get<std::string>();
    if (!name.empty() && name.size() <= kNameBytesMax &&
        std::all_of(name.begin(), name.end(), is_fine)) {
      return name;
    }
  }
  return Wrong(
      fmt::format("{} is 1 to {} of a-z, 0-9, \"-\", \"_\" and \".\"", field, kNameBytesMax));
}

bool IsMessage(const json& message) {
  if (!message.is_object() || message.size() != 2 || !message.contains("role") ||
      !message.contains("content") || !message.at("content").is_string()) {
    return false;
  }
  const json& role = message.at("role");
  return role == "system" || role == "user" || role == "assistant";
}

Status TakeMessages(const json& line, EvalCase* eval) {
  if (line.contains("prompt") == line.contains("messages")) {
    return Wrong("a case has either prompt, the user's text, or messages, a list");
  }
  json messages;
  if (line.contains("prompt")) {
    messages.push_back(json::object({{"role", "user"}, {"content", line.at("prompt")}}));
  } else {
    messages = line.at("messages");
  }
  if (!messages.is_array() || messages.empty() || messages.size() > kMessagesMax ||
      !std::all_of(messages.begin(), messages.end(), IsMessage)) {
    return Wrong(fmt::format(
        R"(prompt is a string; messages are 1 to {} of {{"role": ROLE, "content": STRING}}, ROLE )"
        "being system, user or assistant",
        kMessagesMax));
  }
  if (messages.back().at("role") != "user") return Wrong("the last message is not the user's");
  eval->messages_json = messages.dump();
  return absl::OkStatus();
}

Status TakeTools(const json& line, EvalCase* eval) {
  if (line.contains("tools")) {
    eval->tools_json = line.at("tools").dump();
    ASSIGN_OR_RETURN(ToolSet tools, ToolSet::Read(eval->tools_json));
    eval->tools = std::make_shared<const ToolSet>(std::move(tools));
  } else {
    eval->tools = std::make_shared<const ToolSet>(ToolSet::None());
  }
  if (!line.contains("tool_choice")) return absl::OkStatus();
  const json& choice = line.at("tool_choice");
  if (!line.contains("tools") || (choice != "auto" && choice != "required")) {
    return Wrong("tool_choice is \"auto\" or \"required\", beside tools");
  }
  eval->must_call = choice == "required";
  return absl::OkStatus();
}

Status TakeMaxTokens(const json& line, EvalCase* eval) {
  eval->max_tokens = kEvalMaxTokensDefault;
  if (!line.contains("max_tokens")) return absl::OkStatus();
  const json& most = line.at("max_tokens");
  if (!most.is_number_unsigned() || most < 1 || most > kEvalMaxTokens) {
    return Wrong(fmt::format("max_tokens is a whole number from 1 to {}", kEvalMaxTokens));
  }
  eval->max_tokens = most.get<std::uint32_t>();
  return absl::OkStatus();
}

// Arguments may be an object, or a string that a broken server could send.
StatusOr<ToolCall> CallOf(const json& call) {
  const bool whole = call.is_object() && call.size() == 2 && call.contains("name") &&
                     call.at("name").is_string() && call.contains("arguments");
  if (!whole || !(call.at("arguments").is_object() || call.at("arguments").is_string())) {
    return Wrong(R"(a call of an answer is {"name": …, "arguments": an object, or text})");
  }
  const json& arguments = call.at("arguments");
  return ToolCall{
      .name = call.at("name").get<std::string>(),
      .arguments = arguments.is_string() ? arguments.get<std::string>() : arguments.dump(),
      .has_id = true};
}

StatusOr<EvalAnswer> AnswerOf(const json& answer) {
  EvalAnswer result;
  if (answer.is_string()) {
    result.content = answer.get<std::string>();
    return result;
  }
  const bool calls = answer.is_object() && answer.contains("calls");
  const bool content = answer.is_object() && answer.contains("content");
  if ((!calls && !content) || answer.size() != std::size_t{calls} + std::size_t{content} ||
      (calls && !answer.at("calls").is_array()) || (content && !answer.at("content").is_string())) {
    return Wrong(R"(an answer is a string, or {"content": STRING, "calls": [CALL, …]})");
  }
  if (content) result.content = answer.at("content").get<std::string>();
  if (!calls) return result;
  for (const json& call : answer.at("calls")) {
    ASSIGN_OR_RETURN(ToolCall taken, CallOf(call));
    result.tools.calls.push_back(std::move(taken));
  }
  result.tools.finished_for_calls = !result.tools.calls.empty();
  return result;
}

// What the reference lacks, for whoever writes the set: the first fault of its calls, in words.
std::string WhyNot(const EvalCase& eval, const EvalJudgement& judgement) {
  if (judgement.outcome != EvalOutcome::kToolFault) return std::string(Name(judgement.outcome));
  for (const ToolCall& call : eval.reference.tools.calls) {
    std::string why;
    const auto fault = FaultOf(call, eval.tools.get(), &why);
    if (fault) return fmt::format("{}{}{}", Describe(*fault), why.empty() ? "" : ", ", why);
  }
  return std::string(Name(judgement.outcome));
}

Status TakeAnswers(const json& line, EvalCase* eval) {
  if (!line.contains("reference")) {
    return Wrong("reference is missing: a right answer, which its own check must pass");
  }
  ASSIGN_OR_RETURN(eval->reference, AnswerOf(line.at("reference")));
  const EvalJudgement judgement = Judge(*eval, eval->reference);
  if (judgement.outcome != EvalOutcome::kPass) {
    return Wrong(fmt::format("its reference does not pass its own check ({}): mend either",
                             WhyNot(*eval, judgement)));
  }
  if (!line.contains("wrong")) return absl::OkStatus();
  const json& wrong = line.at("wrong");
  if (!wrong.is_array() || wrong.size() > kWrongMax) {
    return Wrong(fmt::format("wrong is a list of at most {} answers", kWrongMax));
  }
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    ASSIGN_OR_RETURN(EvalAnswer answer, AnswerOf(wrong[i]));
    if (Judge(*eval, answer).outcome == EvalOutcome::kPass) {
      return Wrong(fmt::format("its wrong answer {} passes its check: sharpen the check", i + 1));
    }
    eval->wrong.push_back(std::move(answer));
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<EvalCase> ReadEvalCase(std::string_view line) {
  RETURN_IF_ERROR(CheckJson(line, {.unique_keys = true}));
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return Wrong("a line is one JSON object, a case");
  for (const auto& [key, value] : object.items()) {
    if (std::find(kFields.begin(), kFields.end(), key) == kFields.end()) {
      return Wrong(fmt::format("unknown field \"{}\"; known are {}", Printable(key, 40),
                               fmt::join(kFields, ", ")));
    }
  }
  ASSIGN_OR_RETURN(std::string id, NameOf(object, "id"));
  ASSIGN_OR_RETURN(std::string kind, NameOf(object, "kind"));
  if (!object.contains("expect")) return Wrong("expect is missing: what makes an answer right");
  auto check = AnswerCheck::Read(object.at("expect").dump());
  if (!check.ok()) return Annotate(check.status(), "expect");
  EvalCase eval{.id = std::move(id), .kind = std::move(kind), .check = std::move(*check)};
  RETURN_IF_ERROR(TakeMessages(object, &eval));
  RETURN_IF_ERROR(Annotate(TakeTools(object, &eval), "tools"));
  RETURN_IF_ERROR(TakeMaxTokens(object, &eval));
  if (eval.check.wants_calls() && eval.tools->size() == 0) {
    return Wrong("expects calls and offers no tools");
  }
  RETURN_IF_ERROR(TakeAnswers(object, &eval));
  return eval;
}

}  // namespace plimsoll
