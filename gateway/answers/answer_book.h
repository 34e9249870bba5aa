// The answers' file: a set of evals (docs/evals.md) by their questions, so that the gateway knows
// what is right, and what is wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/status.h"
#include "common/evals/eval_set.h"
#include "gateway/answers/answer_script.h"

namespace plimsoll {

class AnswerBook {
 public:
  // The set in `text`, named `name` in messages. InvalidArgument: what is wrong with the set, two
  // cases that ask the same, or a case without a wrong answer for which none of ours is one.
  static StatusOr<std::shared_ptr<const AnswerBook>> Read(std::string_view name,
                                                          std::string_view text);
  // The same from a file; NotFound if it cannot be read.
  static StatusOr<std::shared_ptr<const AnswerBook>> Load(const std::string& file);

  // The case that asks this, by HashBytes() of its last user message; null: none does.
  const EvalCase* Find(std::uint64_t last_user_hash) const;
  std::span<const EvalCase> cases() const { return set_.cases; }

  static AnswerPlan Right(const EvalCase& eval);
  // One of the case's wrong answers, by `draw`.
  static AnswerPlan Wrong(const EvalCase& eval, std::uint64_t draw);

 private:
  AnswerBook() = default;

  EvalSet set_;
  std::unordered_map<std::uint64_t, std::size_t> by_question_;
};

}  // namespace plimsoll
