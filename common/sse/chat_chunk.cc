#include "common/sse/chat_chunk.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <simdjson.h>

namespace plimsoll {
namespace {

namespace od = simdjson::ondemand;
using simdjson::SUCCESS;

// Buffers that one huge payload has grown are given back after it.
constexpr std::size_t kBufferKept = std::size_t{1} << 20;

// Counts up to 32 bits; anything else reads as absent.
std::uint32_t Count(od::value& value) {
  std::uint64_t count = 0;
  if (value.get_uint64().get(count) != SUCCESS || count >= kAbsentTokens) return kAbsentTokens;
  return static_cast<std::uint32_t>(count);
}

// Calls visit(key, value) for every field. False: the text is broken.
template <typename Visit>
bool ForFields(od::object object, Visit visit) {
  // No copy of a field is made: each costs more than the comparison of its key.
  for (auto&& entry : object) {
    std::string_view key;
    if (entry.unescaped_key().get(key) != SUCCESS) return false;
    od::value value;
    if (entry.value().get(value) != SUCCESS || !visit(key, value)) return false;
  }
  return true;
}
template <typename Visit>
bool ForElements(od::array array, Visit visit) {
  for (auto&& entry : array) {
    od::value value;
    if (entry.get(value) != SUCCESS || !visit(value)) return false;
  }
  return true;
}

// What type a value is; broken text reads as a null, and fails when the iteration goes on.
od::json_type TypeOf(od::value& value) {
  od::json_type type = od::json_type::null;
  if (value.type().get(type) != SUCCESS) return od::json_type::null;
  return type;
}

// Content in parts: a part holds text, or parts of its own (reasoning), and no more than that.
constexpr int kPartsDeep = 3;

bool NoteText(od::value& value, bool* non_empty, int deep);

bool NotePart(od::value& part, bool* non_empty, int deep) {
  if (TypeOf(part) != od::json_type::object) return NoteText(part, non_empty, deep);
  od::object object;
  if (part.get_object().get(object) != SUCCESS) return false;
  return ForFields(object, [&](std::string_view key, od::value& field) {
    if (key != "text" && key != "thinking" && key != "refusal" && key != "content") return true;
    return NoteText(field, non_empty, deep);
  });
}

// *non_empty becomes true for a string that is not empty, also in parts.
bool NoteText(od::value& value, bool* non_empty, int deep = 0) {
  switch (TypeOf(value)) {
    case od::json_type::string: {
      std::string_view text;
      if (value.get_string().get(text) != SUCCESS) return false;
      *non_empty = *non_empty || !text.empty();
      return true;
    }
    case od::json_type::array: {
      od::array array;
      if (value.get_array().get(array) != SUCCESS) return false;
      return ForElements(array, [&](od::value& part) {
        return deep >= kPartsDeep || NotePart(part, non_empty, deep + 1);
      });
    }
    default:
      return true;
  }
}

// A string into *text; *non_empty as in NoteText.
bool TakeText(od::value& value, std::string_view* text, bool* non_empty) {
  if (TypeOf(value) != od::json_type::string) return NoteText(value, non_empty);
  if (value.get_string().get(*text) != SUCCESS) return false;
  *non_empty = *non_empty || !text->empty();
  return true;
}

bool TakeArguments(od::value& value, ToolCallPiece* piece, ChatChunk* chunk) {
  if (TypeOf(value) != od::json_type::object) {
    return TakeText(value, &piece->arguments, &chunk->has_token);
  }
  od::object arguments;  // Given outright, as some servers do in whole answers.
  chunk->has_token = true;
  return value.get_object().get(arguments) == SUCCESS &&
         arguments.raw_json().get(piece->arguments) == SUCCESS;
}

bool TakeFunction(od::value& value, ToolCallPiece* piece, ChatChunk* chunk) {
  od::object object;
  if (TypeOf(value) != od::json_type::object) return true;
  if (value.get_object().get(object) != SUCCESS) return false;
  chunk->tool_call = true;
  return ForFields(object, [&](std::string_view key, od::value& field) {
    if (key == "name") return TakeText(field, &piece->name, &chunk->has_token);
    if (key == "arguments") return TakeArguments(field, piece, chunk);
    if (key != "input") return true;
    piece->free_text = true;
    return NoteText(field, &chunk->has_token);
  });
}

bool TakeToolCalls(od::value& value, ChatChunk* chunk) {
  od::array calls;
  if (TypeOf(value) != od::json_type::array) return true;
  if (value.get_array().get(calls) != SUCCESS) return false;
  bool empty = true;
  const bool all_read = ForElements(calls, [&](od::value& call) {
    empty = false;
    od::object object;
    if (TypeOf(call) != od::json_type::object) return true;
    if (call.get_object().get(object) != SUCCESS) return false;
    chunk->tool_call = true;
    ToolCallPiece piece;
    const bool whole = ForFields(object, [&](std::string_view key, od::value& field) {
      if (key == "index" && TypeOf(field) == od::json_type::number) piece.index = Count(field);
      if (key == "id") return NoteText(field, &piece.has_id);
      if (key == "custom") piece.free_text = true;
      return (key != "function" && key != "custom") || TakeFunction(field, &piece, chunk);
    });
    chunk->tool_calls.push_back(piece);
    return whole;
  });
  chunk->empty_tool_calls = chunk->empty_tool_calls || (all_read && empty);
  return all_read;
}

// The API's older form: one call, without a list.
bool TakeOldCall(od::value& value, ChatChunk* chunk) {
  if (TypeOf(value) != od::json_type::object) return true;
  ToolCallPiece piece{.index = 0};
  const bool whole = TakeFunction(value, &piece, chunk);
  chunk->tool_calls.push_back(piece);
  return whole;
}

// NoteText, and a string's text goes to where the caller keeps content.
bool TakeContent(od::value& value, ChatChunk* chunk) {
  if (chunk->content == nullptr || TypeOf(value) != od::json_type::string) {
    return NoteText(value, &chunk->answers);
  }
  std::string_view text;
  if (value.get_string().get(text) != SUCCESS) return false;
  chunk->answers = chunk->answers || !text.empty();
  chunk->content->append(text);
  return true;
}

bool TakeDelta(od::value& value, ChatChunk* chunk, bool* role) {
  od::object object;
  if (TypeOf(value) != od::json_type::object) return true;
  if (value.get_object().get(object) != SUCCESS) return false;
  return ForFields(object, [&](std::string_view key, od::value& field) {
    if (key == "content") return TakeContent(field, chunk);
    if (key == "refusal") return NoteText(field, &chunk->answers);
    if (key == "reasoning" || key == "reasoning_content") return NoteText(field, &chunk->reasons);
    if (key == "tool_calls") return TakeToolCalls(field, chunk);
    if (key == "function_call") return TakeOldCall(field, chunk);
    if (key == "role") *role = true;
    return true;
  });
}

FinishReason FinishOf(std::string_view reason) {
  if (reason == "stop") return FinishReason::kStop;
  if (reason == "length") return FinishReason::kLength;
  if (reason == "tool_calls" || reason == "function_call") return FinishReason::kToolCalls;
  if (reason == "error" || reason == "abort") return FinishReason::kFailed;
  return reason.empty() ? FinishReason::kNone : FinishReason::kOther;
}

// A choice without an index counts as the first; its tool calls are told apart by its `position`.
bool TakeChoice(od::object choice, std::uint32_t position, ChatChunk* chunk, bool* role) {
  std::uint64_t index = 0;
  std::uint32_t tool_choice = position;
  FinishReason finish = FinishReason::kNone;
  const std::size_t kept = chunk->content != nullptr ? chunk->content->size() : 0;
  const std::size_t pieces = chunk->tool_calls.size();
  const bool whole = ForFields(choice, [&](std::string_view key, od::value& field) {
    if (key == "delta" || key == "message") return TakeDelta(field, chunk, role);
    if (key == "text") return NoteText(field, &chunk->answers);
    if (key == "index") {
      const bool valid = field.get_uint64().get(index) == SUCCESS;
      if (!valid) index = 0;
      if (valid)
        tool_choice = static_cast<std::uint32_t>(std::min<std::uint64_t>(index, kAbsentTokens));
      return true;
    }
    if (key == "finish_reason" && TypeOf(field) == od::json_type::string) {
      std::string_view reason;
      if (field.get_string().get(reason) != SUCCESS) return false;
      finish = FinishOf(reason);
    }
    return true;
  });
  // Only now: the index may stand behind the pieces.
  for (std::size_t p = pieces; p < chunk->tool_calls.size(); ++p) {
    chunk->tool_calls[p].choice = tool_choice;
  }
  const std::uint64_t bit = std::uint64_t{1} << std::min<std::uint64_t>(index, 63);
  chunk->choices |= bit;
  if (finish != FinishReason::kNone) chunk->finished |= bit;
  chunk->finish = Stronger(chunk->finish, finish);
  // A client goes on with the first choice.
  if (chunk->content != nullptr && index != 0) chunk->content->resize(kept);
  return whole;
}

bool TakeChoices(od::value& value, ChatChunk* chunk, bool* role) {
  od::array choices;
  if (TypeOf(value) != od::json_type::array) return true;
  if (value.get_array().get(choices) != SUCCESS) return false;
  chunk->has_choices = true;
  std::uint32_t position = 0;
  return ForElements(choices, [&](od::value& choice) {
    od::object object;
    if (TypeOf(choice) != od::json_type::object) return true;
    return choice.get_object().get(object) == SUCCESS &&
           TakeChoice(object, position++, chunk, role);
  });
}

bool TakeUsage(od::value& value, ChatChunk* chunk) {
  od::object object;
  if (TypeOf(value) != od::json_type::object) return true;
  if (value.get_object().get(object) != SUCCESS) return false;
  chunk->has_usage = true;
  return ForFields(object, [&](std::string_view key, od::value& field) {
    if (key == "prompt_tokens") chunk->usage.prompt = Count(field);
    if (key == "completion_tokens") chunk->usage.completion = Count(field);
    if (key == "prompt_cache_hit_tokens") chunk->usage.cached = Count(field);
    const bool prompt = key == "prompt_tokens_details";
    if (!prompt && key != "completion_tokens_details") return true;
    od::object details;
    if (TypeOf(field) != od::json_type::object) return true;
    if (field.get_object().get(details) != SUCCESS) return false;
    return ForFields(details, [&](std::string_view name, od::value& detail) {
      if (prompt && name == "cached_tokens") chunk->usage.cached = Count(detail);
      if (!prompt && name == "reasoning_tokens") chunk->usage.reasoning = Count(detail);
      return true;
    });
  });
}

// A string, or a number in decimals.
bool TakeWord(od::value& value, std::string* word) {
  const od::json_type type = TypeOf(value);
  if (type == od::json_type::string) {
    std::string_view text;
    if (value.get_string().get(text) != SUCCESS) return false;
    word->assign(text);
  } else if (type == od::json_type::number) {
    std::int64_t number = 0;
    if (value.get_int64().get(number) == SUCCESS) *word = std::to_string(number);
  }
  return true;
}

bool TakeErrorField(std::string_view key, od::value& value, ChatChunk* chunk) {
  if (key == "message") return TakeWord(value, &chunk->error_message);
  if (key == "code") return TakeWord(value, &chunk->error_code);
  if (key == "type") return TakeWord(value, &chunk->error_type);
  return true;
}

// {"error": {…}}, {"error": "words"}; null and false are none.
bool TakeError(od::value& value, ChatChunk* chunk, bool* is_error) {
  const od::json_type type = TypeOf(value);
  if (type == od::json_type::null) return true;
  bool truth = true;
  if (type == od::json_type::boolean && value.get_bool().get(truth) == SUCCESS && !truth) {
    return true;
  }
  *is_error = true;
  if (type != od::json_type::object) return TakeWord(value, &chunk->error_message);
  od::object object;
  if (value.get_object().get(object) != SUCCESS) return false;
  return ForFields(object, [&](std::string_view key, od::value& field) {
    return TakeErrorField(key, field, chunk);
  });
}

void Clear(ChatChunk* chunk) {
  chunk->kind = ChatChunk::Kind::kMalformed;
  chunk->has_token = chunk->role_only = chunk->tool_call = false;
  chunk->answers = chunk->reasons = false;
  chunk->has_choices = chunk->has_usage = false;
  chunk->tool_calls.clear();
  chunk->finish = FinishReason::kNone;
  chunk->choices = chunk->finished = 0;
  chunk->usage = ChatUsage{};
  chunk->empty_tool_calls = false;
  chunk->error_message.clear();
  chunk->error_code.clear();
  chunk->error_type.clear();
}

bool TakeDocument(od::document& document, ChatChunk* chunk) {
  od::object object;
  if (document.get_object().get(object) != SUCCESS) return false;
  bool is_error = false;
  bool role = false;
  const bool whole = ForFields(object, [&](std::string_view key, od::value& value) {
    if (key == "choices") return TakeChoices(value, chunk, &role);
    if (key == "usage") return TakeUsage(value, chunk);
    if (key == "error") return TakeError(value, chunk, &is_error);
    if (key == "object" && TypeOf(value) == od::json_type::string) {  // {"object": "error", …}
      std::string_view name;
      if (value.get_string().get(name) != SUCCESS) return false;
      is_error = is_error || name == "error";
      return true;
    }
    return TakeErrorField(key, value, chunk);
  });
  const char* rest = nullptr;  // What follows the object is an error.
  if (!whole || document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) return false;
  // What NoteText noted for a tool call is the token of one.
  chunk->answers = chunk->answers || chunk->has_token;
  chunk->has_token = chunk->answers || chunk->reasons;
  chunk->kind = is_error ? ChatChunk::Kind::kError : ChatChunk::Kind::kChunk;
  chunk->role_only = role && !chunk->has_token && !chunk->tool_call && !chunk->has_usage &&
                     chunk->finish == FinishReason::kNone;
  return true;
}

std::string_view Trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

FinishReason Stronger(FinishReason first, FinishReason second) {
  for (const FinishReason telling : {FinishReason::kFailed, FinishReason::kLength}) {
    if (first == telling || second == telling) return telling;
  }
  return first == FinishReason::kNone ? second : first;
}

struct ChatChunkParser::Impl {
  od::parser parser;
  std::vector<char> buffer;  // The payload and simdjson's padding.
};

ChatChunkParser::ChatChunkParser() : impl_(std::make_unique<Impl>()) {}

ChatChunkParser::~ChatChunkParser() = default;

void ChatChunkParser::Parse(std::string_view payload, ChatChunk* chunk) {
  Clear(chunk);
  if (Trimmed(payload) == "[DONE]") {
    chunk->kind = ChatChunk::Kind::kDone;
    return;
  }
  if (payload.empty()) return;
  // Not at the end: the chunk's tool calls point into it until now.
  if (impl_->buffer.size() > kBufferKept && payload.size() < kBufferKept / 2) {
    impl_ = std::make_unique<Impl>();
  }
  std::vector<char>& buffer = impl_->buffer;
  if (buffer.size() < payload.size() + simdjson::SIMDJSON_PADDING) {
    buffer.resize(std::max(2 * buffer.size(), payload.size() + simdjson::SIMDJSON_PADDING));
  }
  std::memcpy(buffer.data(), payload.data(), payload.size());
  std::memset(buffer.data() + payload.size(), ' ', simdjson::SIMDJSON_PADDING);
  od::document document;
  if (impl_->parser.iterate(buffer.data(), payload.size(), buffer.size()).get(document) !=
          SUCCESS ||
      !TakeDocument(document, chunk)) {
    Clear(chunk);
  }
}

}  // namespace plimsoll
