// Reads conversations in text: {"messages": [{"role", "content", …}], "tools"?, "max_tokens"?},
// also as the body of a batch file's line, and ShareGPT's {"id", "conversations": [{"from",
// "value"}]}. The text itself is not kept, only its length.
//
// Tokens are an estimate: one for every four ASCII characters of a message, rounded up, one for
// every other character, and four for the message's own frame. Tools count as their JSON text.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/status.h"
#include "common/corpus/json_value.h"
#include "common/corpus/trace_session.h"

namespace plimsoll {

// One conversation as a session: every answer in it is a call whose prompt is all before it; a
// question at the end is a call with an answer of max_tokens, or else of the median recorded one.
// Without any question the session has no calls. `number` names a conversation without an id.
// There are no times: durations are estimated from lengths, delays are 0; notes say so.
StatusOr<ParsedTrace> ReadMessages(const JsonValue& root, std::uint64_t number);

// The estimate for a text, without a frame.
std::uint64_t EstimateTokens(std::string_view text);

}  // namespace plimsoll
