// The eval sets that ship with the program (deploy/evals), as text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

struct BuiltinSet {
  std::string_view name;  // "basic": the file's, without its end.
  std::string_view text;  // JSON lines.
};

// By name.
std::span<const BuiltinSet> BuiltinSets();

// NotFound, naming those there are.
StatusOr<std::string_view> BuiltinSetText(std::string_view name);

}  // namespace plimsoll
