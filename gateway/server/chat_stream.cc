#include "gateway/server/chat_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

// Waits for tokens no longer than this: the batch may speed up meanwhile.
constexpr Duration kLookAgain = 20ms;
constexpr std::size_t kGarbageBytes = 2'000;

constexpr std::string_view kGarbagePage =
    "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>"
    "<body><h1>502 Bad Gateway</h1></body></html>\n";

// Garbage that says of itself that it is no event stream.
bool WantsAnotherType(const std::optional<FaultRule>& fault) {
  return fault && fault->kind == FaultKind::kGarbage &&
         (fault->form == FaultForm::kJson || fault->form == FaultForm::kPage);
}

// Any bytes, the same for the same answer.
std::string GarbageBytes(std::string_view id) {
  Rng rng(HashBytes(id));
  std::string bytes;
  for (std::size_t i = 0; i < kGarbageBytes; ++i) bytes += static_cast<char>(rng.Next() & 0xff);
  return bytes;
}

}  // namespace

ChatStream::ChatStream(Scheduler& scheduler, Engine& engine, std::uint32_t copy,
                       EngineDisplay& display, CallMeter meter, HttpResponder responder,
                       ChatStreamOptions options, std::function<void()> done)
    : scheduler_(scheduler),
      engine_(engine),
      copy_(copy),
      display_(display),
      meter_(meter),
      responder_(std::move(responder)),
      options_(std::move(options)),
      done_(std::move(done)),
      streaming_(options_.stream && !WantsAnotherType(options_.fault)) {}

ChatStream::~ChatStream() {
  if (ticket_ == 0) return;
  Sync();
  const MonoTime now = scheduler_.Now();
  const bool frozen = Frozen();
  display_.Aborting(now, frozen);
  engine_.Cancel(ticket_);
  meter_.EngineAborted(now);
  display_.Aborted(now, frozen);
}

void ChatStream::Submit(const EngineRequest& request) {
  ticket_ = engine_.Submit(request, *this);
  // Where nothing else is being prefilled it begins at once.
  display_.Stepped(scheduler_.Now(), engine_.StartedAt(ticket_) != MonoTime::max());
  meter_.Accepted(streaming_);
  responder_.OnHangUp([this] { OnHungUp(); });
  if (streaming_) {
    responder_.StartStream(
        200, {{"Content-Type", "text/event-stream; charset=utf-8"}, {"Cache-Control", "no-cache"}});
  }
}

void ChatStream::Sync() {
  if (ticket_ != 0) meter_.Tokens(engine_.TokensDone(ticket_), scheduler_.Now());
}

void ChatStream::Fail() {
  meter_.BrokeOff(scheduler_.Now());
  responder_.Abort();
  Leave();
}

// Work that nobody waits for goes on only where the hang-up does not reach the engine.
void ChatStream::OnHungUp() {
  meter_.HungUp(scheduler_.Now());
  hung_up_ =
      ticket_ != 0 && (options_.orphan || (!answered_ && options_.stuck && options_.stuck()));
  if (!hung_up_) Leave();
}

void ChatStream::OnFirstToken(MonoTime at, std::uint32_t cached_tokens) {
  answered_ = true;
  cached_tokens_ = cached_tokens;
  meter_.FirstToken(at, engine_.StartedAt(ticket_), options_.prompt_tokens, cached_tokens);
  display_.Stepped(at, true);
  if (streaming_) responder_.Write(RoleEvent(options_.head));
  SendDue();
}

void ChatStream::OnFinished(MonoTime at) {
  ticket_ = 0;
  meter_.Tokens(options_.output_tokens, at);
  meter_.EngineFinished(options_.length_limited, at);
  display_.Stepped(at, false);
  const bool whole = SendUpTo(options_.output_tokens);
  // After a stall the rest is still to come.
  if (!whole && !hung_up_) return BreakOff();
  Complete();
  Leave();
}

// Writes the tokens that are out by now, and waits for the next.
void ChatStream::SendDue() {
  Sync();
  if (!SendUpTo(engine_.TokensDone(ticket_))) return BreakOff();
  ArmNext();
}

std::uint32_t ChatStream::LeadTokens() const {
  if (!options_.script) return options_.output_tokens;
  const auto pieces = static_cast<std::uint32_t>(options_.script->size());
  return options_.output_tokens > pieces ? options_.output_tokens - pieces : 0;
}

std::string ChatStream::TokenAt(std::uint32_t index, MonoTime now) const {
  const std::uint32_t lead = LeadTokens();
  if (index < lead) return TokenEvent(options_.head, index, now);
  return DeltaEvent(options_.head, options_.script->Delta(index - lead), now);
}

std::string_view ChatStream::Reason() const {
  const bool cut = options_.script && options_.script->size() > options_.output_tokens;
  if (options_.script && options_.script->says_calls() && !cut) return "tool_calls";
  return options_.length_limited || cut ? "length" : "stop";
}

// False: the fault's token has come.
bool ChatStream::SendUpTo(std::uint32_t tokens) {
  const std::uint32_t fault_at =
      options_.fault && !stall_over_
          ? std::min(options_.fault->after_tokens, options_.output_tokens)
          : UINT32_MAX;
  const std::uint32_t until = std::min(tokens, fault_at);
  for (; sent_ < until; ++sent_) {
    if (streaming_) responder_.Write(TokenAt(sent_, scheduler_.Now()));
  }
  return tokens < fault_at;
}

void ChatStream::ArmNext() {
  if (sent_ >= options_.output_tokens) return;  // OnFinished is due.
  const MonoTime now = scheduler_.Now();
  const MonoTime due = engine_.NextTokenAt(ticket_);
  next_ = scheduler_.At(std::min(due, now + kLookAgain), [this] { SendDue(); });
}

// The answer's fault strikes here: it stalls, or ends badly.
void ChatStream::BreakOff() {
  if (options_.fault->kind != FaultKind::kStall) {
    BreakBody();
    meter_.BrokeOff(scheduler_.Now());
    return Leave();
  }
  if (std::exchange(stalled_, true)) return;
  const Duration pause = options_.fault->pause;
  if (pause != Duration::max()) next_ = scheduler_.After(pause, [this] { Resume(); });
}

// After a stall: what has come meanwhile goes out at once.
void ChatStream::Resume() {
  stall_over_ = true;
  if (ticket_ != 0) return SendDue();
  SendUpTo(options_.output_tokens);
  Complete();
  Leave();
}

void ChatStream::BreakBody() {
  constexpr std::string_view kBroken = R"({"id":"chatcmpl-)";
  const FaultRule& fault = *options_.fault;
  if (fault.kind == FaultKind::kErrorAfter200 && !streaming_) {
    return responder_.Send(200, {{"Content-Type", "application/json"}},
                           ErrorAnswer("the engine failed", "server_error", ""));
  }
  if (fault.form == FaultForm::kPage) {
    return responder_.Send(200, {{"Content-Type", "text/html"}}, kGarbagePage);
  }
  if (!streaming_) {
    responder_.StartStream(200, {{"Content-Type", "application/json"}});
    responder_.Write(kBroken);
  }
  if (fault.kind == FaultKind::kTruncate) {
    if (fault.form == FaultForm::kReset) return responder_.Reset();
    return fault.form == FaultForm::kEnd ? responder_.End() : responder_.Abort();
  }
  if (fault.kind == FaultKind::kErrorAfter200) {
    const bool typed = fault.form == FaultForm::kEvent;
    responder_.Write((typed ? TypedErrorEvent : ErrorEvent)("the engine failed"));
  } else if (fault.form == FaultForm::kBytes) {
    responder_.Write(GarbageBytes(options_.head.id));
  } else if (streaming_) {
    responder_.Write(fmt::format("data: {}\n\n", kBroken));
  }
  responder_.End();
}

void ChatStream::Leave() {
  const auto done = done_;  // The member dies in the call.
  done();
}

void ChatStream::Complete() {
  if (hung_up_) return;
  const AnswerUsage usage{options_.prompt_tokens, options_.output_tokens, cached_tokens_};
  const std::string_view reason = Reason();
  meter_.Delivered(!streaming_ || options_.include_usage, scheduler_.Now());
  if (!streaming_) {
    const std::uint32_t lead = LeadTokens();
    const std::string words = TokensText(lead);
    const std::string message = options_.script
                                    ? options_.script->Message(options_.output_tokens - lead, words)
                                    : AnswerScript({.content = words}, 1).Message(1, "");
    responder_.Send(200, {{"Content-Type", "application/json"}},
                    WholeAnswer(options_.head, usage, message, reason));
    return;
  }
  responder_.Write(FinishEvent(options_.head, reason));
  if (options_.include_usage) responder_.Write(UsageEvent(options_.head, usage));
  responder_.Write(kDoneEvent);
  responder_.End();
}

}  // namespace plimsoll
