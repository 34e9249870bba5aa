#include "gateway/faults/copy_outages.h"

#include <algorithm>

namespace plimsoll {

void CopyOutages::Strike(const FaultRule& rule, const FaultMoment& moment) {
  const bool for_ever = rule.down >= Duration::max() - moment.elapsed;
  const Duration until = for_ever ? Duration::max() : moment.elapsed + rule.down;
  for (const std::uint32_t copy : rule.copies) {
    if (copy < until_.size()) until_[copy] = std::max(until_[copy], until);
  }
}

std::vector<std::uint32_t> CopyOutages::Follow(std::span<const FaultRule> rules,
                                               const FaultMoment& moment) {
  std::vector<std::uint32_t> changed;
  for (std::uint32_t copy = 0; copy < down_.size(); ++copy) {
    bool down = moment.elapsed < until_[copy];
    for (const FaultRule& rule : rules) {
      down = down || (OfCopies(rule) && !ByChance(rule) && ActiveAt(rule, moment) &&
                      std::find(rule.copies.begin(), rule.copies.end(), copy) != rule.copies.end());
    }
    if (down == down_[copy]) continue;
    down_[copy] = down;
    changed.push_back(copy);
  }
  return changed;
}

std::optional<Duration> CopyOutages::NextReturn(const FaultMoment& moment) const {
  std::optional<Duration> next;
  for (const Duration until : until_) {
    if (until <= moment.elapsed || until == Duration::max()) continue;
    next = std::min(next.value_or(until), until);
  }
  return next;
}

}  // namespace plimsoll
