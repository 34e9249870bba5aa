// One answer under way: follows its request through the engine and writes what is due.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/scheduler.h"
#include "common/http/server/http_server.h"
#include "gateway/answers/answer_script.h"
#include "gateway/engine/engine.h"
#include "gateway/faults/faults.h"
#include "gateway/metrics/call_meter.h"
#include "gateway/metrics/engine_display.h"
#include "gateway/server/chat_format.h"

namespace plimsoll {

struct ChatStreamOptions {
  AnswerHead head;
  bool stream = false;
  bool include_usage = false;
  bool length_limited = false;  // finish_reason "length" instead of "stop".
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 1;
  // What the answer says, or calls; absent: words. Where it has fewer pieces than tokens are due,
  // words come first; where it has more, its cap ends it in the middle.
  std::optional<AnswerScript> script;
  std::optional<FaultRule> fault;  // One of kAnswerFaults.
  bool orphan = false;             // A hang-up does not reach the engine …
  std::function<bool()> stuck;     // … nor does one while waiting, if this says so. Empty: never.
  std::function<bool()> frozen;    // The engine's gauges hear of no abort. Empty: they do.
};

class ChatStream final : public EngineObserver {
 public:
  // `copy` is the one that it will run on, `display` what is shown of that. `done` destroys the
  // stream; it is the last thing called. The others outlive it.
  ChatStream(Scheduler& scheduler, Engine& engine, std::uint32_t copy, EngineDisplay& display,
             CallMeter meter, HttpResponder responder, ChatStreamOptions options,
             std::function<void()> done);
  // Leaves the engine if it is still there.
  ~ChatStream() override;
  ChatStream(const ChatStream&) = delete;
  ChatStream& operator=(const ChatStream&) = delete;

  // Once, after construction; the request's copy is the stream's.
  void Submit(const EngineRequest& request);
  std::uint32_t copy() const { return copy_; }
  // Counts the tokens that the engine has made by now.
  void Sync();
  // The copy is gone: the answer breaks off. Calls `done`.
  void Fail();

  void OnFirstToken(MonoTime at, std::uint32_t cached_tokens) override;
  void OnFinished(MonoTime at) override;

 private:
  std::string_view Reason() const;
  // Words that come before the script's pieces.
  std::uint32_t LeadTokens() const;
  std::string TokenAt(std::uint32_t index, MonoTime now) const;
  bool Frozen() const { return options_.frozen && options_.frozen(); }
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
  const std::uint32_t copy_;
  EngineDisplay& display_;
  CallMeter meter_;
  HttpResponder responder_;
  const ChatStreamOptions options_;
  const std::function<void()> done_;
  Engine::Ticket ticket_ = 0;
  bool streaming_ = false;   // Events are sent as they come.
  bool stalled_ = false;     // The fault's pause has begun …
  bool stall_over_ = false;  // … and has ended.
  bool hung_up_ = false;     // Unheard by the engine.
  bool answered_ = false;    // The first token has come.
  std::uint32_t cached_tokens_ = 0;
  std::uint32_t sent_ = 0;
  Timer next_;
};

}  // namespace plimsoll
