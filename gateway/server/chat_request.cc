#include "gateway/server/chat_request.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "common/base/limits.h"
#include "common/base/rng.h"

namespace plimsoll {
namespace {

namespace dom = simdjson::dom;

// Counts beyond this are nobody's wish, and would only overflow sums.
constexpr std::uint64_t kTokensMax = 1'000'000'000;

Status Bad(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

bool IsSpace(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Absent and null are the same: the default.
bool Absent(const dom::object& object, std::string_view key, dom::element* value) {
  return object[key].get(*value) != simdjson::SUCCESS || value->is_null();
}

Status ReadBool(const dom::object& object, std::string_view key, bool* to) {
  dom::element value;
  if (Absent(object, key, &value)) return absl::OkStatus();
  if (value.get(*to) != simdjson::SUCCESS) return Bad(fmt::format("'{}' must be a boolean", key));
  return absl::OkStatus();
}

Status ReadCount(const dom::object& object, std::string_view key, std::uint64_t least,
                 std::optional<std::uint32_t>* to) {
  dom::element value;
  if (Absent(object, key, &value)) return absl::OkStatus();
  std::uint64_t count = 0;
  if (value.get(count) != simdjson::SUCCESS || count < least || count > kTokensMax) {
    return Bad(fmt::format("'{}' must be a whole number of at least {}", key, least));
  }
  *to = static_cast<std::uint32_t>(count);
  return absl::OkStatus();
}

// A message's content: a text, an array of parts of which the texts count, or null.
Status ReadContent(const dom::object& message, PromptHasher* prompt, std::uint64_t* hash) {
  dom::element content;
  if (Absent(message, "content", &content)) return absl::OkStatus();
  std::string_view text;
  if (content.get(text) == simdjson::SUCCESS) {
    prompt->Add(text);
    *hash = HashBytes(text);
    return absl::OkStatus();
  }
  dom::array parts;
  if (content.get(parts) != simdjson::SUCCESS) {
    return Bad("a message's 'content' must be a string or an array");
  }
  for (const dom::element part : parts) {
    if (part["text"].get(text) != simdjson::SUCCESS) continue;
    prompt->Add(text);
    *hash = MixKey(*hash, HashBytes(text));
  }
  return absl::OkStatus();
}

Status ReadMessages(const dom::object& root, ChatRequest* request) {
  dom::array messages;
  if (root["messages"].get(messages) != simdjson::SUCCESS || messages.begin() == messages.end()) {
    return Bad("'messages' must be a non-empty array");
  }
  for (const dom::element element : messages) {
    ++request->messages;
    dom::object message;
    std::string_view role;
    if (element.get(message) != simdjson::SUCCESS ||
        message["role"].get(role) != simdjson::SUCCESS) {
      return Bad("each message must be an object with a 'role'");
    }
    std::uint64_t hash = 0;
    RETURN_IF_ERROR(ReadContent(message, &request->prompt, &hash));
    if (role != "user") continue;
    if (request->first_user_hash == 0) request->first_user_hash = hash;
    request->last_user_hash = hash;
  }
  return absl::OkStatus();
}

}  // namespace

void PromptHasher::Add(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && IsSpace(text[at])) ++at;
    const std::size_t begin = at;
    while (at < text.size() && !IsSpace(text[at])) ++at;
    if (at > begin) AddWord(text.substr(begin, at - begin));
  }
}

void PromptHasher::AddWord(std::string_view word) {
  chain_ = MixKey(chain_, HashBytes(word));
  if (++tokens_ % limits::kBlockTokens == 0) blocks_.push_back({chain_, 0, 1});
}

StatusOr<ChatRequest> ParseChatRequest(std::string_view body) {
  // Its buffers stay for the next body: one loop, one thread.
  thread_local dom::parser parser;
  dom::element document;
  if (const auto error = parser.parse(body.data(), body.size()).get(document)) {
    return Bad(fmt::format("the body is not JSON: {}", simdjson::error_message(error)));
  }
  dom::object root;
  if (document.get(root) != simdjson::SUCCESS) return Bad("the body must be a JSON object");
  ChatRequest request;
  std::string_view model;
  if (root["model"].get(model) != simdjson::SUCCESS) return Bad("'model' must be a string");
  request.model = model;
  RETURN_IF_ERROR(ReadBool(root, "stream", &request.stream));
  RETURN_IF_ERROR(ReadBool(root, "ignore_eos", &request.ignore_eos));
  dom::object options;
  if (root["stream_options"].get(options) == simdjson::SUCCESS) {
    RETURN_IF_ERROR(ReadBool(options, "include_usage", &request.include_usage));
  }
  RETURN_IF_ERROR(ReadCount(root, "max_tokens", 1, &request.max_tokens));
  RETURN_IF_ERROR(ReadCount(root, "max_completion_tokens", 1, &request.max_tokens));
  std::optional<std::uint32_t> least;
  RETURN_IF_ERROR(ReadCount(root, "min_tokens", 0, &least));
  request.min_tokens = least.value_or(0);
  dom::element given;
  request.has_switches = !Absent(root, "min_tokens", &given) || !Absent(root, "ignore_eos", &given);
  dom::array tools;
  request.has_tools = root["tools"].get(tools) == simdjson::SUCCESS && tools.size() > 0;
  if (request.has_tools) request.tools_json = simdjson::minify(tools);
  if (request.max_tokens && request.min_tokens > *request.max_tokens) {
    return Bad("'min_tokens' must not exceed 'max_tokens'");
  }
  std::optional<std::uint32_t> choices;
  RETURN_IF_ERROR(ReadCount(root, "n", 1, &choices));
  if (choices.value_or(1) != 1) return Bad("only one choice ('n': 1) is served");
  RETURN_IF_ERROR(ReadMessages(root, &request));
  return request;
}

}  // namespace plimsoll
