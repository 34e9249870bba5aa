// The body of one answer, read as it arrives: an event stream, a whole JSON answer, or the body of
// an error. Pure: instants are arguments. Reused from call to call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/chat/call_transport.h"
#include "common/evals/tool_answer.h"
#include "common/evals/tool_set.h"
#include "common/sse/chat_chunk.h"
#include "common/sse/sse_parser.h"

namespace plimsoll {

enum class BodyKind : std::uint8_t {
  kNone,    // Dropped.
  kEvents,  // text/event-stream.
  kJson,    // A whole answer, not streamed: one chunk.
  kError,   // Of a status that is not 2xx: its beginning is kept for the reason.
};

// What of an answer its caller wants, beside its timing.
struct AnswerWants {
  std::size_t content_bytes_max = 0;  // Of its content; 0: none of it.
  const ToolSet* tools = nullptr;  // Those that were offered; null: not known. Outlives the answer.
  bool whole = false;              // Its tool calls as they came, unjudged: an eval's.
};

class AnswerReader final : private SseParser::Sink {
 public:
  // A whole JSON answer longer than this fails; an error is read up to its bound.
  static constexpr std::size_t kJsonBytesMax = SseParser::kEventBytesMax;
  static constexpr std::size_t kErrorBytesMax = std::size_t{16} << 10;
  // A stream that is longer, decompressed, fails: no model writes so much.
  static constexpr std::uint64_t kAnswerBytesMax = std::uint64_t{256} << 20;

  // Forgets the answer before.
  // Between kEvents and kJson the body's first byte decides, whatever its type was called: an event
  // stream cannot begin with '{', nor JSON with a field's name.
  void Begin(BodyKind kind, const AnswerWants& wants = {});
  // Bytes that arrived at `at`: everything in them shares the stamp.
  void Read(std::string_view bytes, MonoTime at);
  // The body ended in order. What it completes carries the stamp of the last bytes.
  void Finish();

  // Copies stamps, counts and flags, judges tool calls or hands them over, as the content. Once.
  void Fill(CallResult* result);

  bool failed() const { return failed_; }  // An error object, `event: error`, or no JSON.
  // "[DONE]" came, or every choice that was seen has a finish reason.
  bool terminated() const { return done_ || (finished_ != 0 && (choices_ & ~finished_) == 0); }
  bool done() const { return done_; }  // "[DONE]" came, or the whole JSON answer.
  bool finished() const { return finish_ != FinishReason::kNone; }
  bool has_token() const { return chunks_ > 0; }
  bool valid() const { return valid_; }  // A chunk of a chat completion came.
  // What the server said went wrong, in a line.
  std::string Reason() const;
  // Until a valid chunk came: what did, escaped and bounded, for people. Empty afterwards.
  std::string FirstBytes() const;
  bool head_full() const;  // FirstBytes() will not grow.
  // The error says that the prompt, or it with its output, is too long for the model. Only
  // for kError.
  bool IsContextOverflow() const;

 private:
  void OnEvent(const SseEvent& event) override;
  void TakePayload(std::string_view payload);
  std::uint8_t AnswerFlags() const;
  ToolAnswer TakeToolAnswer();
  void JudgeTools(CallResult* result);
  void TakeChunk();  // chunk_, a valid one.
  void KeepFirstBytes(std::string_view bytes);
  std::string_view Sniffed(std::string_view bytes);
  void Fail(std::string_view what, std::string_view detail);
  std::uint32_t ContentTokens() const;

  BodyKind kind_ = BodyKind::kNone;
  bool sniffed_ = false;  // The first byte that tells was seen.
  bool valid_ = false;    // A chunk with choices came.
  std::string head_;      // The first bytes, until then.
  std::uint64_t bytes_ = 0;
  SseParser events_;
  ChatChunkParser payloads_;
  ChatChunk chunk_;    // The last one parsed.
  std::string whole_;  // kJson, kError.
  MonoTime now_{};
  bool at_end_ = false;
  bool named_ = false;  // The event at hand has a type of its own.

  MonoTime first_chunk_ = CallResult::kNever;
  MonoTime first_token_ = CallResult::kNever;
  MonoTime last_token_ = CallResult::kNever;
  std::uint32_t chunks_ = 0;
  std::uint32_t tokens_first_chunk_ = kAbsentTokens;
  ChatUsage usage_;
  FinishReason finish_ = FinishReason::kNone;
  std::uint64_t choices_ = 0;  // Bits, as in ChatChunk.
  std::uint64_t finished_ = 0;
  bool tool_call_ = false;
  bool empty_lists_ = false;  // Of tool calls.
  ToolCallCollector tool_calls_;
  bool answers_ = false;  // Content, a refusal or a tool call came, as against reasoning alone.
  bool reasons_ = false;
  bool done_ = false;
  bool failed_ = false;
  std::string error_;
  bool context_overflow_ = false;
  AnswerWants wants_;
  bool content_too_long_ = false;
  std::string content_;
  std::uint32_t content_chunks_ = 0;
};

}  // namespace plimsoll
