// The three moments of a run at which a person's own program acts on the deployment.
#pragma once

#include <cstdint>

namespace plimsoll {

// Also in stored files, by name.
enum class HookPhase : std::uint8_t { kRollout, kPromote, kRollBack };

inline constexpr HookPhase kHookPhases[] = {HookPhase::kRollout, HookPhase::kPromote,
                                            HookPhase::kRollBack};

// "rollout", "promote", "rollback".
constexpr const char* Name(HookPhase phase) {
  switch (phase) {
    case HookPhase::kRollout:
      return "rollout";
    case HookPhase::kPromote:
      return "promote";
    case HookPhase::kRollBack:
      return "rollback";
  }
  return "unknown";
}

}  // namespace plimsoll
