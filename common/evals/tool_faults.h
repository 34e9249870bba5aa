// Tool calls of an answer judged: well formed in themselves, and against the tools that the request
// offered. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/evals/tool_answer.h"
#include "common/evals/tool_set.h"
#include "common/record/tool_fault.h"

namespace plimsoll {

// The first fault of one call, in the order of ToolFault's list; absent: it has none. Without
// `tools` any name is fine, and arguments need only be a JSON object. A *why gets a line for
// kBlankRequired and kSchemaMismatch.
std::optional<ToolFault> FaultOf(const ToolCall& call, const ToolSet* tools,
                                 std::string* why = nullptr);

// All faults of an answer. One that neither holds nor announces a tool call counts nothing
// (`answers` is 0). Of an answer that its cap cut, an unfinished call is nobody's fault: it is left
// out unless nothing that could follow would mend it. Without `tools` a fault is found where the
// agent's ToolCallCheck (common/chat) finds an answer malformed, and beyond it in answers of empty
// lists only (`only_empty_lists`) and of more text than is kept.
ToolFaultCounts JudgeToolCalls(const ToolAnswer& answer, const ToolSet* tools);

}  // namespace plimsoll
