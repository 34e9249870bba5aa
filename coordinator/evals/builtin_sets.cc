#include "coordinator/evals/builtin_sets.h"

#include <fmt/format.h>

namespace plimsoll {

StatusOr<std::string_view> BuiltinSetText(std::string_view name) {
  std::string names;
  for (const BuiltinSet& set : BuiltinSets()) {
    if (set.name == name) return set.text;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", set.name);
  }
  return absl::NotFoundError(
      fmt::format("no eval set of ours is called \"{}\"; there are {}", name, names));
}

}  // namespace plimsoll
