// One answer under way: follows its request through the engine and writes what is due.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "common/base/scheduler.h"
#include "common/http/server/http_server.h"
#include "gateway/engine/engine.h"
#include "gateway/faults/faults.h"
#include "gateway/server/chat_format.h"
#include "gateway/server/engine_metrics.h"

namespace plimsoll {

struct ChatStreamOptions {
  AnswerHead head;
  bool stream = false;
  bool include_usage = false;
  bool length_limited = false;  // finish_reason "length" instead of "stop".
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 1;
  bool tool_call = false;          // The answer is one …
  bool tool_call_cut = false;      // … that its cap ends in the middle …
  bool broken_tool_call = false;   // … or whose arguments end there though it goes on.
  std::optional<FaultRule> fault;  // One of kAnswerFaults.
  bool orphan = false;             // A hang-up does not reach the engine …
  std::function<bool()> stuck;     // … nor does one while waiting, if this says so. Empty: never.
};

class ChatStream final : public EngineObserver {
 public:
  // `done` destroys the stream; it is the last thing called. The others outlive it.
  ChatStream(Scheduler& scheduler, Engine& engine, CopyMetrics& metrics, HttpResponder responder,
             ChatStreamOptions options, std::function<void()> done);
  // Leaves the engine if it is still there.
  ~ChatStream() override;
  ChatStream(const ChatStream&) = delete;
  ChatStream& operator=(const ChatStream&) = delete;

  // Once, after construction.
  void Submit(const EngineRequest& request);

  void OnFirstToken(MonoTime at, std::uint32_t cached_tokens) override;
  void OnFinished(MonoTime at) override;

 private:
  bool ClosesToolCall() const;
  std::string_view Reason() const;
  void SendDue();
  bool SendUpTo(std::uint32_t tokens);
  void ArmNext();
  void OnHungUp();
  void BreakOff();
  void BreakBody();
  void Resume();
  void Complete();
  void Leave();

  Scheduler& scheduler_;
  Engine& engine_;
  CopyMetrics& metrics_;
  HttpResponder responder_;
  const ChatStreamOptions options_;
  const std::function<void()> done_;
  Engine::Ticket ticket_ = 0;
  bool streaming_ = false;   // Events are sent as they come.
  bool stalled_ = false;     // The fault's pause has begun …
  bool stall_over_ = false;  // … and has ended.
  bool hung_up_ = false;     // Unheard by the engine.
  MonoTime submitted_{};
  MonoTime first_token_{};
  MonoTime last_token_{};
  std::uint32_t cached_tokens_ = 0;
  std::uint32_t sent_ = 0;
  Timer next_;
};

}  // namespace plimsoll
