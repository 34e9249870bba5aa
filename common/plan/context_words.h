// What a context limit leaves out of a tier, in words: one sentence for check and report. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/plan/context_limit.h"

namespace plimsoll {

// "0 of 3 heavy sessions, 2 of 9 calls (22.2%), 33.3% of prompt tokens"; of kSend, which leaves
// nothing out, "2 of 9 heavy calls (22.2%)".
std::string LeftOutWords(const ContextCounts& counts, std::string_view tier, OverLimit policy);

}  // namespace plimsoll
