#include "common/evals/tool_answer.h"

#include <utility>

namespace plimsoll {

void ToolCallCollector::Begin() {
  calls_.clear();
  places_.clear();
  bytes_ = 0;
  too_large_ = false;
}

void ToolCallCollector::Add(const ToolCallPiece& piece) {
  ToolCall* call = CallOf(piece);
  if (call == nullptr) return;
  call->has_id = call->has_id || piece.has_id;
  call->free_text = call->free_text || piece.free_text;
  // Some servers repeat the name with every delta; none streams it in parts.
  if (call->name.empty()) Append(piece.name, &call->name);
  Append(piece.arguments, &call->arguments);
}

ToolCall* ToolCallCollector::CallOf(const ToolCallPiece& piece) {
  const bool numbered = piece.index != ToolCallPiece::kNoIndex;
  const bool begins = !numbered && (piece.has_id || !piece.name.empty());
  for (std::size_t i = calls_.size(); !begins && i-- > 0;) {
    const bool same = places_[i].choice == piece.choice;
    if (same && (!numbered || places_[i].index == piece.index)) return &calls_[i];
  }
  if (calls_.size() == kCallsMax) {
    too_large_ = true;
    return nullptr;
  }
  places_.push_back({.choice = piece.choice, .index = piece.index});
  return &calls_.emplace_back();
}

void ToolCallCollector::Append(std::string_view text, std::string* to) {
  if (text.size() > kBytesMax - bytes_) {
    too_large_ = true;
    return;
  }
  bytes_ += text.size();
  to->append(text);
}

std::vector<ToolCall> ToolCallCollector::Take() {
  std::vector<ToolCall> calls = std::move(calls_);
  Begin();
  return calls;
}

}  // namespace plimsoll
