// Reads one recorded session in the flat ("neon") form: all calls of a session in one list by
// start, subagents' among them, overlapping. Which call continues which conversation is told by
// the model, the times and the beginning of the prompt. Pure: from a parsed document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/status.h"
#include "common/corpus/json_value.h"
#include "common/corpus/trace_session.h"

namespace plimsoll {

// As ReadTraceV8(). The number of hash_ids does not agree with the prompt's length in this form:
// surplus ids are ignored, blocks without one count as the call's own unless every id of the call
// it continues is kept, and notes say how often.
StatusOr<ParsedTrace> ReadTraceFlat(const JsonValue& root);

// The conversations among `calls`, which are sorted by start: each a list of indices. A call goes
// on with the conversation of its model that had ended when it began (to slack_ms) and whose last
// prompt shares the most leading ids with its own, at least one; of equal ones the latest. Without
// such a one it opens another.
std::vector<std::vector<std::size_t>> SplitByPrefix(const std::vector<TraceCall>& calls,
                                                    std::int64_t slack_ms);

}  // namespace plimsoll
