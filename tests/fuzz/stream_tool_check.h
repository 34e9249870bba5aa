// Were the tool calls of an answer well formed? Put together from streamed pieces, several calls at
// once, without keeping their text: each has a name, and arguments that are one JSON object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/json_text.h"
#include "common/sse/chat_chunk.h"

namespace plimsoll {

class ToolCallCheck {
 public:
  // Calls of one answer that are told apart; an answer with more counts as malformed.
  static constexpr std::size_t kCallsMax = 64;

  void Begin();  // Forgets the answer before; its memory is reused.
  void Add(const ToolCallPiece& piece);

  bool any() const { return !calls_.empty(); }
  // Every call has a name and arguments that are an object. False without a call.
  bool valid() const;
  // Something came that nothing later could mend: an answer that was cut short is not to blame for
  // what it lacks, but for this.
  bool broken() const;

 private:
  struct Call {
    std::uint32_t choice = 0;
    std::uint32_t index = 0;
    bool named = false;
    bool free_text = false;  // A custom tool's: there are no arguments to judge.
    JsonObjectChecker arguments;
  };
  Call* CallOf(const ToolCallPiece& piece);

  std::vector<Call> calls_;  // In order of appearance.
  bool too_many_ = false;
};

}  // namespace plimsoll
