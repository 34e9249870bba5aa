#include "gateway/server/chat_stream.h"

#include <algorithm>
#include <utility>

namespace plimsoll {
namespace {

// Waits for tokens no longer than this: the batch may speed up meanwhile.
constexpr Duration kLookAgain = 20ms;

}  // namespace

ChatStream::ChatStream(Scheduler& scheduler, Engine& engine, CopyMetrics& metrics,
                       HttpResponder responder, ChatStreamOptions options,
                       std::function<void()> done)
    : scheduler_(scheduler),
      engine_(engine),
      metrics_(metrics),
      responder_(std::move(responder)),
      options_(std::move(options)),
      done_(std::move(done)) {}

ChatStream::~ChatStream() {
  engine_.Cancel(ticket_);
}

void ChatStream::Submit(const EngineRequest& request) {
  submitted_ = scheduler_.Now();
  ticket_ = engine_.Submit(request, *this);
  responder_.OnHangUp([this] { Leave(); });
  if (options_.stream) {
    responder_.StartStream(
        200, {{"Content-Type", "text/event-stream; charset=utf-8"}, {"Cache-Control", "no-cache"}});
  }
}

void ChatStream::OnFirstToken(MonoTime at, std::uint32_t cached_tokens) {
  cached_tokens_ = cached_tokens;
  first_token_ = last_token_ = at;
  metrics_.ttft.Observe(ToSeconds(at - submitted_));
  if (options_.stream) responder_.Write(RoleEvent(options_.head));
  SendDue();
}

void ChatStream::OnFinished(MonoTime at) {
  ticket_ = 0;
  if (!SendUpTo(options_.output_tokens)) return BreakOff();
  ++(options_.length_limited ? metrics_.length : metrics_.stop);
  metrics_.end_to_end.Observe(ToSeconds(at - submitted_));
  const double further = options_.output_tokens - 1;
  metrics_.per_output_token.Observe(further > 0 ? ToSeconds(at - first_token_) / further : 0);
  Complete();
  Leave();
}

// Writes the tokens that are out by now, and waits for the next.
void ChatStream::SendDue() {
  if (!SendUpTo(engine_.TokensDone(ticket_))) return BreakOff();
  ArmNext();
}

bool ChatStream::ClosesToolCall() const {
  const bool bad = options_.fault && options_.fault->kind == FaultKind::kBadToolCalls;
  return !bad && !options_.tool_call_cut;
}

std::string_view ChatStream::Reason() const {
  if (options_.tool_call && !options_.tool_call_cut) return "tool_calls";
  return options_.length_limited ? "length" : "stop";
}

// False: the fault's token has come.
bool ChatStream::SendUpTo(std::uint32_t tokens) {
  const bool ends_badly = options_.fault && options_.fault->kind != FaultKind::kBadToolCalls;
  const std::uint32_t fault_at =
      ends_badly ? std::min(options_.fault->after_tokens, options_.output_tokens) : UINT32_MAX;
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
    if (!options_.stream) continue;
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

// The fault of this answer: it ends badly here.
void ChatStream::BreakOff() {
  if (options_.fault->kind == FaultKind::kTruncate) {
    if (!options_.stream) {
      responder_.StartStream(200, {{"Content-Type", "application/json"}});
      responder_.Write(R"({"id":"chatcmpl-)");
    }
    responder_.Abort();
  } else if (options_.stream) {
    responder_.Write(ErrorEvent("the engine failed"));
    responder_.End();
  } else {
    responder_.Send(200, {{"Content-Type", "application/json"}},
                    ErrorAnswer("the engine failed", "server_error", ""));
  }
  Leave();
}

void ChatStream::Leave() {
  const auto done = done_;  // The member dies in the call.
  done();
}

void ChatStream::Complete() {
  const AnswerUsage usage{options_.prompt_tokens, options_.output_tokens, cached_tokens_};
  const std::string_view reason = Reason();
  if (!options_.stream) {
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
