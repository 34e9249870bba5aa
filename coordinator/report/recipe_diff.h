// In how many places two recipes' files differ: by keys where both are YAML maps, else by runs of
// changed lines. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coordinator/store/run_values.h"

namespace plimsoll {

struct FileDifference {
  std::string file;         // "recipes/6.yaml -> recipes/7.yaml", or the one name.
  std::size_t changes = 0;  // Keys or hunks; at least 1.
  std::string what;         // "keys engine.tp, nodes (and 3 more)", "2 hunks", "only in A".
  friend bool operator==(const FileDifference&, const FileDifference&) = default;
};

// Files of the same path are compared with each other, then the rest in their order. A file without
// a counterpart is one change. Empty: they are alike.
std::vector<FileDifference> DiffRecipes(const KeptRecipe& a, const KeptRecipe& b);

}  // namespace plimsoll
