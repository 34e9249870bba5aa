// One copy of the engine: its queue, its one prefill at a time, its decoding batch by processor
// sharing in virtual service time, and its KV cache. Events cost O(log batch). See engine.h for the
// rules.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/scheduler.h"
#include "gateway/engine/drift.h"
#include "gateway/engine/engine.h"
#include "gateway/engine/noise.h"
#include "gateway/engine/prefix_cache.h"

namespace plimsoll {

class EngineCopy {
 public:
  // A request's number within its copy, with a generation so that old ones are recognised.
  struct Id {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
  };

  EngineCopy(Scheduler& scheduler, const EngineConfig& config, std::uint64_t drift_seed);
  EngineCopy(const EngineCopy&) = delete;
  EngineCopy& operator=(const EngineCopy&) = delete;

  Id Submit(const EngineRequest& request, const CallFactors& factors, EngineObserver& observer);
  void Cancel(Id id);
  void SetCondition(const EngineCondition& condition);
  std::uint32_t TokensDone(Id id) const;
  MonoTime NextTokenAt(Id id) const;
  MonoTime StartedAt(Id id) const;
  void DropCache();
  EngineGauges gauges() const;

 private:
  enum class State : std::uint8_t { kFree, kWaiting, kPrefill, kDecode };
  struct Request {
    std::vector<BlockSpan> blocks;
    EngineObserver* observer = nullptr;
    CallFactors factors;
    double decode_start = 0;  // Virtual service time of its first token.
    MonoTime started{};       // Its prefill.
    std::uint32_t prompt_tokens = 0;
    std::uint32_t output_tokens = 0;
    std::uint32_t cached_blocks = 0;
    std::uint32_t private_blocks = 0;
    PrefixCache::Node node = PrefixCache::kRoot;
    std::uint32_t generation = 1;
    std::uint32_t previous = 0;  // In the queue while waiting; `next` also links free slots.
    std::uint32_t next = 0;
    State state = State::kFree;
  };
  // Ordered by the virtual service time at which the last token is out.
  struct Finish {
    double at;
    std::uint64_t order;
    Id id;
    bool operator<(const Finish& other) const {  // For std heaps: the earliest on top.
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  bool Alive(Id id) const;
  std::uint32_t NewSlot();
  void FreeSlot(std::uint32_t slot);
  void PushWaiting(std::uint32_t slot);
  void UnlinkWaiting(std::uint32_t slot);
  void StartNext();
  bool Admit(Request& request);
  void OnPrefillDone();
  void OnDecodeDone();
  void Leave(std::uint32_t slot);
  void TakeBlocks();
  bool CacheOn() const { return config_.prefix_cache && !condition_.cache_off; }
  void CacheBlocks(Request& request);
  void AdvanceTo(double t);
  void ArmDecode();
  void DropStale();
  double DecodeSpeed() const;
  double ServedAt(double t) const;
  std::uint32_t TokensAt(const Request& request, double t) const;
  double Seconds(MonoTime at) const { return ToSeconds(at - start_); }
  MonoTime Instant(double t) const { return start_ + FromSeconds(t); }

  Scheduler& scheduler_;
  const EngineConfig config_;
  const MonoTime start_;
  mutable DriftPath drift_;  // Samples its path as it is asked.
  PrefixCache cache_;
  EngineCondition condition_;
  std::uint32_t taken_ = 0;     // Blocks that the condition holds.
  std::vector<Request> slots_;  // Slot 0 is the queue's ring head.
  std::uint32_t free_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint32_t prefilling_ = 0;  // Slot; 0: none.
  std::uint32_t decoding_ = 0;
  MonoTime prefill_due_{};
  // Virtual service time: tokens that a request with factor 1, decoding since the batch was last
  // empty, would have got. `served_` is its value at `served_at_`.
  double served_ = 0;
  double served_at_ = 0;
  std::vector<Finish> finishes_;  // A heap; entries of requests that left are skipped.
  std::uint64_t order_ = 0;
  EngineGauges counters_;
  MonoTime decode_due_ = MonoTime::max();
  Timer prefill_timer_;
  Timer decode_timer_;
};

}  // namespace plimsoll
