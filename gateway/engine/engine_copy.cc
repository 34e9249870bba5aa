#include "gateway/engine/engine_copy.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "common/base/limits.h"

namespace plimsoll {
namespace {

// Instants are rounded to nanoseconds, so a token counts as out when it is this close, in tokens.
constexpr double kTokenSlack = 1e-6;

std::uint32_t BlocksOf(std::uint64_t tokens) {
  const std::uint64_t blocks = (tokens + limits::kBlockTokens - 1) / limits::kBlockTokens;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, UINT32_MAX));
}

}  // namespace

EngineCopy::EngineCopy(Scheduler& scheduler, const EngineConfig& config, std::uint64_t drift_seed)
    : scheduler_(scheduler),
      config_(config),
      start_(scheduler.Now()),
      drift_(config.noise.drift_sigma, config.noise.drift_time, drift_seed),
      cache_(config.kv_blocks),
      slots_(1) {}

EngineCopy::Id EngineCopy::Submit(const EngineRequest& request, const CallFactors& factors,
                                  EngineObserver& observer) {
  const std::uint32_t slot = NewSlot();
  Request& r = slots_[slot];
  r.blocks.assign(request.blocks.begin(), request.blocks.end());
  r.observer = &observer;
  r.factors = factors;
  r.prompt_tokens = request.prompt_tokens;
  r.output_tokens = std::max(1u, request.output_tokens);
  PushWaiting(slot);
  const Id id{slot, r.generation};
  StartNext();
  return id;
}

void EngineCopy::Cancel(Id id) {
  if (!Alive(id)) return;
  const double now = Seconds(scheduler_.Now());
  AdvanceTo(now);
  Request& r = slots_[id.slot];
  counters_.generated_tokens += TokensAt(r, now);
  ++counters_.cancelled;
  if (r.state == State::kWaiting) {
    UnlinkWaiting(id.slot);
    FreeSlot(id.slot);
  } else {
    if (r.state == State::kPrefill) {
      prefilling_ = 0;
      prefill_timer_.Cancel();
    } else {
      --decoding_;
    }
    Leave(id.slot);
  }
  StartNext();
  ArmDecode();
}

void EngineCopy::SetCondition(const EngineCondition& condition) {
  AdvanceTo(Seconds(scheduler_.Now()));  // At the speed until now.
  condition_ = condition;
  condition_.slowdown = std::max(0.001, condition.slowdown);
  condition_.kv_taken = std::clamp(condition.kv_taken, 0.0, 1.0);
  TakeBlocks();
  StartNext();
  ArmDecode();
}

std::uint32_t EngineCopy::TokensDone(Id id) const {
  return Alive(id) ? TokensAt(slots_[id.slot], Seconds(scheduler_.Now())) : 0;
}

MonoTime EngineCopy::NextTokenAt(Id id) const {
  if (!Alive(id) || slots_[id.slot].state == State::kWaiting) return MonoTime::max();
  const Request& r = slots_[id.slot];
  if (r.state == State::kPrefill) return prefill_due_;
  const double now = Seconds(scheduler_.Now());
  const std::uint32_t done = TokensAt(r, now);
  if (done >= r.output_tokens) return scheduler_.Now();
  const double speed = DecodeSpeed();
  if (speed <= 0) return prefill_due_;
  const double left = r.decode_start + done * r.factors.service - ServedAt(now);
  return Instant(drift_.AfterWork(now, std::max(0.0, left / speed)));
}

MonoTime EngineCopy::StartedAt(Id id) const {
  if (!Alive(id) || slots_[id.slot].state == State::kWaiting) return MonoTime::max();
  return slots_[id.slot].started;
}

void EngineCopy::DropCache() {
  const std::uint32_t rest = cache_.capacity() - cache_.held_blocks();
  if (cache_.Reserve(rest)) cache_.Unreserve(rest);
}

EngineGauges EngineCopy::gauges() const {
  EngineGauges gauges = counters_;
  gauges.waiting = waiting_;
  gauges.running = decoding_ + (prefilling_ != 0 ? 1 : 0);
  gauges.kv_usage =
      static_cast<double>(cache_.held_blocks()) / static_cast<double>(cache_.capacity());
  const double now = Seconds(scheduler_.Now());
  const double since = ServedAt(now) - served_;
  gauges.steps += since;
  gauges.busy_steps += since * decoding_;
  for (const Finish& finish : finishes_) {
    if (Alive(finish.id)) gauges.generated_tokens += TokensAt(slots_[finish.id.slot], now);
  }
  return gauges;
}

// Begins the next prefill if one may begin.
void EngineCopy::StartNext() {
  if (prefilling_ != 0 || waiting_ == 0 || decoding_ >= config_.running_max) return;
  if (condition_.queue_stuck) return;
  const std::uint32_t slot = slots_[0].next;
  Request& r = slots_[slot];
  if (!Admit(r)) return;
  const double now = Seconds(scheduler_.Now());
  AdvanceTo(now);
  UnlinkWaiting(slot);
  r.state = State::kPrefill;
  r.started = scheduler_.Now();
  prefilling_ = slot;
  const double uncached = static_cast<double>(r.prompt_tokens) -
                          static_cast<double>(r.cached_blocks) * limits::kBlockTokens;
  const double work = (config_.prefill_base_s + uncached / config_.prefill_tokens_per_s) *
                      r.factors.service * r.factors.prefill * condition_.slowdown;
  prefill_due_ = Instant(drift_.AfterWork(now, work));
  prefill_timer_ = scheduler_.At(prefill_due_, [this] { OnPrefillDone(); });
  ArmDecode();
}

// Takes the request's blocks, or leaves everything as it was.
bool EngineCopy::Admit(Request& r) {
  const std::uint32_t total =
      std::min(BlocksOf(std::uint64_t{r.prompt_tokens} + r.output_tokens), cache_.capacity());
  PrefixCache::Match match;
  if (CacheOn() && r.prompt_tokens > 0) {
    // At least one token is always computed: an answer needs the last one's logits.
    const std::uint32_t most = (r.prompt_tokens - 1) / limits::kBlockTokens;
    match = cache_.Find(r.blocks, std::min(most, total));
  }
  cache_.Acquire(match.node);
  if (!cache_.Reserve(total - match.blocks)) {
    cache_.Release(match.node);
    return false;
  }
  r.node = match.node;
  r.cached_blocks = match.blocks;
  r.private_blocks = total - match.blocks;
  return true;
}

void EngineCopy::OnPrefillDone() {
  const double now = Seconds(scheduler_.Now());
  AdvanceTo(now);
  const std::uint32_t slot = prefilling_;
  Request& r = slots_[slot];
  prefilling_ = 0;
  CacheBlocks(r);
  const std::uint32_t cached_tokens = r.cached_blocks * limits::kBlockTokens;
  counters_.prompt_tokens += r.prompt_tokens;
  counters_.cached_tokens += cached_tokens;
  ++counters_.first_tokens;
  ++counters_.steps;
  ++counters_.busy_steps;
  if (decoding_++ == 0) {
    served_ = 0;  // A fresh start keeps the sums small and exact.
    finishes_.clear();
  }
  r.state = State::kDecode;
  r.decode_start = served_;
  finishes_.push_back(
      {served_ + (r.output_tokens - 1) * r.factors.service, order_++, Id{slot, r.generation}});
  std::push_heap(finishes_.begin(), finishes_.end());
  EngineObserver* const observer = r.observer;
  StartNext();
  ArmDecode();
  observer->OnFirstToken(scheduler_.Now(), cached_tokens);  // May submit and cancel: comes last.
}

// The prompt's full blocks are computed now: they become cached, and stay in use by the request.
void EngineCopy::CacheBlocks(Request& r) {
  if (CacheOn()) {
    std::uint64_t covered = 0;
    for (const BlockSpan& run : r.blocks) covered += run.count;
    const std::uint32_t full = static_cast<std::uint32_t>(
        std::min<std::uint64_t>({covered, r.prompt_tokens / limits::kBlockTokens,
                                 std::uint64_t{r.cached_blocks} + r.private_blocks}));
    if (full > r.cached_blocks) {
      r.node = cache_.Insert(r.node, r.blocks, r.cached_blocks, full);
      r.private_blocks -= full - r.cached_blocks;
    }
  }
  r.blocks.clear();
}

void EngineCopy::OnDecodeDone() {
  decode_due_ = MonoTime::max();
  AdvanceTo(Seconds(scheduler_.Now()));
  DropStale();
  PLIMSOLL_CHECK(!finishes_.empty());
  const std::uint32_t slot = finishes_.front().id.slot;
  Request& r = slots_[slot];
  EngineObserver* const observer = r.observer;
  ++counters_.finished;
  counters_.generated_tokens += r.output_tokens;
  --decoding_;
  Leave(slot);
  StartNext();
  ArmDecode();
  observer->OnFinished(scheduler_.Now());  // May submit and cancel: comes last.
}

// Gives back what an admitted request holds.
void EngineCopy::Leave(std::uint32_t slot) {
  cache_.Release(slots_[slot].node);
  cache_.Unreserve(slots_[slot].private_blocks);
  FreeSlot(slot);
  TakeBlocks();
}

// Holds as many blocks as the condition takes and as are nobody's.
void EngineCopy::TakeBlocks() {
  const auto wanted =
      static_cast<std::uint32_t>(std::floor(condition_.kv_taken * cache_.capacity()));
  if (wanted < taken_) {
    cache_.Unreserve(taken_ - wanted);
    taken_ = wanted;
    return;
  }
  const std::uint32_t more = std::min(wanted - taken_, cache_.capacity() - cache_.held_blocks());
  if (more > 0 && cache_.Reserve(more)) taken_ += more;
}

void EngineCopy::AdvanceTo(double t) {
  const double now = ServedAt(t);
  counters_.steps += now - served_;
  counters_.busy_steps += (now - served_) * decoding_;
  served_ = now;
  served_at_ = t;
}

double EngineCopy::ServedAt(double t) const {
  if (decoding_ == 0) return served_;
  return served_ + DecodeSpeed() * drift_.WorkBetween(served_at_, t);
}

double EngineCopy::DecodeSpeed() const {
  if (decoding_ == 0) return 0;
  const double alone = config_.decode_tokens_per_s / condition_.slowdown /
                       (1 + config_.decode_slowdown * (decoding_ - 1));
  return prefilling_ != 0 ? alone * config_.decode_during_prefill : alone;
}

// Arms the timer for whoever finishes next at today's speed. Called after every change of it.
void EngineCopy::ArmDecode() {
  DropStale();
  const double speed = DecodeSpeed();
  MonoTime due = MonoTime::max();
  if (speed > 0) {
    const double left = std::max(0.0, finishes_.front().at - served_);
    due = Instant(drift_.AfterWork(served_at_, left / speed));
  }
  if (due == decode_due_) return;
  decode_due_ = due;
  decode_timer_ = due == MonoTime::max() ? Timer() : scheduler_.At(due, [this] { OnDecodeDone(); });
}

void EngineCopy::DropStale() {
  if (decoding_ == 0) {
    finishes_.clear();
    return;
  }
  // Cancelled requests far from their end would otherwise pile up below long ones.
  if (finishes_.size() > 64 + 2 * std::size_t{decoding_}) {
    std::erase_if(finishes_, [this](const Finish& f) { return !Alive(f.id); });
    std::make_heap(finishes_.begin(), finishes_.end());
  }
  while (!finishes_.empty() && !Alive(finishes_.front().id)) {
    std::pop_heap(finishes_.begin(), finishes_.end());
    finishes_.pop_back();
  }
}

std::uint32_t EngineCopy::TokensAt(const Request& r, double t) const {
  if (r.state != State::kDecode) return 0;
  const double further = (ServedAt(t) - r.decode_start) / r.factors.service;
  const double done = 1 + std::floor(std::max(0.0, further + kTokenSlack));
  return static_cast<std::uint32_t>(std::min<double>(done, r.output_tokens));
}

bool EngineCopy::Alive(Id id) const {
  return id.slot != 0 && id.slot < slots_.size() && slots_[id.slot].generation == id.generation &&
         slots_[id.slot].state != State::kFree;
}

std::uint32_t EngineCopy::NewSlot() {
  if (free_ == 0) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_;
  free_ = slots_[slot].next;
  return slot;
}

void EngineCopy::FreeSlot(std::uint32_t slot) {
  Request& r = slots_[slot];
  r.state = State::kFree;
  r.observer = nullptr;
  ++r.generation;
  r.next = free_;
  free_ = slot;
}

void EngineCopy::PushWaiting(std::uint32_t slot) {
  const std::uint32_t last = slots_[0].previous;
  slots_[slot].state = State::kWaiting;
  slots_[slot].previous = last;
  slots_[slot].next = 0;
  slots_[last].next = slot;
  slots_[0].previous = slot;
  ++waiting_;
}

void EngineCopy::UnlinkWaiting(std::uint32_t slot) {
  const Request& r = slots_[slot];
  slots_[r.previous].next = r.next;
  slots_[r.next].previous = r.previous;
  --waiting_;
}

}  // namespace plimsoll
