// The engine model: admission queue, prefill on uncached tokens, decode that slows with the batch,
// a KV cache in blocks with prefix reuse and LRU eviction, and the noise of design section 8. No
// sockets and no bytes: it runs on a Scheduler, in virtual time or real. Behind plimsoll-gateway
// and in tests/sim.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "common/base/scheduler.h"
#include "common/corpus/prompt.h"
#include "gateway/engine/engine_config.h"

namespace plimsoll {

struct EngineRequest {
  std::span<const BlockSpan> blocks;  // Copied by Submit; the last block may be partial.
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 1;  // How many it will generate; >= 1.
  std::uint64_t session_key = 0;    // Calls with the same key share the per-session factor.
  std::uint64_t call_key = 0;       // Seeds the call's own noise.
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
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint64_t generated_tokens = 0;
  std::uint64_t finished = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t preemptions = 0;
};

class Engine {
 public:
  using Ticket = std::uint64_t;  // Never reused.

  Engine(Scheduler& scheduler, const EngineConfig& config, const EngineSeeds& seeds);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // `observer` outlives the request.
  Ticket Submit(const EngineRequest& request, EngineObserver& observer);
  // The caller hung up: the request leaves queue or batch at once. Unknown tickets are ignored.
  void Cancel(Ticket ticket);
  // Tokens generated so far, and when the next one is due at today's speed; for streaming servers.
  std::uint32_t TokensDone(Ticket ticket) const;
  MonoTime NextTokenAt(Ticket ticket) const;
  EngineGauges gauges() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
