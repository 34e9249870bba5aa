// What the server answered in one play, for the prompts that follow: the live history. Bounded; an
// answer that it does not hold is text of the recorded length, and stays so to the play's end, so
// that histories are append-only. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/limits.h"
#include "common/chat/call_transport.h"
#include "common/corpus/prompt.h"
#include "common/record/tally.h"

namespace plimsoll {

class LiveHistory {
 public:
  explicit LiveHistory(std::size_t bytes_max = limits::kLiveHistoryBytesMax)
      : bytes_max_(bytes_max) {}

  // A new play begins. No prompt of the last one is in use any more.
  void Clear();
  // Room for a further answer.
  std::size_t room() const { return bytes_max_ - bytes_; }
  std::size_t bytes() const { return bytes_; }

  // The answer to `call` came: keeps its content if there is any and room for it, and counts.
  void Keep(std::uint32_t call, const CallResult& answer, FidelityCounts* counts);

  // Of a prompt and the answers in it: the messages with live text, appended to the emptied `live`.
  // The texts stay where they are until Clear(). Gives the tokens that the server should count.
  std::uint32_t Fill(const Prompt& prompt, const std::vector<AnswerRange>& answers,
                     std::vector<LiveMessage>* live) const;

 private:
  struct Answer {
    std::string json;
    std::uint32_t tokens = 0;
  };
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::uint32_t, Answer> answers_;  // By call; an answer never moves.
};

// The beginning of `json` (the inside of a JSON string) of at most `bytes`, cut between characters:
// no escape and no UTF-8 sequence is split.
std::string_view CutJson(std::string_view json, std::size_t bytes);

}  // namespace plimsoll
