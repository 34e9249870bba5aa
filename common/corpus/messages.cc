#include "common/corpus/messages.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/corpus/mooncake.h"
#include "common/corpus/validate.h"

namespace plimsoll {
namespace {

constexpr std::uint64_t kFrameTokens = 4;
// Median answer of the public agent traces.
constexpr std::uint64_t kAnswerTokens = 216;
constexpr char kEstimated[] =
    "calls with tokens estimated from text (a token for 4 ASCII characters or 1 other), durations "
    "from tokens, no delays";

enum class Speaker : std::uint8_t { kSystem, kUser, kTool, kAssistant };

struct Message {
  Speaker speaker = Speaker::kUser;
  std::uint64_t tokens = 0;
  std::uint64_t hash = 0;   // Of role and text.
  bool calls_tool = false;  // An answer that is a tool call.
};

StatusOr<Speaker> SpeakerOf(const JsonValue& message, std::string_view key) {
  static constexpr std::pair<std::string_view, Speaker> kNames[] = {
      {"system", Speaker::kSystem},    {"developer", Speaker::kSystem},
      {"user", Speaker::kUser},        {"human", Speaker::kUser},
      {"tool", Speaker::kTool},        {"function", Speaker::kTool},
      {"observation", Speaker::kTool}, {"assistant", Speaker::kAssistant},
      {"gpt", Speaker::kAssistant},    {"chatgpt", Speaker::kAssistant},
      {"model", Speaker::kAssistant},  {"bing", Speaker::kAssistant},
      {"bard", Speaker::kAssistant},   {"function_call", Speaker::kAssistant}};
  ASSIGN_OR_RETURN(const std::string_view name, message.Name(key));
  for (const auto& [known, speaker] : kNames) {
    if (known == name) return speaker;
  }
  return absl::InvalidArgumentError(
      fmt::format("{}.{}: unknown role \"{}\"; known are system, developer, user, human, "
                  "assistant, gpt, tool, function",
                  message.where(), key, name));
}

class Conversation {
 public:
  // The text of a message: a string, a list of parts, or null beside tool calls.
  Status AddContent(const JsonValue& content, Message* message) {
    if (content.IsNull()) return absl::OkStatus();
    if (!content.IsList()) {
      ASSIGN_OR_RETURN(const std::string_view text, content.Text());
      Count(text, message);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::vector<JsonValue> parts, content.Elements());
    for (const JsonValue& part : parts) {
      if (part.IsText() || part.Has("text")) {
        ASSIGN_OR_RETURN(const JsonValue field,
                         part.IsText() ? StatusOr<JsonValue>(part) : part.Field("text"));
        ASSIGN_OR_RETURN(const std::string_view text, field.Text());
        Count(text, message);
      } else if (part.IsObject()) {
        ++unread_parts;
      } else {
        return part.Expected("a part of a message");
      }
    }
    return absl::OkStatus();
  }

  Status AddMessage(const JsonValue& node, bool sharegpt) {
    if (!node.IsObject()) return node.Expected("a message");
    const char* role = sharegpt && node.Has("from") ? "from" : "role";
    const char* text = sharegpt && node.Has("value") ? "value" : "content";
    Message message;
    ASSIGN_OR_RETURN(message.speaker, SpeakerOf(node, role));
    message.tokens = kFrameTokens;
    message.hash = MixKey(static_cast<std::uint64_t>(message.speaker));
    const bool calls = node.Has("tool_calls");
    if (!calls || node.Has(text)) {
      ASSIGN_OR_RETURN(const JsonValue content, node.Field(text));
      RETURN_IF_ERROR(AddContent(content, &message));
    }
    if (calls) {
      ASSIGN_OR_RETURN(const JsonValue list, node.Field("tool_calls"));
      Count(list.Minified(), &message);
      message.calls_tool = true;
    }
    messages.push_back(message);
    return absl::OkStatus();
  }

  static void Count(std::string_view text, Message* message) {
    message->tokens += EstimateTokens(text);
    message->hash = MixKey(message->hash, HashBytes(text));
  }

  std::vector<Message> messages;
  std::uint64_t unread_parts = 0;
};

// Adds the call that `answer` tokens answered, its prompt being `before`.
void AddCall(std::uint64_t tokens_in, std::uint64_t tokens_out, std::uint8_t flags,
             Session* session) {
  Call call{.tokens_in = static_cast<std::uint32_t>(tokens_in),
            .tokens_out = static_cast<std::uint32_t>(tokens_out),
            .flags = static_cast<std::uint8_t>(flags | kServiceImputed)};
  if (!session->calls.empty()) {
    const Call& last = session->calls.back();
    call.ref = static_cast<std::int32_t>(session->calls.size()) - 1;
    call.kept_blocks = last.blocks();
    call.start_ms = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        std::uint64_t{last.start_ms} + last.service_ms, std::uint64_t{kTraceMsMax}));
  }
  const std::uint64_t uncached = tokens_in - std::uint64_t{call.kept_blocks} * limits::kBlockTokens;
  call.service_ms = static_cast<std::uint32_t>(EstimatedServiceMs(tokens_in, uncached, tokens_out));
  session->calls.push_back(call);
}

// Counts sizes, so that no sum leaves what a prompt may have.
Status CheckSize(const JsonValue& where, std::uint64_t tokens) {
  if (tokens <= limits::kPromptTokensMax) return absl::OkStatus();
  return where.Wrong(fmt::format("a conversation of about {} tokens; at most {} are allowed",
                                 tokens, limits::kPromptTokensMax));
}

// Calls and keys from the messages; `tokens` is what stands before them all.
Status AddCalls(const JsonValue& root, const std::vector<Message>& messages, std::uint64_t tokens,
                std::uint64_t last_answer, ParsedTrace* parsed) {
  std::uint64_t hash = MixKey(tokens);
  std::uint64_t answers_to_nothing = 0;
  bool asked = false;
  std::uint8_t flags = 0;
  for (std::size_t i = 0; i <= messages.size(); ++i) {
    const bool end = i == messages.size();
    if (!end && messages[i].speaker != Speaker::kAssistant) {
      asked = asked || messages[i].speaker != Speaker::kSystem;
      if (messages[i].speaker == Speaker::kUser) flags = kUserTurn;
      if (messages[i].speaker == Speaker::kTool) flags = kToolTurn;
      tokens += messages[i].tokens;
      hash = MixKey(hash, messages[i].hash);
      RETURN_IF_ERROR(CheckSize(root, tokens));
      continue;
    }
    const bool answered = !end && messages[i].speaker == Speaker::kAssistant;
    if (asked) {
      if (answered && messages[i].calls_tool) flags |= kStopToolUse;
      const std::uint64_t out = answered ? messages[i].tokens - kFrameTokens : last_answer;
      RETURN_IF_ERROR(CheckSize(root, out));
      AddCall(tokens, out, flags, &parsed->session);
      parsed->keys.push_back(MixKey(hash, answered ? messages[i].hash : 0));
      asked = false;
    } else if (answered) {
      ++answers_to_nothing;
    }
    if (end) break;
    tokens += messages[i].tokens;
    hash = MixKey(hash, messages[i].hash);
    RETURN_IF_ERROR(CheckSize(root, tokens));
  }
  if (parsed->session.calls.size() > limits::kCallsPerSessionMax) {
    return root.Wrong(fmt::format("more than {} answers", limits::kCallsPerSessionMax));
  }
  AddNote(answers_to_nothing, "answers to no question: part of the history, not calls",
          &parsed->notes);
  return absl::OkStatus();
}

}  // namespace

std::uint64_t EstimateTokens(std::string_view text) {
  std::uint64_t ascii = 0;
  std::uint64_t others = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) ++ascii;
    if (byte >= 0xc0) ++others;  // The first byte of a longer character.
  }
  return (ascii + 3) / 4 + others;
}

StatusOr<ParsedTrace> ReadMessages(const JsonValue& root, std::uint64_t number) {
  StatusOr<JsonValue> body = root;
  if (!root.Has("messages") && !root.Has("conversations")) body = root.Field("body");
  if (!body.ok()) return body.status();
  const bool sharegpt = body->Has("conversations");
  ASSIGN_OR_RETURN(const std::vector<JsonValue> list,
                   body->Elements(sharegpt ? "conversations" : "messages"));
  Conversation conversation;
  for (const JsonValue& node : list) {
    RETURN_IF_ERROR(conversation.AddMessage(node, sharegpt));
  }
  ParsedTrace parsed;
  Session& session = parsed.session;
  session.id = fmt::format("conversation_{}", number);
  for (const char* key : {"id", "custom_id", "session_id"}) {
    if (!root.Has(key)) continue;
    ASSIGN_OR_RETURN(const JsonValue id, root.Field(key));
    if (!id.IsText()) continue;
    ASSIGN_OR_RETURN(session.id, root.Name(key));
    break;
  }
  std::string model = "unnamed";
  if (body->Has("model")) {
    ASSIGN_OR_RETURN(model, body->Name("model"));
  }
  std::uint64_t last_answer = kAnswerTokens;
  for (const char* key : {"max_tokens", "max_completion_tokens"}) {
    if (!body->Has(key)) continue;
    ASSIGN_OR_RETURN(last_answer, body->Count(key, limits::kPromptTokensMax));
  }
  std::uint64_t tools = 0;
  std::uint64_t prefix_class = HashBytes(model);
  if (body->Has("tools")) {
    ASSIGN_OR_RETURN(const JsonValue field, body->Field("tools"));
    const std::string text = field.Minified();
    tools = EstimateTokens(text);
    prefix_class = MixKey(prefix_class, HashBytes(text));
  }
  std::uint64_t prefix = tools;
  for (const Message& message : conversation.messages) {
    if (message.speaker != Speaker::kSystem) break;
    prefix += message.tokens;
    prefix_class = MixKey(prefix_class, message.hash);
  }
  RETURN_IF_ERROR(CheckSize(root, prefix));
  RETURN_IF_ERROR(AddCalls(root, conversation.messages, tools, last_answer, &parsed));
  AddNote(conversation.unread_parts, "parts that are no text (images, audio) not counted",
          &parsed.notes);
  if (session.calls.empty()) {
    AddNote(1, "conversations dropped, they ask nothing", &parsed.notes);
    return parsed;
  }
  AddNote(session.calls.size(), kEstimated, &parsed.notes);
  session.streams.push_back(
      {.prefix_blocks = static_cast<std::uint32_t>(prefix / limits::kBlockTokens),
       .prefix_class = prefix_class});
  parsed.models = {std::move(model)};
  RETURN_IF_ERROR(ValidateSession(session, parsed.models.size()));
  return parsed;
}

}  // namespace plimsoll
