// The common signals: what a server can say of itself, under one name whatever server it is. Pure.
//
// A mapping (mapping.h) says under which name a kind of server has each. What a signal is, and what
// it must not be mistaken for, stands in one table (signal.cc). A further one is a row there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace plimsoll {

// Kept with runs: never renumber.
enum class Signal : std::uint8_t {
  // Histograms of times, in seconds.
  kTtft = 1,
  kTimePerToken = 2,  // One observation a request: what a bar on interactivity means.
  kTokenGap = 3,      // One observation a gap between tokens; its P90 is not the P90 user's.
  kDuration = 4,      // Of whole requests.
  // Gauges.
  kRunning = 10,
  kWaiting = 11,
  kKvFill = 12,         // Share 0…1 of the cache that requests hold.
  kOpenRequests = 13,   // That callers still wait for, as the one in front of the engines sees it.
  kForwardedOpen = 14,  // Likewise, sent on to an engine.
  kForwardedWaiting = 15,
  kAwake = 16,        // 1, or 0: the engine sleeps, and nothing it says is worth judging.
  kMeanRunning = 17,  // Mean of the requests decoded together, over the time between two pages.
  // Counters.
  kRequests = 30,   // That reached this server.
  kAccepted = 31,   // Answered with a success status, whether or not the answer broke off later.
  kErrors = 32,     // Answered with an error status, refusals included.
  kRefused = 33,    // Turned away for want of room: 429, 503, an overflowing queue.
  kFinished = 34,   // Answered to the end.
  kCancelled = 35,  // The caller went away.
  kPreempted = 36,  // Put back into the queue for want of cache.
  kTokensIn = 37,   // Prompts, the cached part included.
  kTokensCached = 38,
  kTokensComputed = 39,  // Prompts without the cached part.
  kTokensOut = 40,
  kTokensDecoded = 41,  // As they are made; may leave a request's first one out.
  kPrefixQueries = 42,  // Tokens looked up in the prefix cache, and those found.
  kPrefixHits = 43,
  kPrefillSeconds = 44,  // Time spent, summed over requests.
  kDecodeSeconds = 45,
  kEngineSteps = 46,
  kForwarded = 47,  // Sent on to an engine, each retry anew.
  kForwardedAccepted = 48,
  kForwardedErrors = 49,
  kForwardedCancelled = 50,
  kRetried = 51,
};

enum class SignalKind : std::uint8_t { kHistogram, kGauge, kCounter };
enum class SignalUnit : std::uint8_t { kSeconds, kShare, kRequestCount, kTokenCount, kCount };

struct SignalTraits {
  Signal signal = Signal::kTtft;
  std::string_view key;   // "kv_fill": of mappings, reports and exports.
  std::string_view name;  // "KV cache fill".
  SignalKind kind = SignalKind::kCounter;
  SignalUnit unit = SignalUnit::kCount;
  std::string_view what;  // A clause for people: what is counted, and what it is not.
};

// Every signal, by number.
std::span<const SignalTraits> AllSignals();
inline constexpr std::size_t kSignalsMax = 64;  // Numbers are below it.

const SignalTraits& TraitsOf(Signal signal);
// Nothing: no signal has this key.
std::optional<Signal> SignalOf(std::string_view key);

// "counter".
std::string_view KindName(SignalKind kind);

}  // namespace plimsoll
