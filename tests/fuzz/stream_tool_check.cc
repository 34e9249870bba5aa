#include "tests/fuzz/stream_tool_check.h"

#include <algorithm>

namespace plimsoll {

void ToolCallCheck::Begin() {
  calls_.clear();
  too_many_ = false;
}

void ToolCallCheck::Add(const ToolCallPiece& piece) {
  Call* call = CallOf(piece);
  if (call == nullptr) return;
  call->named = call->named || !piece.name.empty();
  call->free_text = call->free_text || piece.free_text;
  call->arguments.Feed(piece.arguments);
}

// By its index; where a server gives none, an id or a name begins another call, and what has
// neither goes on with the last one of its choice.
ToolCallCheck::Call* ToolCallCheck::CallOf(const ToolCallPiece& piece) {
  const bool numbered = piece.index != ToolCallPiece::kNoIndex;
  const bool begins = !numbered && (piece.has_id || !piece.name.empty());
  if (!begins) {
    const auto found = std::find_if(calls_.rbegin(), calls_.rend(), [&](const Call& call) {
      return call.choice == piece.choice && (!numbered || call.index == piece.index);
    });
    if (found != calls_.rend()) return &*found;
  }
  if (calls_.size() == kCallsMax) {
    too_many_ = true;
    return nullptr;
  }
  calls_.push_back({.choice = piece.choice, .index = piece.index});
  return &calls_.back();
}

bool ToolCallCheck::valid() const {
  return any() && !too_many_ && std::all_of(calls_.begin(), calls_.end(), [](const Call& call) {
           return call.named && (call.free_text || call.arguments.complete());
         });
}

bool ToolCallCheck::broken() const {
  return too_many_ || std::any_of(calls_.begin(), calls_.end(), [](const Call& call) {
           return !call.free_text && call.arguments.broken();
         });
}

}  // namespace plimsoll
