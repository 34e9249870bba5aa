// Settings of the engine model, with defaults. Values only.
#pragma once

#include <cstdint>

#include "common/base/time.h"

namespace plimsoll {

// Zero switches a kind of noise off (exact tests). Defaults are design section 8's.
struct NoiseConfig {
  double call_sigma = 0.5;     // Lognormal per call.
  double session_sigma = 0.6;  // Lognormal per session.
  double drift_sigma = 0.25;   // Stationary deviation of the log-AR(1) drift.
  Duration drift_time = 60s;   // Its time constant.
  double cold_share = 0.06;    // Calls that start cold …
  double cold_factor = 3.3;    // … and their prefill's factor.
  friend bool operator==(const NoiseConfig&, const NoiseConfig&) = default;
};

struct EngineConfig {
  std::uint32_t copies = 1;        // Behind a router: by session key, so that caches are reused.
  std::uint32_t running_max = 64;  // Requests in a copy's batch; more wait.
  double prefill_tokens_per_s = 12'000;  // Uncached tokens, one prefill at a time per copy.
  double prefill_base_s = 0.03;          // Per request, before its tokens.
  double decode_tokens_per_s = 60;       // Of one request alone.
  double decode_slowdown = 0.03;  // A batch of b decodes at decode / (1 + slowdown * (b - 1)) each.
  // Decode's share of its speed while the copy prefills, as chunked prefill shares each step:
  // 1 is disaggregated prefill, 0 is prefill that blocks decode.
  double decode_during_prefill = 0.5;
  std::uint32_t kv_blocks = 60'000;  // Of 64 tokens, per copy.
  bool prefix_cache = true;
  NoiseConfig noise;
  friend bool operator==(const EngineConfig&, const EngineConfig&) = default;
};

// What may go wrong with a copy while it runs; see gateway/faults. The default is a healthy one.
struct EngineCondition {
  double slowdown = 1;       // Multiplies prefill and decode times; at least 0.001.
  double kv_taken = 0;       // Share of the cache's blocks that nobody gives back, 0…1.
  bool cache_off = false;    // Prefixes are neither found nor kept.
  bool queue_stuck = false;  // Nothing that waits is started.
  friend bool operator==(const EngineCondition&, const EngineCondition&) = default;
};

struct EngineSeeds {
  std::uint64_t path = 1;   // Of the drift: the same path again with other sessions.
  std::uint64_t calls = 1;  // Of calls' and sessions' factors.
};

}  // namespace plimsoll
