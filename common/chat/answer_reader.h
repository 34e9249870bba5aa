// The body of one answer, read as it arrives: an event stream, a whole JSON answer, or the body of
// an error. Pure: instants are arguments. Reused from call to call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/chat/call_transport.h"
#include "common/chat/tool_call_check.h"
#include "common/sse/chat_chunk.h"
#include "common/sse/sse_parser.h"

namespace plimsoll {

enum class BodyKind : std::uint8_t {
  kNone,    // Dropped.
  kEvents,  // text/event-stream.
  kJson,    // A whole answer, not streamed: one chunk.
  kError,   // Of a status that is not 2xx: its beginning is kept for the reason.
};

class AnswerReader final : private SseParser::Sink {
 public:
  // A JSON answer or error longer than this is cut, and then malformed.
  static constexpr std::size_t kJsonBytesMax = std::size_t{1} << 20;
  static constexpr std::size_t kErrorBytesMax = std::size_t{16} << 10;

  void Begin(BodyKind kind);  // Forgets the answer before.
  // Bytes that arrived at `at`: everything in them shares the stamp.
  void Read(std::string_view bytes, MonoTime at);
  // The body ended in order. What it completes carries the stamp of the last bytes.
  void Finish();

  // Copies stamps, counts and flags.
  void Fill(CallResult* result) const;

  bool failed() const { return failed_; }  // An error object, `event: error`, or no JSON.
  bool terminated() const { return done_ || finish_ != FinishReason::kNone; }
  bool done() const { return done_; }  // "[DONE]" came, or the whole JSON answer.
  bool finished() const { return finish_ != FinishReason::kNone; }
  bool has_token() const { return chunks_ > 0; }
  // What the server said went wrong, in a line.
  std::string Reason() const;
  // The error says that the prompt, or it with its output, is too long for the model. Only
  // for kError.
  bool IsContextOverflow() const;

 private:
  void OnEvent(const SseEvent& event) override;
  void TakePayload(std::string_view payload);
  std::uint8_t AnswerFlags() const;
  void Fail(std::string_view what, std::string_view detail);

  BodyKind kind_ = BodyKind::kNone;
  SseParser events_;
  ChatChunkParser payloads_;
  ChatChunk chunk_;    // The last one parsed.
  std::string whole_;  // kJson, kError.
  MonoTime now_{};
  bool at_end_ = false;

  MonoTime first_chunk_ = CallResult::kNever;
  MonoTime first_token_ = CallResult::kNever;
  MonoTime last_token_ = CallResult::kNever;
  std::uint32_t chunks_ = 0;
  std::uint32_t tokens_first_chunk_ = kAbsentTokens;
  ChatUsage usage_;
  FinishReason finish_ = FinishReason::kNone;
  bool tool_call_ = false;
  ToolCallCheck tool_calls_;
  bool answers_ = false;  // Content, a refusal or a tool call came, as against reasoning alone.
  bool reasons_ = false;
  bool done_ = false;
  bool failed_ = false;
  std::string error_;
  bool context_overflow_ = false;
};

}  // namespace plimsoll
