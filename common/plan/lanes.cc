#include "common/plan/lanes.h"

#include <algorithm>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

// 2^64 / rho and 2^64 / rho^2 with rho = 1.32471795724…, the plastic number.
constexpr std::uint64_t kR2Rank = 0xC13FA9A902A6328Full;
constexpr std::uint64_t kR2Play = 0x91E10DA5C79E7B1Cull;
constexpr std::size_t kStrata = 8;

std::uint64_t InputTokens(const Corpus& corpus, std::uint32_t session,
                          const ContextFilter* filter) {
  const std::vector<Call>& calls = corpus.sessions[session].calls;
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    if (filter == nullptr || filter->Plays(session, c)) sum += calls[c].tokens_in;
  }
  return sum;
}

// Fisher–Yates over [begin, end).
void Shuffle(std::span<std::uint32_t> items, Rng* rng) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng->Below(i)]);
}

std::vector<std::uint32_t> StratifiedOrder(const Corpus& corpus, Tier tier,
                                           const ContextFilter* filter, Rng rng) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_size;
  for (std::uint32_t i = 0; i < corpus.sessions.size(); ++i) {
    if (corpus.sessions[i].tier != tier || (filter != nullptr && !filter->Plays(i))) continue;
    by_size.emplace_back(InputTokens(corpus, i, filter), i);
  }
  std::sort(by_size.begin(), by_size.end());
  std::vector<std::uint32_t> order;
  order.reserve(by_size.size());
  for (const auto& [size, index] : by_size) order.push_back(index);
  for (std::size_t s = 0; s < kStrata; ++s) {
    const std::size_t begin = order.size() * s / kStrata;
    const std::size_t end = order.size() * (s + 1) / kStrata;
    Shuffle(std::span(order).subspan(begin, end - begin), &rng);
  }
  return order;
}

}  // namespace

std::vector<LaneSpec> AssignLanes(std::span<const TierPlan> tiers, std::uint32_t lanes,
                                  std::span<const std::uint32_t> slots) {
  std::vector<LaneSpec> specs;
  specs.reserve(lanes);
  std::vector<std::uint32_t> assigned(tiers.size(), 0);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    std::size_t best = 0;
    for (std::size_t t = 1; t < tiers.size(); ++t) {
      // share_t / (2 assigned_t + 1) > share_best / (2 assigned_best + 1), without division.
      const std::uint64_t left = std::uint64_t{tiers[t].share} * (2 * assigned[best] + 1);
      const std::uint64_t right = std::uint64_t{tiers[best].share} * (2 * assigned[t] + 1);
      if (left > right) best = t;
    }
    const std::uint32_t rank = assigned[best]++;
    specs.push_back({.lane = lane,
                     .tier = static_cast<std::uint8_t>(best),
                     .rank = rank,
                     .agent_slot = slots[(rank + best) % slots.size()]});
  }
  return specs;
}

std::size_t TierIndex(std::span<const TierPlan> tiers, Tier tier) {
  std::size_t t = 0;
  while (t < tiers.size() && tiers[t].tier != tier) ++t;
  return t;
}

std::vector<TierPlan> TiersAlone(std::span<const TierPlan> tiers, std::size_t alone) {
  std::vector<TierPlan> shared(tiers.begin(), tiers.end());
  for (std::size_t t = 0; t < shared.size(); ++t) shared[t].share = t == alone ? 1 : 0;
  return shared;
}

SessionRotation::SessionRotation(const Corpus& corpus, std::span<const TierPlan> tiers,
                                 std::uint64_t seed, const ContextFilter* filter) {
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    Rng rng(MixKey(seed, HashBytes("rotation"), t));
    const std::uint64_t offset = rng.Next();
    tiers_.push_back({StratifiedOrder(corpus, tiers[t].tier, filter, rng.Fork("shuffle")), offset});
  }
}

std::optional<std::uint32_t> SessionRotation::SessionFor(std::uint8_t tier, std::uint32_t rank,
                                                         std::uint32_t play) const {
  const TierOrder& t = tiers_[tier];
  if (t.order.empty()) return std::nullopt;
  const std::uint64_t position = t.offset + rank * kR2Rank + play * kR2Play;
  // position / 2^64 of the ranking; the top 32 bits are enough for any corpus.
  return t.order[((position >> 32) * t.order.size()) >> 32];
}

PromptKeys KeysFor(const RunPlan& plan, std::uint32_t lane, std::uint32_t play) {
  const std::uint64_t play_key = MixKey(plan.nonce, HashBytes("play"), lane, play);
  const std::uint64_t run_key = MixKey(plan.nonce, HashBytes("run"));
  return {.play = play_key, .run = plan.isolate_prefixes ? play_key : run_key};
}

StreamIds IdsOf(const PromptKeys& keys, std::uint32_t stream) {
  if (stream == 0) return {.own = keys.play};
  return {.own = MixKey(keys.play, stream), .parent = keys.play};
}

double StartShare(std::uint64_t seed, std::uint32_t lane, std::uint32_t play) {
  return 0.25 + 0.5 * Rng(MixKey(seed, HashBytes("start"), lane, play)).Uniform();
}

}  // namespace plimsoll
