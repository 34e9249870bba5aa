#include "common/chat/answer_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/text.h"
#include "common/evals/tool_faults.h"

namespace plimsoll {
namespace {

constexpr std::size_t kReasonBytes = 200;
constexpr std::size_t kHeadBytes = 120;
constexpr std::size_t kBytesKept = std::size_t{1} << 20;  // Of a buffer, for the next answer.

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

void AnswerReader::Begin(BodyKind kind, const AnswerWants& wants) {
  kind_ = kind;
  sniffed_ = valid_ = false;
  head_.clear();
  bytes_ = 0;
  events_.Reset();
  whole_.clear();
  if (whole_.capacity() > kBytesKept) whole_.shrink_to_fit();
  at_end_ = false;
  first_chunk_ = first_token_ = last_token_ = CallResult::kNever;
  chunks_ = 0;
  tokens_first_chunk_ = kAbsentTokens;
  usage_ = ChatUsage{};
  finish_ = FinishReason::kNone;
  tool_calls_.Begin();
  answers_ = reasons_ = false;
  choices_ = finished_ = 0;
  tool_call_ = empty_lists_ = done_ = failed_ = context_overflow_ = false;
  error_.clear();
  wants_ = wants;
  content_too_long_ = false;
  content_.clear();
  content_chunks_ = 0;
  chunk_.content = wants.content_bytes_max > 0 ? &content_ : nullptr;
}

void AnswerReader::Read(std::string_view bytes, MonoTime at) {
  now_ = at;
  if (failed_ || bytes.empty()) return;
  KeepFirstBytes(bytes);
  bytes = Sniffed(bytes);
  bytes_ += bytes.size();
  switch (kind_) {
    case BodyKind::kNone:
      break;
    case BodyKind::kEvents:
      if (bytes_ > kAnswerBytesMax) {
        Fail("an answer of over 256 MiB", "");
      } else if (!events_.Feed(bytes, *this)) {
        Fail("an event too long to be one (over 16 MiB)", FirstBytes());
      }
      break;
    case BodyKind::kJson:
      if (bytes_ > kJsonBytesMax) {
        Fail("an answer too long to be one (over 16 MiB)", FirstBytes());
      } else {
        whole_.append(bytes);
      }
      break;
    case BodyKind::kError:
      whole_.append(bytes.substr(0, kErrorBytesMax - std::min(kErrorBytesMax, whole_.size())));
      break;
  }
}

void AnswerReader::KeepFirstBytes(std::string_view bytes) {
  if (valid_ || head_.size() > kHeadBytes) return;
  head_.append(bytes.substr(0, kHeadBytes + 1 - head_.size()));
}

// The bytes from which the body counts; kind_ is what they say.
std::string_view AnswerReader::Sniffed(std::string_view bytes) {
  if (sniffed_) return bytes;
  const std::size_t first = bytes.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (first == std::string_view::npos) return bytes;
  sniffed_ = true;
  const char c = bytes[first];
  if (kind_ == BodyKind::kEvents && c == '{') {
    kind_ = BodyKind::kJson;
  } else if (kind_ == BodyKind::kJson && std::string_view("dei:r").find(c) != std::string::npos) {
    kind_ = BodyKind::kEvents;
  } else {
    return bytes;
  }
  return bytes.substr(first);
}

void AnswerReader::Finish() {
  at_end_ = true;
  if (failed_) return;
  if (kind_ == BodyKind::kEvents) {
    events_.Finish(*this);
  } else if (kind_ == BodyKind::kJson) {
    TakePayload(whole_);
    if (!failed_ && !valid_) Fail("not a chat completion", whole_);
    done_ = !failed_;
  } else if (kind_ == BodyKind::kError) {
    payloads_.Parse(whole_, &chunk_);
    context_overflow_ = SaysContextOverflow(chunk_, whole_);
    error_ =
        Printable(chunk_.error_message.empty() ? std::string_view(whole_) : chunk_.error_message,
                  kReasonBytes);
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
  named_ = !event.type.empty() && event.type != "message";
  TakePayload(event.data);
}

void AnswerReader::TakePayload(std::string_view payload) {
  if (first_chunk_ == CallResult::kNever) first_chunk_ = now_;
  const std::size_t content_before = content_.size();
  payloads_.Parse(payload, &chunk_);
  if (content_.size() > content_before) ++content_chunks_;
  if (content_.size() > wants_.content_bytes_max) {
    content_too_long_ = true;
    content_ = std::string();  // Its memory too.
    chunk_.content = nullptr;
  }
  switch (chunk_.kind) {
    case ChatChunk::Kind::kDone:
      done_ = true;
      return;
    case ChatChunk::Kind::kError:
      return Fail("error after the start", chunk_.error_message);
    case ChatChunk::Kind::kMalformed:
      // A last event that no blank line ended may just be cut: that is for the caller to judge. An
      // event of another name (a gateway's ping) need not be JSON.
      if (named_ && kind_ == BodyKind::kEvents) return;
      if (!at_end_ || kind_ == BodyKind::kJson) Fail("not a JSON object", payload);
      return;
    case ChatChunk::Kind::kChunk:
      return TakeChunk();
  }
}

void AnswerReader::TakeChunk() {
  valid_ = valid_ || chunk_.has_choices;
  if (chunk_.has_usage) {
    TakeCount(chunk_.usage.prompt, &usage_.prompt);
    TakeCount(chunk_.usage.completion, &usage_.completion);
    TakeCount(chunk_.usage.cached, &usage_.cached);
    TakeCount(chunk_.usage.reasoning, &usage_.reasoning);
  }
  tool_call_ = tool_call_ || chunk_.tool_call;
  empty_lists_ = empty_lists_ || chunk_.empty_tool_calls;
  for (const ToolCallPiece& piece : chunk_.tool_calls) tool_calls_.Add(piece);
  answers_ = answers_ || chunk_.answers;
  reasons_ = reasons_ || chunk_.reasons;
  if (chunk_.has_token) {
    if (chunks_ == 0) {
      first_token_ = now_;
      // Servers that send the usage with every chunk say how many tokens the first one held.
      if (chunk_.has_usage) tokens_first_chunk_ = chunk_.usage.completion;
    }
    last_token_ = now_;
    ++chunks_;
  }
  choices_ |= chunk_.choices;
  finished_ |= chunk_.finished;
  finish_ = Stronger(finish_, chunk_.finish);
  if (finish_ == FinishReason::kFailed)
    Fail("the server gave up: finish reason error or abort", "");
}

void AnswerReader::Fail(std::string_view what, std::string_view detail) {
  failed_ = true;
  error_ = std::string(what);
  if (!detail.empty()) error_.append(": ").append(Printable(detail, kReasonBytes));
}

std::uint8_t AnswerReader::AnswerFlags() const {
  std::uint8_t flags = 0;
  if (reasons_ && !answers_) flags |= kReasoningOnly;
  const std::uint32_t reasoning = usage_.reasoning;
  if (!reasons_ && reasoning != kAbsentTokens && reasoning >= kHiddenReasoningMin) {
    flags |= kHiddenReasoning;
  }
  return flags;
}

// A server that does not count reasoning is taken to spend as many tokens on each chunk.
std::uint32_t AnswerReader::ContentTokens() const {
  if (usage_.completion == kAbsentTokens || content_chunks_ == 0) return kAbsentTokens;
  if (usage_.reasoning != kAbsentTokens) {
    return usage_.completion - std::min(usage_.completion, usage_.reasoning);
  }
  return static_cast<std::uint32_t>(std::uint64_t{usage_.completion} * content_chunks_ /
                                    std::max(chunks_, content_chunks_));
}

ToolAnswer AnswerReader::TakeToolAnswer() {
  ToolAnswer answer{.too_large = tool_calls_.too_large(),
                    .finished_for_calls = finish_ == FinishReason::kToolCalls,
                    .only_empty_lists = empty_lists_ && !answers_ && !tool_call_,
                    .cut = finish_ == FinishReason::kLength};
  answer.calls = tool_calls_.Take();
  return answer;
}

void AnswerReader::JudgeTools(CallResult* result) {
  if (!terminated()) return;  // Cut short: what it lacks may have been on its way.
  ToolAnswer answer = TakeToolAnswer();
  // Some servers send such lists with every answer: where nothing was offered, they announce none.
  answer.only_empty_lists = answer.only_empty_lists && wants_.tools != nullptr;
  // A server that announces tool calls and sends none has lost them.
  const ToolFaultCounts judged = JudgeToolCalls(answer, wants_.tools);
  if (judged.faulty > 0) {
    result->answer |= kToolCallsInvalid;
    result->tool_faults = judged.bits();
  } else if (judged.calls > 0 && judged.calls == answer.calls.size()) {
    result->answer |= kToolCallsValid;
  }
}

void AnswerReader::Fill(CallResult* result) {
  if (wants_.content_bytes_max > 0) {
    result->content_tokens = ContentTokens();
    result->content_too_long = content_too_long_;
    result->content = std::move(content_);
    content_ = std::string();
  }
  result->streamed = kind_ == BodyKind::kEvents;
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
  if (wants_.whole) {
    result->tools = TakeToolAnswer();
  } else if (tool_call_ || empty_lists_ || finish_ == FinishReason::kToolCalls) {
    JudgeTools(result);
  }
}

std::string AnswerReader::Reason() const {
  return error_;
}

std::string AnswerReader::FirstBytes() const {
  return valid_ ? "" : Printable(head_, kHeadBytes);
}

bool AnswerReader::head_full() const {
  return valid_ || head_.size() > kHeadBytes;
}

bool AnswerReader::IsContextOverflow() const {
  return context_overflow_;
}

}  // namespace plimsoll
