#include "gateway/answers/answer_book.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "common/base/rng.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

// What the last of the case's messages says.
std::string LastUserText(const EvalCase& eval) {
  const auto messages = nlohmann::json::parse(eval.messages_json, nullptr, false);
  if (!messages.is_array() || messages.empty() || !messages.back().is_object()) return "";
  const auto content = messages.back().find("content");
  return content != messages.back().end() && content->is_string() ? content->get<std::string>()
                                                                  : std::string();
}

AnswerPlan PlanOf(const EvalAnswer& answer) {
  AnswerPlan plan{.content = answer.content, .calls = {}, .says_calls = false};
  for (const ToolCall& call : answer.tools.calls) {
    plan.calls.push_back({.id = {}, .name = call.name, .arguments = call.arguments});
  }
  plan.says_calls = !plan.calls.empty();
  return plan;
}

// Where the set gives no wrong answer, one of ours that is.
bool AddWrong(EvalCase* eval) {
  if (!eval->wrong.empty()) return true;
  for (const char* text : {"I cannot say.", "No."}) {
    EvalAnswer answer;
    answer.content = text;
    if (Judge(*eval, answer).outcome == EvalOutcome::kPass) continue;
    eval->wrong.push_back(std::move(answer));
    return true;
  }
  return false;
}

}  // namespace

StatusOr<std::shared_ptr<const AnswerBook>> AnswerBook::Read(std::string_view name,
                                                             std::string_view text) {
  ASSIGN_OR_RETURN(EvalSet set, ReadEvalSet(name, text));
  const auto book = std::shared_ptr<AnswerBook>(new AnswerBook());
  book->set_ = std::move(set);
  for (std::size_t i = 0; i < book->set_.cases.size(); ++i) {
    EvalCase& eval = book->set_.cases[i];
    const auto [other, added] = book->by_question_.emplace(HashBytes(LastUserText(eval)), i);
    if (!added) {
      return absl::InvalidArgumentError(
          fmt::format("{}: {} asks the same as {}: requests could not be told apart", name, eval.id,
                      book->set_.cases[other->second].id));
    }
    if (!AddWrong(&eval)) {
      return absl::InvalidArgumentError(fmt::format(
          "{}: {} takes any answer as right: give it one that is wrong", name, eval.id));
    }
  }
  return std::shared_ptr<const AnswerBook>(book);
}

StatusOr<std::shared_ptr<const AnswerBook>> AnswerBook::Load(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return absl::NotFoundError(
        fmt::format("{}: cannot be read: {}; check the path", file, std::strerror(errno)));
  }
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return absl::NotFoundError(fmt::format("{}: cannot be read", file));
  return Read(file, text);
}

const EvalCase* AnswerBook::Find(std::uint64_t last_user_hash) const {
  const auto found = by_question_.find(last_user_hash);
  return found == by_question_.end() ? nullptr : &set_.cases[found->second];
}

AnswerPlan AnswerBook::Right(const EvalCase& eval) {
  return PlanOf(eval.reference);
}

AnswerPlan AnswerBook::Wrong(const EvalCase& eval, std::uint64_t draw) {
  return PlanOf(eval.wrong[draw % eval.wrong.size()]);
}

}  // namespace plimsoll
