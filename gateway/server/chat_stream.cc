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

ChatStream::ChatStream(Scheduler& scheduler, Engine& engine, CopyMetrics& metrics,
                       HttpResponder responder, ChatStreamOptions options,
                       std::function<void()> done)
    : scheduler_(scheduler),
      engine_(engine),
      metrics_(metrics),
      responder_(std::move(responder)),
      options_(std::move(options)),
      done_(std::move(done)),
      streaming_(options_.stream && !WantsAnotherType(options_.fault)) {}

ChatStream::~ChatStream() {
  engine_.Cancel(ticket_);
}

void ChatStream::Submit(const EngineRequest& request) {
  submitted_ = scheduler_.Now();
  ticket_ = engine_.Submit(request, *this);
  responder_.OnHangUp([this] { OnHungUp(); });
  if (streaming_) {
    responder_.StartStream(
        200, {{"Content-Type", "text/event-stream; charset=utf-8"}, {"Cache-Control", "no-cache"}});
  }
}

// Work that nobody waits for goes on only where the hang-up does not reach the engine.
void ChatStream::OnHungUp() {
  const bool waits = first_token_ == MonoTime{};
  hung_up_ = ticket_ != 0 && (options_.orphan || (waits && options_.stuck && options_.stuck()));
  if (!hung_up_) Leave();
}

void ChatStream::OnFirstToken(MonoTime at, std::uint32_t cached_tokens) {
  cached_tokens_ = cached_tokens;
  first_token_ = last_token_ = at;
  metrics_.ttft.Observe(ToSeconds(at - submitted_));
  if (streaming_) responder_.Write(RoleEvent(options_.head));
  SendDue();
}

void ChatStream::OnFinished(MonoTime at) {
  ticket_ = 0;
  const bool whole = SendUpTo(options_.output_tokens);
  const bool stalls = options_.fault && options_.fault->kind == FaultKind::kStall;
  if (!whole && !stalls) return BreakOff();
  ++(options_.length_limited ? metrics_.length : metrics_.stop);
  metrics_.end_to_end.Observe(ToSeconds(at - submitted_));
  const double further = options_.output_tokens - 1;
  metrics_.per_output_token.Observe(further > 0 ? ToSeconds(at - first_token_) / further : 0);
  if (!whole && !hung_up_) return BreakOff();  // The rest comes after the stall.
  Complete();
  Leave();
}

// Writes the tokens that are out by now, and waits for the next.
void ChatStream::SendDue() {
  if (!SendUpTo(engine_.TokensDone(ticket_))) return BreakOff();
  ArmNext();
}

bool ChatStream::ClosesToolCall() const {
  return !options_.broken_tool_call && !options_.tool_call_cut;
}

std::string_view ChatStream::Reason() const {
  if (options_.tool_call && !options_.tool_call_cut) return "tool_calls";
  return options_.length_limited ? "length" : "stop";
}

// False: the fault's token has come.
bool ChatStream::SendUpTo(std::uint32_t tokens) {
  const std::uint32_t fault_at =
      options_.fault && !stall_over_
          ? std::min(options_.fault->after_tokens, options_.output_tokens)
          : UINT32_MAX;
  const std::uint32_t until = std::min(tokens, fault_at);
  const std::uint32_t news = until > sent_ ? until - sent_ : 0;
  if (news > 0) {
    const MonoTime now = scheduler_.Now();
    // The first token's latency is TTFT; what comes in one look shares its time evenly.
    const std::uint32_t gaps = news - (sent_ == 0 ? 1 : 0);
    if (gaps > 0) metrics_.inter_token.Observe(ToSeconds(now - last_token_) / gaps, gaps);
    last_token_ = now;
  }
  for (; sent_ < until; ++sent_) {
    if (!streaming_) continue;
    const MonoTime now = scheduler_.Now();
    responder_.Write(
        options_.tool_call
            ? ToolCallEvent(options_.head, sent_, options_.output_tokens, ClosesToolCall(), now)
            : TokenEvent(options_.head, sent_, now));
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
  const AnswerUsage usage{options_.prompt_tokens, options_.output_tokens, cached_tokens_};
  const std::string_view reason = Reason();
  if (!streaming_) {
    responder_.Send(200, {{"Content-Type", "application/json"}},
                    options_.tool_call
                        ? WholeToolCall(options_.head, usage, ClosesToolCall(), reason)
                        : WholeAnswer(options_.head, usage, reason));
    return;
  }
  responder_.Write(FinishEvent(options_.head, reason));
  if (options_.include_usage) responder_.Write(UsageEvent(options_.head, usage));
  responder_.Write(kDoneEvent);
  responder_.End();
}

}  // namespace plimsoll
