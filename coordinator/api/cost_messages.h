// Cost and recipe of a run to the messages of proto/plimsoll/v1/api.proto. Pure.
#pragma once

#include "coordinator/judge/cost.h"
#include "coordinator/store/run_values.h"

namespace plimsoll::v1 {
class Cost;
class Recipe;
}  // namespace plimsoll::v1

namespace plimsoll {

// Each overwrites what `out` held; texts are mended to UTF-8.
void ToApi(const Cost& cost, v1::Cost* out);
void ToApi(const KeptRecipe& recipe, v1::Recipe* out);

}  // namespace plimsoll
