// The engine model under load in virtual time, with everything counted twice: by the meters that
// the gateway's pages are made from, and here, as plain lists of what was observed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/base/rng.h"
#include "gateway/engine/engine.h"
#include "gateway/metrics/call_meter.h"
#include "gateway/metrics/engine_display.h"
#include "gateway/metrics/gateway_counts.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {

// What was seen of the calls of one copy, in seconds and tokens.
struct SeenOfCopy {
  std::vector<double> ttft, gaps, per_token, durations, queued, prefills, decodes;
  std::uint64_t prompt = 0, cached = 0;  // Of those with a first token.
  std::uint64_t finished_prompt = 0, finished_cached = 0, finished_output = 0;
  std::uint64_t ended_output = 0;  // Of those that were aborted under way too.
  double ended_decode = 0;
  std::uint64_t stop = 0, length = 0, aborted = 0, refused = 0;
};

class MeteredEngine {
 public:
  static constexpr WallTime kStarted = WallTime() + 1'700'000'000s;

  MeteredEngine(MetricKind kind, std::uint32_t copies, std::uint64_t seed)
      : engine_(scheduler_, Config(copies), {.path = seed, .calls = seed}), rng_(seed) {
    for (std::uint32_t i = 0; i < copies; ++i) {
      displays_.push_back(std::make_unique<EngineDisplay>(
          engine_, i, IsEngine(kind) ? kind : MetricKind::kVllm, kStarted));
    }
    seen_.resize(copies);
  }

  static EngineConfig Config(std::uint32_t copies) {
    EngineConfig config;
    config.copies = copies;
    config.running_max = 6;
    config.prefill_tokens_per_s = 4'000;
    return config;
  }

  // `count` calls, some aborted before their first token or in the middle, some refused by an
  // engine and tried again, some refused by the gateway. Runs until the last has been sent.
  void Load(int count) {
    for (int i = 0; i < count; ++i) {
      Send();
      RunFor(FromSeconds(0.3 * rng_.Uniform()));
    }
  }
  void RunFor(Duration time) {
    for (const MonoTime end = Now() + time; Now() < end;) {
      scheduler_.RunUntil(std::min(end, Now() + 20ms));
      Sync();
    }
  }
  // The engine goes on, and nobody looks.
  void RunBlind(Duration time) { scheduler_.RunUntil(Now() + time); }
  void Drain() {
    while (engine_.gauges().running + engine_.gauges().waiting > 0) RunFor(1s);
  }
  // Every call under way is aborted, in one instant.
  void AbortAll(bool frozen) {
    for (const auto& call : calls_) call->Abort(frozen);
  }
  void Sync() {
    for (const auto& call : calls_) call->Sync();
  }

  // One call, of that copy.
  void SendTo(std::uint32_t copy, std::uint32_t prompt, std::uint32_t output) {
    CallMeter meter(counts_, MonoTime{}, Now());
    ++requests;
    Begin(copy, meter, prompt, output, /*abort_after=*/0);
  }

  // `looked`: as a server that has just looked at what its engine did; false: between two looks.
  std::vector<EngineState> Show(bool looked = true) {
    if (looked) Sync();
    std::vector<EngineState> states;
    for (const auto& display : displays_) states.push_back(display->Show(Now()));
    return states;
  }
  EngineDisplay& display(std::uint32_t copy) { return *displays_[copy]; }
  GatewayCounts& counts() { return counts_; }
  const SeenOfCopy& seen(std::uint32_t copy) const { return seen_[copy]; }
  EngineGauges gauges(std::uint32_t copy) const { return engine_.CopyGauges(copy); }
  Duration up() const { return Now() - MonoTime{}; }
  MonoTime Now() const { return scheduler_.Now(); }

  // The gateway's side.
  struct Ended {
    double seconds;
    Duration at;
  };
  std::vector<Ended> ended;
  std::vector<double> gateway_ttft, gateway_per_token, succeeded, failed;
  std::uint64_t requests = 0, refused = 0, retried = 0, hung_up = 0, accepted = 0,
                engine_refused = 0;
  std::uint64_t tokens_in = 0, tokens_cached = 0, tokens_out = 0;

 private:
  class Call final : public EngineObserver {
   public:
    Call(MeteredEngine& of, std::uint32_t copy, CallMeter meter, std::uint32_t prompt,
         std::uint32_t output)
        : of_(of), copy_(copy), meter_(meter), prompt_(prompt), output_(output), sent_(of.Now()) {}

    void Start(std::uint64_t key, std::uint32_t abort_after) {
      abort_after_ = abort_after;
      const BlockSpan span{key % 7, 0, prompt_ / 64 + 1};  // Some share their prefixes.
      ticket_ = of_.engine_.Submit({.blocks = {&span, 1},
                                    .prompt_tokens = prompt_,
                                    .output_tokens = output_,
                                    .session_key = key,
                                    .copy = copy_,
                                    .call_key = key},
                                   *this);
      Display().Stepped(of_.Now(), of_.engine_.StartedAt(ticket_) != MonoTime::max());
      meter_.Accepted(true);
    }
    void Sync() {
      if (ticket_ == 0) return;
      const std::uint32_t done = of_.engine_.TokensDone(ticket_);
      meter_.Tokens(done, of_.Now());
      See(done);
      if (abort_after_ > 0 && of_.Now() - sent_ > abort_after_ * 100ms) Abort(false);
    }
    void Abort(bool frozen) {
      if (ticket_ == 0) return;
      const MonoTime now = of_.Now();
      meter_.HungUp(now);
      ++of_.hung_up;
      of_.ended.push_back({ToSeconds(now - sent_), of_.up()});
      meter_.Tokens(of_.engine_.TokensDone(ticket_), now);
      See(of_.engine_.TokensDone(ticket_));
      Display().Aborting(now, frozen);
      of_.engine_.Cancel(std::exchange(ticket_, 0));
      meter_.EngineAborted(now);
      Display().Aborted(now, frozen);
      ++Seen().aborted;
      Seen().ended_output += tokens_;
      if (tokens_ > 0) Seen().ended_decode += ToSeconds(now - first_);
    }
    void OnFirstToken(MonoTime at, std::uint32_t cached) override {
      began_ = of_.engine_.StartedAt(ticket_);
      first_ = last_ = at;
      tokens_ = 1;
      cached_ = cached;
      meter_.FirstToken(at, began_, prompt_, cached);
      Display().Stepped(at, true);
      Seen().ttft.push_back(ToSeconds(at - sent_));
      of_.gateway_ttft.push_back(ToSeconds(at - sent_));
      Seen().queued.push_back(ToSeconds(began_ - sent_));
      Seen().prefills.push_back(ToSeconds(at - began_));
      Seen().prompt += prompt_;
      Seen().cached += cached;
    }
    void OnFinished(MonoTime at) override {
      ticket_ = 0;
      meter_.Tokens(output_, at);
      See(output_);
      const bool length = output_ % 2 == 0;
      meter_.EngineFinished(length, at);
      Display().Stepped(at, false);
      meter_.Delivered(true, at);
      ++(length ? Seen().length : Seen().stop);
      const double decode = ToSeconds(at - first_);
      const double each = output_ > 1 ? decode / (output_ - 1) : 0;
      Seen().per_token.push_back(each);
      if (output_ > 1) of_.gateway_per_token.push_back(each);
      Seen().durations.push_back(ToSeconds(at - sent_));
      of_.succeeded.push_back(ToSeconds(at - sent_));
      Seen().decodes.push_back(decode);
      Seen().finished_prompt += prompt_;
      Seen().finished_cached += cached_;
      Seen().finished_output += output_;
      Seen().ended_output += output_;
      Seen().ended_decode += decode;
      of_.tokens_in += prompt_;
      of_.tokens_cached += cached_;
      of_.tokens_out += output_;
      of_.ended.push_back({ToSeconds(at - sent_), of_.up()});
    }

   private:
    void See(std::uint32_t done) {
      if (tokens_ == 0 || done <= tokens_) return;
      const double each = ToSeconds(of_.Now() - last_) / (done - tokens_);
      Seen().gaps.insert(Seen().gaps.end(), done - tokens_, each);
      tokens_ = done;
      last_ = of_.Now();
    }
    EngineDisplay& Display() { return *of_.displays_[copy_]; }
    SeenOfCopy& Seen() { return of_.seen_[copy_]; }

    MeteredEngine& of_;
    const std::uint32_t copy_;
    CallMeter meter_;
    const std::uint32_t prompt_;
    const std::uint32_t output_;
    const MonoTime sent_;
    MonoTime began_{}, first_{}, last_{};
    Engine::Ticket ticket_ = 0;
    std::uint32_t cached_ = 0, tokens_ = 0, abort_after_ = 0;
  };

  void Send() {
    CallMeter meter(counts_, MonoTime{}, Now());
    ++requests;
    if (rng_.Chance(0.1)) {
      ++refused;
      meter.Answer(429, Now());
      ended.push_back({0, up()});
      return;
    }
    auto copy = static_cast<std::uint32_t>(rng_.Next() % displays_.size());
    if (rng_.Chance(0.1)) {
      meter.Forward(&displays_[copy]->counts(), Now());
      meter.EngineSays(503, Now());
      ++seen_[copy].refused;
      ++engine_refused;
      failed.push_back(0);
      if (rng_.Chance(0.5)) {
        meter.Answer(503, Now());
        ended.push_back({0, up()});
        return;
      }
      meter.Retry();
      ++retried;
      copy = (copy + 1) % static_cast<std::uint32_t>(displays_.size());
    }
    const auto abort = static_cast<std::uint32_t>(rng_.Chance(0.15) ? 1 + rng_.Next() % 30 : 0);
    Begin(copy, meter, static_cast<std::uint32_t>(50 + rng_.Next() % 3'000),
          static_cast<std::uint32_t>(1 + rng_.Next() % 40), abort);
  }
  void Begin(std::uint32_t copy, CallMeter meter, std::uint32_t prompt, std::uint32_t output,
             std::uint32_t abort_after) {
    meter.Forward(&displays_[copy]->counts(), Now());
    ++accepted;
    calls_.push_back(std::make_unique<Call>(*this, copy, meter, prompt, output));
    calls_.back()->Start(++keys_, abort_after);
  }

  SimScheduler scheduler_;
  Engine engine_;
  Rng rng_;
  GatewayCounts counts_{5s};
  std::vector<std::unique_ptr<EngineDisplay>> displays_;
  std::vector<SeenOfCopy> seen_;
  std::vector<std::unique_ptr<Call>> calls_;
  std::uint64_t keys_ = 0;
};

}  // namespace plimsoll
