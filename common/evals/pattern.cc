#include "common/evals/pattern.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

// Memory of the program and its automaton's states; past it RE2 falls back to its slower, still
// linear engine.
constexpr std::int64_t kMemory = std::int64_t{1} << 20;

re2::RE2::Options OptionsOf() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMemory);
  options.set_never_capture(true);
  return options;
}

}  // namespace

struct Pattern::Program {
  explicit Program(std::string_view expression)
      : regex(re2::StringPiece(expression.data(), expression.size()), OptionsOf()) {}
  re2::RE2 regex;
};

StatusOr<Pattern> Pattern::Compile(std::string_view expression) {
  if (expression.size() > kBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("an expression of {} bytes, at most {}", expression.size(), kBytesMax));
  }
  auto program = std::make_shared<const Program>(expression);
  if (!program->regex.ok()) {
    return absl::InvalidArgumentError(fmt::format("the expression is not one (RE2's syntax): {}",
                                                  Printable(program->regex.error(), kBytesMax)));
  }
  return Pattern(std::move(program));
}

bool Pattern::Found(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), program_->regex);
}

}  // namespace plimsoll
