#include "gateway/server/chat_format.h"

#include <array>

#include <fmt/format.h>

#include "common/base/json_text.h"
#include "common/base/text.h"

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, 32> kWords = {
    "the",   "ship", "sits",  "low",   "in",    "calm", "water", "and",  "her",   "mark",  "is",
    "clear", "of",   "foam",  "while", "crew",  "load", "grain", "by",   "night", "under", "lamps",
    "until", "tide", "turns", "they",  "count", "each", "sack",  "then", "cast",  "off"};

// Quotes included. What a client sent may be anything; an answer is UTF-8.
std::string JsonString(std::string_view text) {
  return '"' + JsonEscaped(ValidUtf8(text)) + '"';
}

std::string Chunk(const AnswerHead& head, std::string_view choices, std::string_view more) {
  return fmt::format(
      R"(data: {{"id":"{}","object":"chat.completion.chunk","created":{},"model":{},)"
      R"("choices":[{}]{}}})"
      "\n\n",
      head.id, head.created_s, JsonString(head.model), choices, more);
}

std::string UsageObject(const AnswerUsage& usage) {
  return fmt::format(R"({{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{},)"
                     R"("prompt_tokens_details":{{"cached_tokens":{}}}}})",
                     usage.prompt_tokens,
                     std::uint64_t{usage.prompt_tokens} + usage.completion_tokens,
                     usage.completion_tokens, usage.cached_tokens);
}

}  // namespace

std::string TokenText(std::uint32_t index) {
  return (index == 0 ? "" : " ") + std::string(kWords[index % kWords.size()]);
}

std::string RoleEvent(const AnswerHead& head) {
  return Chunk(
      head,
      R"({"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null})",
      "");
}

std::string TokenEvent(const AnswerHead& head, std::uint32_t index, MonoTime sent) {
  return Chunk(
      head,
      fmt::format(
          R"({{"index":0,"delta":{{"content":"{}"}},"logprobs":null,"finish_reason":null}})",
          TokenText(index)),
      fmt::format(R"(,"plimsoll_sent_ns":{})", sent.time_since_epoch().count()));
}

std::string DeltaEvent(const AnswerHead& head, std::string_view delta, MonoTime sent) {
  return Chunk(
      head, fmt::format(R"({{"index":0,"delta":{},"logprobs":null,"finish_reason":null}})", delta),
      fmt::format(R"(,"plimsoll_sent_ns":{})", sent.time_since_epoch().count()));
}

std::string FinishEvent(const AnswerHead& head, std::string_view reason) {
  return Chunk(
      head,
      fmt::format(R"({{"index":0,"delta":{{}},"logprobs":null,"finish_reason":"{}"}})", reason),
      "");
}

std::string UsageEvent(const AnswerHead& head, const AnswerUsage& usage) {
  return Chunk(head, "", R"(,"usage":)" + UsageObject(usage));
}

std::string ErrorEvent(std::string_view message) {
  return fmt::format("data: {}\n\n", ErrorAnswer(message, "server_error", ""));
}

std::string TypedErrorEvent(std::string_view message) {
  return "event: error\n" + ErrorEvent(message);
}

std::string TokensText(std::uint32_t count) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) text += TokenText(i);
  return text;
}

std::string WholeAnswer(const AnswerHead& head, const AnswerUsage& usage,
                        std::string_view message_json, std::string_view reason) {
  return fmt::format(
      R"({{"id":"{}","object":"chat.completion","created":{},"model":{},"choices":[{{"index":0,)"
      R"("message":{},"logprobs":null,"finish_reason":"{}"}}],"usage":{}}})",
      head.id, head.created_s, JsonString(head.model), message_json, reason, UsageObject(usage));
}

std::string ModelsAnswer(std::string_view model, std::int64_t created_s, std::uint32_t limit) {
  return fmt::format(R"({{"object":"list","data":[{{"id":{},"object":"model","created":{},)"
                     R"("owned_by":"plimsoll","max_model_len":{}}}]}})",
                     JsonString(model), created_s, limit);
}

std::string ErrorAnswer(std::string_view message, std::string_view type, std::string_view code) {
  return fmt::format(R"({{"error":{{"message":{},"type":"{}","param":null,"code":{}}}}})",
                     JsonString(message), type,
                     code.empty() ? std::string("null") : fmt::format("\"{}\"", code));
}

std::string OpenAiContextError(const ContextOverflow& o) {
  return ErrorAnswer(
      fmt::format("This model's maximum context length is {} tokens. However, you requested {} "
                  "tokens ({} in the messages, {} in the completion).",
                  o.limit, o.prompt + o.completion, o.prompt, o.completion),
      "invalid_request_error", "context_length_exceeded");
}

std::string VllmContextError(const ContextOverflow& o) {
  return fmt::format(
      R"({{"object":"error","message":"This model's maximum context length is {} tokens. However, )"
      R"(your request has {} input tokens and asks for {} output tokens.",)"
      R"("type":"BadRequestError","param":null,"code":400}})",
      o.limit, o.prompt, o.completion);
}

std::string LlamaCppContextError(const ContextOverflow& o) {
  return fmt::format(
      R"({{"error":{{"code":400,"message":"the request exceeds the available context size, try )"
      R"(increasing it","type":"exceed_context_size_error","n_prompt_tokens":{},"n_ctx":{}}}}})",
      o.prompt, o.limit);
}

}  // namespace plimsoll
