// Copies of the engine that crash alone: which are away, and until when. Pure: instants are
// durations since the gateway's start.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gateway/faults/faults.h"

namespace plimsoll {

class CopyOutages {
 public:
  explicit CopyOutages(std::uint32_t copies) : down_(copies), until_(copies, Duration{0}) {}

  // A rule that strikes by chance or under load has struck: its copies are down from now on.
  void Strike(const FaultRule& rule, const FaultMoment& moment);
  // Brings itself up to date. The copies whose state changed; Down() has their new one.
  std::vector<std::uint32_t> Follow(std::span<const FaultRule> rules, const FaultMoment& moment);
  bool Down(std::uint32_t copy) const { return down_[copy]; }
  // When the next copy that Strike() felled comes back; absent: none does.
  std::optional<Duration> NextReturn(const FaultMoment& moment) const;

 private:
  std::vector<bool> down_;
  std::vector<Duration> until_;
};

}  // namespace plimsoll
