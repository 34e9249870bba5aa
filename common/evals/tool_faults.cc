#include "common/evals/tool_faults.h"

#include "common/base/json_text.h"

namespace plimsoll {
namespace {

enum class Form : std::uint8_t { kUnfinished, kObject, kBroken };

Form FormOf(const std::string& arguments) {
  JsonObjectChecker checker;
  checker.Feed(arguments);
  if (checker.broken()) return Form::kBroken;
  return checker.complete() ? Form::kObject : Form::kUnfinished;
}

// The output cap may have cut it: a continuation could still make it whole.
bool Mendable(const ToolCall& call) {
  if (call.free_text) return call.name.empty();
  const Form form = FormOf(call.arguments);
  return form == Form::kUnfinished || (call.name.empty() && form == Form::kObject);
}

}  // namespace

std::optional<ToolFault> FaultOf(const ToolCall& call, const ToolSet* tools, std::string* why) {
  if (call.name.empty()) {
    const bool nothing = call.arguments.empty() && !call.has_id && !call.free_text;
    return nothing ? ToolFault::kEmptyDelta : ToolFault::kMissingName;
  }
  const JsonSchema* schema = tools != nullptr ? tools->SchemaOf(call.name) : nullptr;
  if (tools != nullptr && schema == nullptr) return ToolFault::kUnknownTool;
  if (call.free_text) {
    // Functions take JSON, whatever the server calls them.
    return schema != nullptr ? std::optional(ToolFault::kMalformedJson) : std::nullopt;
  }
  if (FormOf(call.arguments) != Form::kObject) return ToolFault::kMalformedJson;
  if (schema == nullptr) return std::nullopt;
  switch (schema->CheckArguments(call.arguments, why)) {
    case SchemaFit::kFits:
      return std::nullopt;
    case SchemaFit::kNotJson:  // Bytes that are no UTF-8, a number beyond any.
      return ToolFault::kMalformedJson;
    case SchemaFit::kTooLarge:
      return ToolFault::kTooLarge;
    case SchemaFit::kBlankRequired:
      return ToolFault::kBlankRequired;
    case SchemaFit::kMismatch:
      break;
  }
  return ToolFault::kSchemaMismatch;
}

ToolFaultCounts JudgeToolCalls(const ToolAnswer& answer, const ToolSet* tools) {
  ToolFaultCounts counts;
  for (const ToolCall& call : answer.calls) {
    if (answer.cut && Mendable(call)) continue;
    ++counts.calls;
    if (const auto fault = FaultOf(call, tools)) counts.Add(*fault);
  }
  if (answer.too_large) counts.Add(ToolFault::kTooLarge);
  if (answer.calls.empty() && !answer.too_large) {
    if (answer.finished_for_calls) {
      counts.Add(ToolFault::kFinishWithoutCall);
    } else if (answer.only_empty_lists && !answer.cut) {
      counts.Add(ToolFault::kEmptyDelta);
    }
  }
  counts.faulty = counts.total() > 0 ? 1 : 0;
  counts.answers = counts.calls > 0 || counts.faulty > 0 ? 1 : 0;
  return counts;
}

}  // namespace plimsoll
