#include "common/chat/answer_reader.h"

#include <algorithm>
#include <array>

#include "common/base/text.h"

namespace plimsoll {
namespace {

constexpr std::size_t kReasonBytes = 200;

// What people read: one line, short, of printable characters.
std::string Line(std::string_view text) {
  std::string line(text.substr(0, kReasonBytes));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f) c = ' ';
  }
  return line;
}

// Known by code or type where there is one; engines that only use words all name the context.
bool SaysContextOverflow(const ChatChunk& chunk, std::string_view raw) {
  for (const std::string* word : {&chunk.error_code, &chunk.error_type}) {
    if (*word == "context_length_exceeded" || *word == "exceed_context_size_error") return true;
  }
  constexpr std::array<std::string_view, 6> kPhrases = {"context length", "context size",
                                                        "context window", "maximum context",
                                                        "context_length", "maximum allowed length"};
  const std::string words =
      LowerAscii(chunk.kind == ChatChunk::Kind::kMalformed ? raw : chunk.error_message);
  return std::any_of(kPhrases.begin(), kPhrases.end(), [&](std::string_view phrase) {
    return words.find(phrase) != std::string::npos;
  });
}

// Fewer may be markers of an empty thought, which some templates add.
constexpr std::uint32_t kHiddenReasoningMin = 16;

void TakeCount(std::uint32_t from, std::uint32_t* to) {
  if (from != kAbsentTokens) *to = from;
}

}  // namespace

void AnswerReader::Begin(BodyKind kind) {
  kind_ = kind;
  events_.Reset();
  whole_.clear();
  at_end_ = false;
  first_chunk_ = first_token_ = last_token_ = CallResult::kNever;
  chunks_ = 0;
  tokens_first_chunk_ = kAbsentTokens;
  usage_ = ChatUsage{};
  finish_ = FinishReason::kNone;
  tool_calls_.Begin();
  answers_ = reasons_ = false;
  tool_call_ = done_ = failed_ = context_overflow_ = false;
  error_.clear();
}

void AnswerReader::Read(std::string_view bytes, MonoTime at) {
  now_ = at;
  if (failed_ || bytes.empty()) return;
  switch (kind_) {
    case BodyKind::kNone:
      break;
    case BodyKind::kEvents:
      if (!events_.Feed(bytes, *this)) Fail("an event too long to be one", "");
      break;
    case BodyKind::kJson:
    case BodyKind::kError: {
      const std::size_t max = kind_ == BodyKind::kJson ? kJsonBytesMax : kErrorBytesMax;
      whole_.append(bytes.substr(0, max - std::min(max, whole_.size())));
      break;
    }
  }
}

void AnswerReader::Finish() {
  at_end_ = true;
  if (failed_) return;
  if (kind_ == BodyKind::kEvents) {
    events_.Finish(*this);
  } else if (kind_ == BodyKind::kJson) {
    TakePayload(whole_);
    done_ = !failed_;
  } else if (kind_ == BodyKind::kError) {
    payloads_.Parse(whole_, &chunk_);
    context_overflow_ = SaysContextOverflow(chunk_, whole_);
    error_ = Line(chunk_.error_message.empty() ? std::string_view(whole_) : chunk_.error_message);
  }
}

void AnswerReader::OnEvent(const SseEvent& event) {
  if (failed_ || done_) return;  // What follows the end is nobody's.
  if (first_chunk_ == CallResult::kNever) first_chunk_ = now_;
  if (event.type == "error") {
    payloads_.Parse(event.data, &chunk_);
    const bool words = chunk_.kind != ChatChunk::Kind::kMalformed && !chunk_.error_message.empty();
    return Fail("error event", words ? std::string_view(chunk_.error_message) : event.data);
  }
  if (event.data.empty()) return;  // Some servers keep connections alive so.
  TakePayload(event.data);
}

void AnswerReader::TakePayload(std::string_view payload) {
  if (first_chunk_ == CallResult::kNever) first_chunk_ = now_;
  payloads_.Parse(payload, &chunk_);
  switch (chunk_.kind) {
    case ChatChunk::Kind::kDone:
      done_ = true;
      return;
    case ChatChunk::Kind::kError:
      return Fail("error after the start", chunk_.error_message);
    case ChatChunk::Kind::kMalformed:
      // A last event that no blank line ended may just be cut: that is for the caller to judge.
      if (!at_end_ || kind_ == BodyKind::kJson) Fail("not a JSON object", payload);
      return;
    case ChatChunk::Kind::kChunk:
      break;
  }
  if (chunk_.has_usage) {
    TakeCount(chunk_.usage.prompt, &usage_.prompt);
    TakeCount(chunk_.usage.completion, &usage_.completion);
    TakeCount(chunk_.usage.cached, &usage_.cached);
    TakeCount(chunk_.usage.reasoning, &usage_.reasoning);
  }
  tool_call_ = tool_call_ || chunk_.tool_call;
  for (const ToolCallPiece& piece : chunk_.tool_calls) tool_calls_.Add(piece);
  answers_ = answers_ || chunk_.answers;
  reasons_ = reasons_ || chunk_.reasons;
  if (chunk_.has_token && finish_ == FinishReason::kNone) {
    if (chunks_ == 0) {
      first_token_ = now_;
      // Servers that send the usage with every chunk say how many tokens the first one held.
      if (chunk_.has_usage) tokens_first_chunk_ = chunk_.usage.completion;
    }
    last_token_ = now_;
    ++chunks_;
  }
  if (finish_ == FinishReason::kNone) finish_ = chunk_.finish;
}

void AnswerReader::Fail(std::string_view what, std::string_view detail) {
  failed_ = true;
  error_ = std::string(what);
  if (!detail.empty()) error_.append(": ").append(Line(detail));
}

std::uint8_t AnswerReader::AnswerFlags() const {
  std::uint8_t flags = 0;
  // A server that announces tool calls and sends none has lost them.
  if (tool_call_ || finish_ == FinishReason::kToolCalls) {
    const bool cut = finish_ == FinishReason::kLength && !tool_calls_.broken();
    if (tool_calls_.valid()) {
      flags |= kToolCallsValid;
    } else if (!cut && terminated()) {
      flags |= kToolCallsInvalid;
    }
  }
  if (reasons_ && !answers_) flags |= kReasoningOnly;
  const std::uint32_t reasoning = usage_.reasoning;
  if (!reasons_ && reasoning != kAbsentTokens && reasoning >= kHiddenReasoningMin) {
    flags |= kHiddenReasoning;
  }
  return flags;
}

void AnswerReader::Fill(CallResult* result) const {
  result->first_chunk = first_chunk_;
  result->first_token = first_token_;
  result->last_token = last_token_;
  result->chunks = chunks_;
  result->tokens_in = usage_.prompt;
  result->tokens_cached = usage_.cached;
  result->tokens_out = usage_.completion;
  result->tokens_first_chunk = tokens_first_chunk_;
  if (finish_ == FinishReason::kLength) result->flags |= kCapReached;
  if (tool_call_) result->flags |= kToolCallPresent;
  result->answer = AnswerFlags();
}

std::string AnswerReader::Reason() const {
  return error_;
}

bool AnswerReader::IsContextOverflow() const {
  return context_overflow_;
}

}  // namespace plimsoll
