// Tool calls that an answer makes: a right one for the tools that a request offers, and each kind
// of malformed one. Pure; nlohmann-json behind a fence.
#pragma once

#include <string_view>

#include "common/record/tool_fault.h"
#include "gateway/answers/answer_script.h"

namespace plimsoll {

// A call of the first tool of a chat request's "tools", with arguments that its schema takes as far
// as types, required fields, choices and least values go. Where that tells nothing, of read_file.
AnswerCall SampleCall(std::string_view tools_json);

// The answer that makes the calls of `right`, the first of them malformed in this way. Where the
// tools' schemas leave no room for it (nothing is required, anything goes), its arguments are cut.
// Whether the fault is the one that was asked for is seen by judging it.
AnswerPlan Malformed(AnswerPlan right, std::string_view tools_json, ToolFault fault);

}  // namespace plimsoll
