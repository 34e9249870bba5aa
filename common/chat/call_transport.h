// CallTransport: one call of a session, from release to its one outcome. The seam between replay
// and the wire. Real: http_call_transport (prompt text, HTTP, SSE). Virtual:
// tests/fakes/engine_transport, where the engine model delivers milestones and no bytes exist.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/corpus/prompt.h"
#include "common/evals/tool_answer.h"
#include "common/record/call_record.h"

namespace plimsoll {

struct EvalCase;

// What a message of the prompt says in place of its recorded length of text: live history.
struct LiveMessage {
  std::uint32_t message = 0;  // Index into Prompt::messages.
  std::string_view json;      // The inside of a JSON string, escaped; may be empty.
};

struct CallRequest {
  const Prompt* prompt = nullptr;  // Outlives the call; of an eval null.
  // An eval is asked in place of a prompt: its own body, cap and tools, and its whole answer comes
  // back, up to AnswerCheck::kContentBytesMax of content. Outlives the call.
  const EvalCase* eval = nullptr;
  // By message, ascending; the array and its texts outlive the call. Empty: all as recorded.
  std::span<const LiveMessage> live;
  std::uint32_t planned_tokens = 0;  // Of the prompt with the live messages; 0: prompt->tokens.
  // How much of the answer's content the caller wants back; 0: none of it.
  std::size_t content_bytes_max = 0;
  std::uint32_t max_tokens = 1;  // Cap of the output.
  // Ask the server for exactly that length, by the switches that preflight found honoured.
  bool min_tokens = false;  // min_tokens = max_tokens.
  bool ignore_eos = false;
  std::uint64_t play_id = 0;  // Key of the play: affinity header, session noise of the model.
  std::uint64_t parent_play_id = 0;  // Of the parent stream for subagent streams; 0: none.
  std::uint64_t call_key = 0;        // Key of this attempt: unique in the run.
  MonoTime released{};               // The deadline runs from here.
  Duration deadline{0};              // 0: the target's.
};

// One outcome with every stamp. Instants that never came are kNever.
struct CallResult {
  static constexpr MonoTime kNever = MonoTime::min();
  Outcome outcome = Outcome::kClientError;
  MonoTime connecting = kNever;  // A new connection's first socket was made; never after `sent`.
  MonoTime sent = kNever;
  MonoTime upload_done = kNever;
  MonoTime headers = kNever;
  MonoTime first_chunk = kNever;
  MonoTime first_token = kNever;
  MonoTime last_token = kNever;
  MonoTime end = kNever;
  std::uint32_t tokens_in = kAbsentTokens;
  std::uint32_t tokens_cached = kAbsentTokens;
  std::uint32_t tokens_out = kAbsentTokens;
  std::uint32_t tokens_first_chunk = kAbsentTokens;
  std::uint32_t chunks = 0;
  std::uint16_t http_status = 0;
  std::uint8_t flags = 0;         // RecordFlag bits: connection, cap, tool call.
  std::uint8_t answer = 0;        // AnswerFlag bits; of an eval without tool calls judged.
  ToolFaultBits tool_faults = 0;  // What is wrong with its tool calls.
  bool streamed = false;          // The answer came as an event stream.
  std::uint8_t resends = 0;       // Bodies sent again after a kept connection had died unnoticed.
  Duration retry_after{-1};       // From the Retry-After header; negative: absent.
  std::string message;            // For people: what went wrong, in a line. Empty when ok.
  // What a client sends again as the assistant's turn: the first choice's content, without its
  // reasoning, refusal and tool calls. UTF-8. Empty where none was wanted or it was too long.
  std::string content;
  bool content_too_long = false;                 // Over CallRequest::content_bytes_max.
  std::uint32_t content_tokens = kAbsentTokens;  // Of the answer, those of its content.
  ToolAnswer tools;                              // Of an eval alone.
};

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // Exactly once, never from inside Start(). The call may be destroyed in it, and `result` with it.
  virtual void OnCallEnded(const CallResult& result) = 0;
};

class CallTransport {
 public:
  // Destroying it hangs up, silently.
  class Call {
   public:
    virtual ~Call() = default;
  };
  virtual ~CallTransport() = default;
  // `observer` and `request.prompt` outlive the call.
  [[nodiscard]] virtual std::unique_ptr<Call> Start(const CallRequest& request,
                                                    CallObserver& observer) = 0;
};

}  // namespace plimsoll
