#include "gateway/metrics/engine_display.h"

namespace plimsoll {
namespace {

constexpr Duration kAtOnce = 100ms;
constexpr double kLogSteps = 40;

bool Idle(const EngineGauges& gauges) {
  return gauges.running + gauges.waiting == 0;
}

double Rate(double count, double seconds) {
  return seconds > 0 ? count / seconds : 0;
}

}  // namespace

EngineDisplay::EngineDisplay(const Engine& engine, std::uint32_t copy, MetricKind kind,
                             WallTime started)
    : engine_(engine), copy_(copy), kind_(kind), started_(started), counts_(BoundsOf(kind)) {}

void EngineDisplay::WriteLog(const EngineGauges& live, MonoTime now) {
  const double seconds = ToSeconds(now - log_.at);
  const auto tokens = static_cast<double>(live.generated_tokens) -
                      static_cast<double>(log_.gauges.generated_tokens);
  log_ = {.gauges = live, .at = now, .output_rate = Idle(live) ? 0 : Rate(tokens, seconds)};
}

void EngineDisplay::Stepped(MonoTime now, bool prefill) {
  frozen_.reset();
  if (kind_ != MetricKind::kSglang) return;
  const EngineGauges live = Live();
  if (prefill || Idle(live) || live.steps - log_.gauges.steps >= kLogSteps) WriteLog(live, now);
}

void EngineDisplay::Aborting(MonoTime now, bool frozen) {
  if (!frozen) {
    frozen_.reset();
  } else if (kind_ != MetricKind::kSglang && (!frozen_ || now - frozen_->at > kAtOnce)) {
    frozen_ = Frozen{.gauges = Live(), .at = now};
  }
}

void EngineDisplay::Aborted(MonoTime now, bool frozen) {
  if (frozen || kind_ != MetricKind::kSglang) return;
  const EngineGauges live = Live();
  if (Idle(live)) WriteLog(live, now);
}

void EngineDisplay::Reset(MonoTime now) {
  counts_.Clear();
  base_ = Live();
  read_prefill_s_ = read_decode_s_ = 0;
  read_prompt_ = read_predicted_ = 0;
  if (kind_ == MetricKind::kSglang) WriteLog(base_, now);
}

void EngineDisplay::Restart(MonoTime now, WallTime started) {
  frozen_.reset();
  started_ = started;
  Reset(now);
}

void EngineDisplay::SetStale(bool stale, MonoTime now) {
  if (!stale) {
    stale_.reset();
  } else if (!stale_) {
    stale_ = Show(now);
  }
}

EngineGauges EngineDisplay::SinceReset(EngineGauges gauges) const {
  gauges.prompt_tokens -= base_.prompt_tokens;
  gauges.cached_tokens -= base_.cached_tokens;
  gauges.first_tokens -= base_.first_tokens;
  gauges.generated_tokens -= base_.generated_tokens;
  gauges.finished -= base_.finished;
  gauges.cancelled -= base_.cancelled;
  gauges.preemptions -= base_.preemptions;
  gauges.steps -= base_.steps;
  gauges.busy_steps -= base_.busy_steps;
  return gauges;
}

EngineState EngineDisplay::Show(MonoTime now) {
  if (stale_) return *stale_;
  const EngineGauges live = Live();
  EngineState state{
      .copy = copy_, .started = started_, .counts = counts_, .gauges = SinceReset(live)};
  if (kind_ == MetricKind::kSglang) {
    if (live.steps - log_.gauges.steps >= kLogSteps) WriteLog(live, now);
    state.gauges = SinceReset(log_.gauges);
    state.output_rate = log_.output_rate;
    return state;
  }
  if (frozen_ && Idle(live)) {
    state.gauges.running = frozen_->gauges.running;
    state.gauges.waiting = frozen_->gauges.waiting;
    state.gauges.kv_usage = frozen_->gauges.kv_usage;
  }
  if (kind_ == MetricKind::kLlamaCpp) {
    const std::uint64_t prompt = state.gauges.prompt_tokens - state.gauges.cached_tokens;
    state.prompt_rate =
        Rate(static_cast<double>(prompt - read_prompt_), counts_.prefill_seconds - read_prefill_s_);
    state.output_rate = Rate(static_cast<double>(counts_.predicted - read_predicted_),
                             counts_.predicted_seconds - read_decode_s_);
    read_prompt_ = prompt;
    read_prefill_s_ = counts_.prefill_seconds;
    read_predicted_ = counts_.predicted;
    read_decode_s_ = counts_.predicted_seconds;
  }
  return state;
}

}  // namespace plimsoll
