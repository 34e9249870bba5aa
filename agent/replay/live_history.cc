#include "agent/replay/live_history.h"

#include <algorithm>
#include <utility>

#include "common/base/json_text.h"

namespace plimsoll {
namespace {

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Bytes of the character, or of the escape, at the start of `json`.
std::size_t UnitOf(std::string_view json) {
  std::size_t size = 1;
  if (json[0] == '\\' && json.size() > 1) {
    size = json[1] == 'u' ? 6 : 2;
  } else {
    while (size < json.size() && IsContinuation(json[size])) ++size;
  }
  return std::min(size, json.size());
}

}  // namespace

std::string_view CutJson(std::string_view json, std::size_t bytes) {
  if (bytes >= json.size()) return json;
  // Only an escape needs the text from its beginning; none is longer than six bytes, but a run of
  // backslashes can be read in two ways, so the text is walked.
  std::size_t at = 0;
  while (true) {
    const std::size_t next = at + UnitOf(json.substr(at));
    if (next > bytes) return json.substr(0, at);
    at = next;
  }
}

void LiveHistory::Clear() {
  answers_.clear();
  bytes_ = 0;
}

void LiveHistory::Keep(std::uint32_t call, const CallResult& answer, FidelityCounts* counts) {
  if (answer.content_too_long) {
    ++counts->answers_over_limit;
    return;
  }
  if (answer.content.empty()) {
    ++counts->answers_without_content;
    return;
  }
  std::string json = JsonEscaped(answer.content);
  if (json.size() > room()) {
    ++counts->answers_over_limit;
    return;
  }
  // Without usage its tokens are unknown: as many as words of ours would have the same length.
  const auto by_length = static_cast<std::uint32_t>(
      (answer.content.size() + limits::kTokenBytes - 1) / limits::kTokenBytes);
  const std::uint32_t tokens =
      answer.content_tokens == kAbsentTokens ? by_length : answer.content_tokens;
  const auto [it, added] = answers_.try_emplace(call, Answer{std::move(json), tokens});
  if (!added) return;
  bytes_ += it->second.json.size();
  ++counts->answers_kept;
}

std::uint32_t LiveHistory::Fill(const Prompt& prompt, const std::vector<AnswerRange>& answers,
                                std::vector<LiveMessage>* live) const {
  live->clear();
  std::uint64_t tokens = prompt.tokens;
  for (const AnswerRange& range : answers) {
    const auto it = answers_.find(range.call);
    if (it == answers_.end()) continue;
    const Answer& answer = it->second;
    const MessageRange& message = prompt.messages[range.message];
    const std::uint32_t recorded = message.end_token - message.first_token;
    std::string_view json = answer.json;
    std::uint64_t said = answer.tokens;
    if (recorded < range.tokens) {
      // The recorded client cut its history inside this answer: so does this one, at that share.
      json = CutJson(json, json.size() * std::uint64_t{recorded} / range.tokens);
      said = said * recorded / range.tokens;
      if (json.empty()) continue;  // Servers refuse a turn without text.
    }
    live->push_back({.message = range.message, .json = json});
    tokens = tokens - recorded + said;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(tokens, kAbsentTokens - 1));
}

}  // namespace plimsoll
