// The answers' text: chat completions whole and in chunks, models, errors, in OpenAI's shape. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace plimsoll {

// What all chunks of one answer share.
struct AnswerHead {
  std::string id;              // "chatcmpl-…".
  std::string model;           // JSON-escaped by the functions below.
  std::int64_t created_s = 0;  // Seconds since 1970.
};

struct AnswerUsage {
  std::uint32_t prompt_tokens = 0;
  std::uint32_t completion_tokens = 0;
  std::uint32_t cached_tokens = 0;
};

// The words of an answer: token `index` of a fixed rotation, a space in front of all but the first.
std::string TokenText(std::uint32_t index);
// Of the first `count` of them together.
std::string TokensText(std::uint32_t count);

// Server-sent events, blank line included.
std::string RoleEvent(const AnswerHead& head);
// `sent` is the stamp that tests compare with the client's: the monotonic clock at the time of
// writing, in "plimsoll_sent_ns".
std::string TokenEvent(const AnswerHead& head, std::uint32_t index, MonoTime sent);
// The same with a delta of its own, as JSON.
std::string DeltaEvent(const AnswerHead& head, std::string_view delta, MonoTime sent);
std::string FinishEvent(const AnswerHead& head, std::string_view reason);
std::string UsageEvent(const AnswerHead& head, const AnswerUsage& usage);
std::string ErrorEvent(std::string_view message);
// The same as an event of its own type.
std::string TypedErrorEvent(std::string_view message);
inline constexpr std::string_view kDoneEvent = "data: [DONE]\n\n";

// A whole answer with this "message".
std::string WholeAnswer(const AnswerHead& head, const AnswerUsage& usage,
                        std::string_view message_json, std::string_view reason);
std::string ModelsAnswer(std::string_view model, std::int64_t created_s, std::uint32_t limit);
// `code` may be empty: null.
std::string ErrorAnswer(std::string_view message, std::string_view type, std::string_view code);

// Errors of a prompt too long, as different servers write them.
struct ContextOverflow {
  std::uint64_t limit = 0;
  std::uint32_t prompt = 0;
  std::uint64_t completion = 0;  // Asked for.
};
std::string OpenAiContextError(const ContextOverflow& overflow);
std::string VllmContextError(const ContextOverflow& overflow);
std::string LlamaCppContextError(const ContextOverflow& overflow);

}  // namespace plimsoll
