// A set of eval cases: what is asked, which tools are offered, what makes an answer right. Read
// from JSON lines (docs/evals.md). Immutable once read; one may be used by several threads. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/limits.h"
#include "common/base/status.h"
#include "common/evals/answer_check.h"
#include "common/evals/tool_set.h"

namespace plimsoll {

struct EvalCase {
  std::string id;             // Unique in its set.
  std::string kind;           // "arithmetic", "tool-parallel": what pass rates are also shown by.
  std::string messages_json;  // A list, as it is sent.
  std::string tools_json;     // A list, as it is sent; empty: no tools.
  bool must_call = false;     // tool_choice "required"; else "auto".
  std::uint32_t max_tokens = 0;
  AnswerCheck check;
  std::shared_ptr<const ToolSet> tools;  // ToolSet::None() without tools; never null.
  EvalAnswer reference;                  // A right answer; the reader has seen that it passes.
  std::vector<EvalAnswer> wrong;         // Wrong ones; the reader has seen that none passes.
};

struct EvalSet {
  std::vector<EvalCase> cases;     // In the file's order; never empty.
  std::vector<std::string> kinds;  // Each once, in order of appearance.
};

inline constexpr std::size_t kEvalSetBytesMax = limits::kEvalSetBytesMax;
inline constexpr std::size_t kEvalLineBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kEvalCasesMax = limits::kEvalCasesMax;
inline constexpr std::size_t kEvalKindsMax = 16;
inline constexpr std::uint32_t kEvalMaxTokens = 32'768;
inline constexpr std::uint32_t kEvalMaxTokensDefault = 1024;

// The set in `text`, named `name` in messages. InvalidArgument with all that is wrong, up to ten
// lines "NAME:LINE: what, what would be right"; a case whose reference does not pass its own check,
// or whose wrong answer does, is wrong too.
StatusOr<EvalSet> ReadEvalSet(std::string_view name, std::string_view text);

struct EvalBodyOptions {
  std::string_view model;
  bool stream = true;
  // Further fields as JSON text without braces, as in ChatBodyOptions. Empty: none.
  std::string_view extra_fields;
};

// The body of the request that asks the case: temperature 0, its own cap, usage asked for.
std::string EvalBody(const EvalCase& eval, const EvalBodyOptions& options);

// The judgement of an answer to the case whose call ended ok.
EvalJudgement Judge(const EvalCase& eval, const EvalAnswer& answer);

}  // namespace plimsoll
