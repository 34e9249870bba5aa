// What makes an answer to an eval case right, and the judgement of one answer. Pure; nlohmann-json
// behind a fence. Immutable; copies share it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/status.h"
#include "common/evals/tool_answer.h"
#include "common/evals/tool_set.h"
#include "common/record/eval_outcome.h"
#include "common/record/tool_fault.h"

namespace plimsoll {

// An answer that came to its end, as far as it is judged.
struct EvalAnswer {
  std::string content;  // Of the first choice: no reasoning, no refusal.
  bool content_too_long = false;
  ToolAnswer tools;
};

class AnswerCheck {
 public:
  static constexpr std::size_t kContentBytesMax = std::size_t{64} << 10;  // More is wrong.

  // An object of the checks of docs/evals.md (exact, regex, number, json, json_schema, calls,
  // no_calls) with their options. All of them must hold. InvalidArgument says what is wrong.
  static StatusOr<AnswerCheck> Read(std::string_view expect);

  // The right answer holds tool calls.
  bool wants_calls() const;
  // The answer is right. Whether its calls are well formed is not looked at.
  bool Holds(const EvalAnswer& answer) const;

 private:
  struct Impl;
  explicit AnswerCheck(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

struct EvalJudgement {
  EvalOutcome outcome = EvalOutcome::kWrong;
  ToolFaultCounts faults;
};

// An answer whose call ended ok. A faulty tool call is kToolFault even where its text is right; an
// answer that is right passes even if its cap was reached. `tools` are those that were offered; a
// call of an answer to a case that offers none names an unknown tool.
EvalJudgement JudgeAnswer(const AnswerCheck& check, const ToolSet& tools, const EvalAnswer& answer);

}  // namespace plimsoll
