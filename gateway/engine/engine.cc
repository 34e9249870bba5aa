#include "gateway/engine/engine.h"

#include <algorithm>
#include <vector>

#include "common/base/limits.h"
#include "common/base/rng.h"
#include "gateway/engine/engine_copy.h"
#include "gateway/engine/noise.h"

namespace plimsoll {
namespace {

EngineConfig Clamped(EngineConfig config) {
  config.copies = std::clamp(config.copies, 1u, Engine::kCopiesMax);
  config.running_max = std::max(1u, config.running_max);
  config.kv_blocks = std::max(1u, config.kv_blocks);
  config.prefill_tokens_per_s = std::max(1.0, config.prefill_tokens_per_s);
  config.prefill_base_s = std::max(0.0, config.prefill_base_s);
  config.decode_tokens_per_s = std::max(1.0, config.decode_tokens_per_s);
  config.decode_slowdown = std::max(0.0, config.decode_slowdown);
  config.decode_during_prefill = std::clamp(config.decode_during_prefill, 0.0, 1.0);
  return config;
}

// A ticket is generation (32 bits), copy (8), slot (24): slots are reused, generations tell.
constexpr std::uint32_t kSlotBits = 24;

Engine::Ticket Pack(std::uint32_t copy, EngineCopy::Id id) {
  return (std::uint64_t{id.generation} << 32) | (copy << kSlotBits) | id.slot;
}

std::uint32_t CopyIn(Engine::Ticket ticket) {
  return static_cast<std::uint32_t>(ticket >> kSlotBits) & 0xff;
}

EngineCopy::Id IdIn(Engine::Ticket ticket) {
  return {static_cast<std::uint32_t>(ticket) & ((1u << kSlotBits) - 1),
          static_cast<std::uint32_t>(ticket >> 32)};
}

}  // namespace

struct Engine::Impl {
  EngineConfig config;
  EngineSeeds seeds;
  std::vector<std::unique_ptr<EngineCopy>> copies;
};

Engine::Engine(Scheduler& scheduler, const EngineConfig& config, const EngineSeeds& seeds)
    : impl_(std::make_unique<Impl>()) {
  impl_->config = Clamped(config);
  impl_->seeds = seeds;
  for (std::uint32_t i = 0; i < impl_->config.copies; ++i) {
    impl_->copies.push_back(
        std::make_unique<EngineCopy>(scheduler, impl_->config, MixKey(seeds.path, i)));
  }
}

Engine::~Engine() = default;

bool Engine::Fits(std::uint32_t prompt_tokens, std::uint32_t output_tokens) const {
  const std::uint64_t tokens = std::uint64_t{prompt_tokens} + std::max(1u, output_tokens);
  return tokens <= std::uint64_t{impl_->config.kv_blocks} * limits::kBlockTokens;
}

std::uint32_t Engine::CopyOf(std::uint64_t session_key) const {
  return static_cast<std::uint32_t>(Mix64(session_key) % impl_->copies.size());
}

Engine::Ticket Engine::Submit(const EngineRequest& request, EngineObserver& observer) {
  const CallFactors factors = DrawCallFactors(impl_->config.noise, impl_->seeds.calls,
                                              request.session_key, request.call_key);
  const std::uint32_t copy =
      request.copy && *request.copy < copies() ? *request.copy : CopyOf(request.session_key);
  return Pack(copy, impl_->copies[copy]->Submit(request, factors, observer));
}

void Engine::Cancel(Ticket ticket) {
  const std::uint32_t copy = CopyIn(ticket);
  if (copy < impl_->copies.size()) impl_->copies[copy]->Cancel(IdIn(ticket));
}

std::uint32_t Engine::TokensDone(Ticket ticket) const {
  const std::uint32_t copy = CopyIn(ticket);
  return copy < impl_->copies.size() ? impl_->copies[copy]->TokensDone(IdIn(ticket)) : 0;
}

MonoTime Engine::NextTokenAt(Ticket ticket) const {
  const std::uint32_t copy = CopyIn(ticket);
  return copy < impl_->copies.size() ? impl_->copies[copy]->NextTokenAt(IdIn(ticket))
                                     : MonoTime::max();
}

MonoTime Engine::StartedAt(Ticket ticket) const {
  const std::uint32_t copy = CopyIn(ticket);
  return copy < impl_->copies.size() ? impl_->copies[copy]->StartedAt(IdIn(ticket))
                                     : MonoTime::max();
}

void Engine::DropCache(std::uint32_t copy) {
  if (copy < copies()) impl_->copies[copy]->DropCache();
}

void Engine::SetCondition(std::uint32_t copy, const EngineCondition& condition) {
  if (copy < copies()) impl_->copies[copy]->SetCondition(condition);
}

EngineGauges Engine::gauges() const {
  EngineGauges sum;
  for (std::uint32_t copy = 0; copy < copies(); ++copy) {
    const EngineGauges one = CopyGauges(copy);
    sum.running += one.running;
    sum.waiting += one.waiting;
    sum.kv_usage += one.kv_usage / copies();
    sum.prompt_tokens += one.prompt_tokens;
    sum.cached_tokens += one.cached_tokens;
    sum.first_tokens += one.first_tokens;
    sum.generated_tokens += one.generated_tokens;
    sum.finished += one.finished;
    sum.cancelled += one.cancelled;
    sum.preemptions += one.preemptions;
    sum.steps += one.steps;
    sum.busy_steps += one.busy_steps;
  }
  return sum;
}

EngineGauges Engine::CopyGauges(std::uint32_t copy) const {
  return copy < copies() ? impl_->copies[copy]->gauges() : EngineGauges{};
}

std::uint32_t Engine::copies() const {
  return static_cast<std::uint32_t>(impl_->copies.size());
}

}  // namespace plimsoll
