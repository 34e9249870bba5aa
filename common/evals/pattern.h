// A regular expression that takes linear time on any text, as RE2 does: std::regex recurses on what
// a server sends. RE2 behind a fence.
#pragma once

#include <memory>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

class Pattern {
 public:
  static constexpr std::size_t kBytesMax = 1024;  // Of the expression.

  // RE2's syntax (no look-around, no back references), UTF-8; "." matches no line feed unless
  // (?s). InvalidArgument says what is wrong with it, also when its program would be too large.
  static StatusOr<Pattern> Compile(std::string_view expression);
  // Copies share the program.

  // The expression matches somewhere in `text`: anchor it with ^ and $ to match all of it.
  bool Found(std::string_view text) const;

 private:
  struct Program;
  explicit Pattern(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const Program> program_;
};

}  // namespace plimsoll
