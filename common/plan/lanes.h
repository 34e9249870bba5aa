// Lanes, sessions and keys as fixed functions of (k, seed, fleet order), so that N lanes are always
// the first N of N + 1 and the number of agents changes neither a prompt nor a schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/corpus/prompt.h"
#include "common/plan/context_limit.h"
#include "common/plan/plan.h"

namespace plimsoll {

// The first `lanes` lanes. Tiers by highest averages (Webster's divisors 1, 3, 5 …; ties to the
// tier named first). Agents round robin within a tier over `slots` (the fleet's size order, not
// empty), each tier beginning one slot further, so that two tiers do not load the first agent
// twice.
std::vector<LaneSpec> AssignLanes(std::span<const TierPlan> tiers, std::uint32_t lanes,
                                  std::span<const std::uint32_t> slots);

// Where the first of `tier` stands among the tiers; their number if there is none.
std::size_t TierIndex(std::span<const TierPlan> tiers, Tier tier);

// The tiers with the lanes all of one of them, as a ladder on it alone shares them out.
std::vector<TierPlan> TiersAlone(std::span<const TierPlan> tiers, std::size_t alone);

// Which session a lane plays. A tier's sessions are ranked by size and shuffled within eighths by
// the seed; the R2 sequence (Roberts 2018: powers of the inverse plastic number) of (rank, play)
// then walks the ranking, so that any few lanes, and any few plays of one lane, cover sizes evenly.
class SessionRotation {
 public:
  // Sessions that `filter` drops (null: none) are not there, and calls that it leaves out have no
  // size.
  SessionRotation(const Corpus& corpus, std::span<const TierPlan> tiers, std::uint64_t seed,
                  const ContextFilter* filter = nullptr);

  // Index into the corpus; absent when the corpus has no session of the tier to play.
  std::optional<std::uint32_t> SessionFor(std::uint8_t tier, std::uint32_t rank,
                                          std::uint32_t play) const;
  std::size_t sessions(std::uint8_t tier) const { return tiers_[tier].order.size(); }

 private:
  struct TierOrder {
    std::vector<std::uint32_t> order;
    std::uint64_t offset = 0;  // Position of (0, 0), in 2^-64 of the ranking.
  };
  std::vector<TierOrder> tiers_;
};

// The keys of one play's prompts: its salt, and the run's for the prefix that its class shares.
PromptKeys KeysFor(const RunPlan& plan, std::uint32_t lane, std::uint32_t play);

// What routers see of a stream: a subagent's stream has an id of its own and names its play's.
struct StreamIds {
  std::uint64_t own = 0;
  std::uint64_t parent = 0;  // 0 for the main stream.
};
StreamIds IdsOf(const PromptKeys& keys, std::uint32_t stream);

// Where the first play of a lane begins, as a share of its replayed timeline: uniform in [0.25,
// 0.75).
double StartShare(std::uint64_t seed, std::uint32_t lane, std::uint32_t play);

}  // namespace plimsoll
