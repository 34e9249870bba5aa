// Follows one request through the gateway and an engine, and counts each of its moments where a
// real server counts it. Pure: instants are arguments.
//
// The gateway's side and the engine's end apart: a caller who hangs up is gone for the gateway at
// once, whether or not the engine hears of it.
#pragma once

#include <cstdint>

#include "common/base/time.h"
#include "gateway/metrics/engine_counts.h"
#include "gateway/metrics/gateway_counts.h"

namespace plimsoll {

class CallMeter {
 public:
  // A request arrives. `counts` outlives the meter; `start` is when they began.
  CallMeter(GatewayCounts& counts, MonoTime start, MonoTime now);

  // An attempt is sent on to an engine, whose counts outlive the meter; null: to none that counts.
  void Forward(EngineCounts* engine, MonoTime now);
  // The engine answers the attempt with this status and no stream of tokens: a refusal, an error.
  void EngineSays(int status, MonoTime now);
  // No engine was there to answer it.
  void EngineIsGone(MonoTime now);
  void Retry() { ++gateway_->retries; }
  // The caller is answered with this status, and that is all.
  void Answer(int status, MonoTime now);

  // The engine took the attempt: 200 goes out. Afterwards, in this order, as they come:
  void Accepted(bool streams);
  void FirstToken(MonoTime now, MonoTime prefill_began, std::uint32_t prompt_tokens,
                  std::uint32_t cached_tokens);
  // So many tokens are out by now, the first one included. Any number of times.
  void Tokens(std::uint32_t done, MonoTime now);
  // The engine made the last one, Tokens() said so.
  void EngineFinished(bool length_limited, MonoTime now);
  // The engine was told that nobody wants the rest.
  void EngineAborted(MonoTime now);
  // How the call ended, once; what comes after the first of these counts nothing.
  // The answer went out whole; `usage_known`: with its usage.
  void Delivered(bool usage_known, MonoTime now);
  // It broke off: this side of it ended the stream.
  void BrokeOff(MonoTime now);
  // The caller went away before its end.
  void HungUp(MonoTime now);

 private:
  void EndAttempt();
  void EndCall(MonoTime now);
  void CountHttp(int status);

  GatewayCounts* gateway_;
  EngineCounts* engine_ = nullptr;
  MonoTime start_;
  MonoTime arrived_;
  MonoTime forwarded_{};
  MonoTime prefill_began_{};
  MonoTime first_token_{};
  MonoTime last_token_{};
  std::uint32_t prompt_tokens_ = 0;
  std::uint32_t cached_tokens_ = 0;
  std::uint32_t tokens_ = 0;
  bool attempt_open_ = false;
  bool open_ = true;
  bool streams_ = false;
};

}  // namespace plimsoll
