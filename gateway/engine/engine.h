// The engine model: admission queue, prefill on uncached tokens, decode that slows with the batch,
// a KV cache in blocks with prefix reuse and LRU eviction, and the noise of design section 8. No
// sockets and no bytes: it runs on a Scheduler, in virtual time or real. Behind plimsoll-gateway
// and in tests/sim.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "common/base/scheduler.h"
#include "common/corpus/prompt.h"
#include "gateway/engine/engine_config.h"

namespace plimsoll {

// The rules, so that tests can compute exact times:
// - A copy starts requests in order of arrival, one prefill at a time, when fewer than running_max
//   run and the request's blocks (prompt and all its output, at 64 tokens) fit beside those that
//   run; cached blocks of nobody's make room by LRU. The head of the queue never gets overtaken.
//   Output is reserved up front, so nothing is ever preempted.
// - Prefill takes (base + uncached tokens / rate) x cold x call x session factor, and ends with the
//   first token; then the prompt's full blocks are cached. The last block is always computed.
// - A running request gets its further tokens at decode / (1 + slowdown x (b - 1)), b requests
//   decoding, divided by its own factors, and slowed by decode_during_prefill while the copy
//   prefills. The engine's drift multiplies every time.
// - Generated tokens are cached only as later prompts carry them.
// - A condition holds from the instant it is set. A prefill under way keeps its end; blocks are
//   taken as running requests give them back, cached ones of nobody's first.
struct EngineRequest {
  // Copied by Submit; cover ceil(prompt_tokens / 64) blocks, the last may be partial. Blocks beyond
  // prompt_tokens are ignored, missing ones are never cached.
  std::span<const BlockSpan> blocks;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 1;    // How many it will generate; 0 counts as 1.
  std::uint64_t session_key = 0;      // Calls with the same key share the per-session factor.
  std::optional<std::uint32_t> copy;  // Of the engine, instead of the session's; one that exists.
  std::uint64_t call_key = 0;         // Seeds the call's own noise.
};

// Called on the scheduler's thread, never from inside Submit().
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  virtual void OnFirstToken(MonoTime at, std::uint32_t cached_tokens) = 0;
  // The last token is out. After it the request no longer exists.
  virtual void OnFinished(MonoTime at) = 0;
};

// A snapshot for /metrics and tests. Counters since start.
struct EngineGauges {
  std::uint32_t running = 0;
  std::uint32_t waiting = 0;
  double kv_usage =
      0;  // 0…1: share of blocks held by running requests (cached but idle blocks are free).
  // Counted at the first token.
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint64_t first_tokens = 0;  // Requests that have had their first token.
  std::uint64_t generated_tokens = 0;
  std::uint64_t finished = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t preemptions = 0;  // Always 0: see the rules above.
  // Steps of the model so far, a prefill being one: tokens that a request without noise, decoding
  // all the time, would have got. And the requests in them, summed over the steps.
  double steps = 0;
  double busy_steps = 0;
};

class Engine {
 public:
  using Ticket = std::uint64_t;  // Never reused; never 0.
  static constexpr std::uint32_t kCopiesMax = 256;

  // The drift's path begins now. Nonsense is clamped: copies to 1…kCopiesMax, counts and rates to
  // at least 1, shares to 0…1.
  Engine(Scheduler& scheduler, const EngineConfig& config, const EngineSeeds& seeds);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Whether such a request can ever run. Callers refuse those that cannot; submitted all the same,
  // one runs alone and holds the whole cache.
  bool Fits(std::uint32_t prompt_tokens, std::uint32_t output_tokens) const;
  // The copy that the router gives a session to: a hash of its key, so that its cache is reused.
  std::uint32_t CopyOf(std::uint64_t session_key) const;

  // `observer` outlives the request.
  Ticket Submit(const EngineRequest& request, EngineObserver& observer);
  // The caller hung up: the request leaves queue or batch at once. Unknown tickets are ignored.
  void Cancel(Ticket ticket);
  // Tokens generated so far, and when the next one is due at today's speed; for streaming servers.
  // Unknown tickets: 0 and MonoTime::max(), as for a request that waits.
  std::uint32_t TokensDone(Ticket ticket) const;
  MonoTime NextTokenAt(Ticket ticket) const;
  // When its prefill began; MonoTime::max() while it waits, and for unknown tickets.
  MonoTime StartedAt(Ticket ticket) const;
  // From now on; see the rules. An unknown copy is ignored.
  void SetCondition(std::uint32_t copy, const EngineCondition& condition);
  // Drops what is cached and not in use, as a restart does. An unknown copy is ignored.
  void DropCache(std::uint32_t copy);
  // Of all copies together; kv_usage is their mean. O(running).
  EngineGauges gauges() const;
  EngineGauges CopyGauges(std::uint32_t copy) const;
  std::uint32_t copies() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
