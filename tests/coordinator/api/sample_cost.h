// A cost and a recipe, every field other than its default.
#pragma once

#include "coordinator/judge/cost.h"
#include "coordinator/store/run_values.h"

namespace plimsoll::testing {

inline Cost FullCost() {
  const Figure figure{.value = 1.5, .why_not = "x"};
  const TokenFigures tokens{figure, figure, figure, figure};
  return {.settings = CostSettings{4, 14'400'000, "USD"},
          .sessions = 10,
          .per_session_hour = figure,
          .per_mtok = tokens,
          .mtok_per_hour = tokens,
          .sessions_per_node = figure,
          .mtok_per_node_hour = figure};
}

inline KeptRecipe FullRecipe() {
  return {.note = "n", .files = {{"a.yaml", "k: v", "77", 2}}};
}

}  // namespace plimsoll::testing
