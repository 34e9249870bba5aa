#include "common/evals/eval_set.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/json_text.h"
#include "common/base/text.h"
#include "common/evals/case_reader.h"

namespace plimsoll {
namespace {

constexpr std::size_t kProblemsMax = 10;

class SetReader {
 public:
  explicit SetReader(std::string_view name) : name_(name) {}

  void TakeLine(std::string_view line) {
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    if (line.size() > kEvalLineBytesMax) {
      return Problem(fmt::format("{} bytes, a case has at most {}: shorten it", line.size(),
                                 kEvalLineBytesMax));
    }
    if (set_.cases.size() == kEvalCasesMax) {
      if (!std::exchange(too_many_, true)) {
        Problem(fmt::format("more than {} cases: split the set", kEvalCasesMax));
      }
      return;
    }
    StatusOr<EvalCase> read = ReadEvalCase(line);
    if (!read.ok()) return Problem(MessageOf(read.status()));
    if (!ids_.insert(read->id).second) {
      return Problem(
          fmt::format("the id \"{}\" is taken by a line before: each case has its own", read->id));
    }
    TakeKind(read->kind);
    set_.cases.push_back(std::move(*read));
  }

  StatusOr<EvalSet> Finish() && {
    if (problems_ == 0 && set_.cases.empty()) Problem("no cases: write one a line");
    if (problems_ == 0) return std::move(set_);
    if (problems_ > kProblemsMax) {
      message_ += fmt::format("{}: {} more problems\n", name_, problems_ - kProblemsMax);
    }
    message_.pop_back();
    return absl::InvalidArgumentError(message_);
  }

 private:
  void TakeKind(const std::string& kind) {
    if (std::find(set_.kinds.begin(), set_.kinds.end(), kind) != set_.kinds.end()) return;
    if (set_.kinds.size() == kEvalKindsMax) {
      return Problem(fmt::format("more than {} kinds: join some", kEvalKindsMax));
    }
    set_.kinds.push_back(kind);
  }

  void Problem(std::string_view what) {
    if (++problems_ > kProblemsMax) return;
    message_ += fmt::format("{}:{}: {}\n", name_, std::max<std::size_t>(line_, 1), what);
  }

  std::string_view name_;
  std::size_t line_ = 0;
  std::size_t problems_ = 0;
  bool too_many_ = false;
  std::string message_;
  std::set<std::string> ids_;
  EvalSet set_;
};

}  // namespace

StatusOr<EvalSet> ReadEvalSet(std::string_view name, std::string_view text) {
  if (text.size() > kEvalSetBytesMax) {
    return absl::InvalidArgumentError(fmt::format("{}: {} bytes, a set has at most {}: split it",
                                                  name, text.size(), kEvalSetBytesMax));
  }
  SetReader reader(name);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    reader.TakeLine(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::move(reader).Finish();
}

std::string EvalBody(const EvalCase& eval, const EvalBodyOptions& options) {
  std::string body = fmt::format(R"({{"model":"{}","messages":{},"max_tokens":{},"temperature":0)",
                                 JsonEscaped(options.model), eval.messages_json, eval.max_tokens);
  if (!eval.tools_json.empty()) {
    body += fmt::format(R"(,"tools":{},"tool_choice":"{}")", eval.tools_json,
                        eval.must_call ? "required" : "auto");
  }
  body += options.stream ? R"(,"stream":true,"stream_options":{"include_usage":true})"
                         : R"(,"stream":false)";
  if (!options.extra_fields.empty()) body.append(",").append(options.extra_fields);
  body.push_back('}');
  return body;
}

EvalJudgement Judge(const EvalCase& eval, const EvalAnswer& answer) {
  return JudgeAnswer(eval.check, *eval.tools, answer);
}

}  // namespace plimsoll
