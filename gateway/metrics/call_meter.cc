#include "gateway/metrics/call_meter.h"

#include <algorithm>
#include <utility>

namespace plimsoll {
namespace {

std::size_t ClassOf(int status) {
  return static_cast<std::size_t>(std::clamp(status / 100, 0, 5));
}

}  // namespace

CallMeter::CallMeter(GatewayCounts& counts, MonoTime start, MonoTime now)
    : gateway_(&counts), start_(start), arrived_(now) {
  ++gateway_->requests;
  ++gateway_->open;
}

void CallMeter::Forward(EngineCounts* engine, MonoTime now) {
  engine_ = engine;
  forwarded_ = now;
  attempt_open_ = true;
  ++gateway_->forwarded;
  ++gateway_->forwarded_open;
}

void CallMeter::EngineSays(int status, MonoTime now) {
  ++gateway_->forwarded_answers[ClassOf(status)];
  CountHttp(status);
  gateway_->failed.Observe(ToSeconds(now - forwarded_));
  EndAttempt();
}

void CallMeter::EngineIsGone(MonoTime now) {
  ++gateway_->forwarded_answers[ClassOf(503)];
  gateway_->failed.Observe(ToSeconds(now - forwarded_));
  EndAttempt();
}

void CallMeter::Answer(int status, MonoTime now) {
  ++gateway_->answers[ClassOf(status)];
  EndCall(now);
}

void CallMeter::Accepted(bool streams) {
  streams_ = streams;
  // An answer that is not streamed has no head before its end.
  if (!streams) return;
  ++gateway_->answers[2];
  ++gateway_->forwarded_answers[2];
}

void CallMeter::FirstToken(MonoTime now, MonoTime prefill_began, std::uint32_t prompt_tokens,
                           std::uint32_t cached_tokens) {
  prefill_began_ = prefill_began;
  first_token_ = last_token_ = now;
  prompt_tokens_ = prompt_tokens;
  cached_tokens_ = cached_tokens;
  tokens_ = 1;
  const Duration prefill = now - prefill_began;
  engine_->ttft.Observe(ToSeconds(now - forwarded_));
  engine_->queue_started.Observe(ToSeconds(prefill_began - forwarded_));
  engine_->prefill_seconds += ToSeconds(prefill);
  engine_->longest = std::max<std::uint64_t>(engine_->longest, std::uint64_t{prompt_tokens} + 1);
  if (streams_ && open_) gateway_->ttft.Observe(ToSeconds(now - forwarded_));
}

void CallMeter::Tokens(std::uint32_t done, MonoTime now) {
  if (tokens_ == 0 || done <= tokens_) return;
  // What came in one look shares its time evenly.
  const std::uint32_t gaps = done - tokens_;
  engine_->gap.Observe(ToSeconds(now - last_token_) / gaps, gaps);
  tokens_ = done;
  last_token_ = now;
  engine_->longest =
      std::max<std::uint64_t>(engine_->longest, std::uint64_t{prompt_tokens_} + done);
}

void CallMeter::EngineFinished(bool length_limited, MonoTime now) {
  ++(length_limited ? engine_->length : engine_->stop);
  const double decode = ToSeconds(now - first_token_);
  engine_->duration.Observe(ToSeconds(now - forwarded_));
  engine_->per_token.Observe(tokens_ > 1 ? decode / (tokens_ - 1) : 0);
  engine_->queue.Observe(ToSeconds(prefill_began_ - forwarded_));
  engine_->inference.Observe(ToSeconds(now - prefill_began_));
  engine_->prefill.Observe(ToSeconds(first_token_ - prefill_began_));
  engine_->decode.Observe(decode);
  engine_->prompt_length.Observe(prompt_tokens_);
  engine_->output_length.Observe(tokens_);
  engine_->finished_cached += cached_tokens_;
  engine_->predicted += tokens_;
  engine_->predicted_seconds += decode;
}

void CallMeter::EngineAborted(MonoTime now) {
  ++engine_->aborted;
  if (tokens_ == 0) return;
  engine_->predicted += tokens_;
  engine_->predicted_seconds += ToSeconds(now - first_token_);
}

void CallMeter::Delivered(bool usage_known, MonoTime now) {
  if (!open_) return;
  if (!streams_) {
    ++gateway_->answers[2];
    ++gateway_->forwarded_answers[2];
  }
  CountHttp(200);
  gateway_->succeeded.Observe(ToSeconds(now - forwarded_));
  if (usage_known) {
    gateway_->tokens_in.Observe(prompt_tokens_);
    gateway_->tokens_cached.Observe(cached_tokens_);
    gateway_->tokens_created.Observe(0);
    gateway_->tokens_out.Observe(tokens_);
    if (streams_ && tokens_ > 1) {
      gateway_->per_token.Observe(ToSeconds(last_token_ - first_token_) / (tokens_ - 1));
    }
  }
  EndAttempt();
  EndCall(now);
}

void CallMeter::BrokeOff(MonoTime now) {
  if (!open_) return;
  CountHttp(200);
  if (!streams_) {
    ++gateway_->answers[2];
    ++gateway_->forwarded_answers[2];
  }
  ++gateway_->forwarded_broken;
  // To the AI gateway a stream that ended is a success, whatever was in it.
  gateway_->succeeded.Observe(ToSeconds(now - forwarded_));
  EndAttempt();
  EndCall(now);
}

void CallMeter::HungUp(MonoTime now) {
  if (!open_) return;
  ++gateway_->hung_up;
  if (attempt_open_) {
    ++gateway_->forwarded_cancelled;
    if (streams_) CountHttp(200);
  }
  EndAttempt();
  EndCall(now);
}

void CallMeter::EndAttempt() {
  if (std::exchange(attempt_open_, false)) --gateway_->forwarded_open;
}

void CallMeter::EndCall(MonoTime now) {
  if (!std::exchange(open_, false)) return;
  --gateway_->open;
  gateway_->duration_ms.Observe(ToSeconds(now - arrived_) * 1e3, now - start_);
}

void CallMeter::CountHttp(int status) {
  if (engine_ != nullptr) ++engine_->http[ClassOf(status)];
}

}  // namespace plimsoll
