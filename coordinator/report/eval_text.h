// What a report says of evals, and of what is wrong with tool calls. Pure.
#pragma once

#include <string>

#include "coordinator/judge/eval_summary.h"

namespace plimsoll {

// "fail: 93.2% of 44 right, 95% interval 81.3 to 98.6%, unloaded 100.0% of 72; 41 pass, 3 wrong;
// …". `attempts`: requests of the load beside them.
std::string EvalSentence(const EvalSummary& evals, std::uint64_t attempts);

// "3 unknown_tool, 1 malformed_json"; empty: none.
std::string FaultSentence(const FaultyAnswers& faults);

}  // namespace plimsoll
