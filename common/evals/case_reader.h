// One line of an eval set. Internal to the reader of sets. nlohmann-json behind a fence.
#pragma once

#include <string_view>

#include "common/base/status.h"
#include "common/evals/eval_set.h"

namespace plimsoll {

// InvalidArgument: what is wrong with the line, and what would be right.
StatusOr<EvalCase> ReadEvalCase(std::string_view line);

}  // namespace plimsoll
