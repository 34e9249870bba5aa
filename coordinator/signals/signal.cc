#include "coordinator/signals/signal.h"

#include <array>

#include "common/base/check.h"

namespace plimsoll {
namespace {

using enum Signal;
using enum SignalUnit;
constexpr SignalKind kH = SignalKind::kHistogram;
constexpr SignalKind kG = SignalKind::kGauge;
constexpr SignalKind kC = SignalKind::kCounter;

constexpr std::array kSignals = std::to_array<SignalTraits>({
    {kTtft, "ttft", "TTFT", kH, kSeconds,
     "from a request's arrival at this server to its first token, its queue included"},
    {kTimePerToken, "time_per_token", "time per token (per request)", kH, kSeconds,
     "one mean a finished request: decode time divided by the tokens after the first"},
    {kTokenGap, "token_gap", "time per token (per gap)", kH, kSeconds,
     "one observation a gap: long answers weigh more, so its P90 is not the P90 user's"},
    {kDuration, "duration", "request duration", kH, kSeconds, "of requests that are over"},
    {kRunning, "running", "running", kG, kRequestCount, "requests that the engine works on"},
    {kWaiting, "waiting", "waiting", kG, kRequestCount, "requests in the engine's queues"},
    {kKvFill, "kv_fill", "KV cache fill", kG, kShare, "of the fullest rank of the fullest server"},
    {kOpenRequests, "open_requests", "callers' open requests", kG, kRequestCount,
     "requests that callers still wait for"},
    {kForwardedOpen, "forwarded_open", "open requests to engines", kG, kRequestCount,
     "requests that the gateway has open to an engine"},
    {kForwardedWaiting, "forwarded_waiting", "requests waiting for an engine", kG, kRequestCount,
     "requests that wait in the gateway for a connection"},
    {kAwake, "awake", "engine awake", kG, kCount, "1, or 0 where the engine was put to sleep"},
    {kMeanRunning, "mean_running", "mean running", kG, kRequestCount,
     "requests decoded together, mean over the time between two pages"},
    {kRequests, "requests", "requests", kC, kRequestCount, "that reached this server"},
    {kAccepted, "accepted", "accepted", kC, kRequestCount,
     "answered with a success status, whether or not the answer broke off later"},
    {kErrors, "errors", "errors", kC, kRequestCount, "answered with an error, refusals included"},
    {kRefused, "refused", "refusals", kC, kRequestCount, "turned away for want of room"},
    {kFinished, "finished", "finished", kC, kRequestCount, "answered to the end"},
    {kCancelled, "cancelled", "cancellations", kC, kRequestCount, "whose caller went away"},
    {kPreempted, "preempted", "preemptions", kC, kCount,
     "put back into the queue for want of cache"},
    {kTokensIn, "tokens_in", "tokens in", kC, kTokenCount, "of prompts, the cached part included"},
    {kTokensCached, "tokens_cached", "tokens cached", kC, kTokenCount,
     "of prompts, found in the cache"},
    {kTokensComputed, "tokens_computed", "tokens computed", kC, kTokenCount,
     "of prompts, without the cached part"},
    {kTokensOut, "tokens_out", "tokens out", kC, kTokenCount, "of answers"},
    {kTokensDecoded, "tokens_decoded", "tokens decoded", kC, kTokenCount,
     "of answers as they are made; may leave each request's first one out"},
    {kPrefixQueries, "prefix_queries", "prefix-cache queries", kC, kTokenCount,
     "tokens looked up in the prefix cache"},
    {kPrefixHits, "prefix_hits", "prefix-cache hits", kC, kTokenCount, "tokens found there"},
    {kPrefillSeconds, "prefill_seconds", "prefill time", kC, kSeconds, "summed over requests"},
    {kDecodeSeconds, "decode_seconds", "decode time", kC, kSeconds, "summed over requests"},
    {kEngineSteps, "engine_steps", "engine steps", kC, kCount, "batches that the engine ran"},
    {kForwarded, "forwarded", "sent on to engines", kC, kRequestCount, "each retry anew"},
    {kForwardedAccepted, "forwarded_accepted", "accepted by engines", kC, kRequestCount,
     "answered by an engine with a success status"},
    {kForwardedErrors, "forwarded_errors", "errors of engines", kC, kRequestCount,
     "answered by an engine with an error"},
    {kForwardedCancelled, "forwarded_cancelled", "cancelled to engines", kC, kRequestCount,
     "that the gateway hung up towards an engine"},
    {kRetried, "retried", "retries", kC, kRequestCount, "that the gateway sent again by itself"},
});

}  // namespace

std::span<const SignalTraits> AllSignals() {
  return kSignals;
}

const SignalTraits& TraitsOf(Signal signal) {
  for (const SignalTraits& traits : kSignals) {
    if (traits.signal == signal) return traits;
  }
  CheckFailed(__FILE__, __LINE__, "a signal of ours");
}

std::optional<Signal> SignalOf(std::string_view key) {
  for (const SignalTraits& traits : kSignals) {
    if (traits.key == key) return traits.signal;
  }
  return std::nullopt;
}

std::string_view KindName(SignalKind kind) {
  switch (kind) {
    case SignalKind::kHistogram:
      return "histogram";
    case SignalKind::kGauge:
      return "gauge";
    case SignalKind::kCounter:
      return "counter";
  }
  return "";
}

}  // namespace plimsoll
