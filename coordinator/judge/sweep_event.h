// What ends a sweep from outside of its verdicts.
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll {

// Kept with runs: never renumber.
enum class SweepEvent : std::uint8_t {
  kNone = 0,
  kKvCacheFull = 1,
  kRefusals = 2,
  kKillSwitch = 3,
};
inline constexpr int kSweepEvents = 3;  // The highest number.

// "KV cache": what a sweep was stopped by, in its capacity's words. Empty of kNone.
constexpr std::string_view Name(SweepEvent event) {
  switch (event) {
    case SweepEvent::kKvCacheFull:
      return "KV cache";
    case SweepEvent::kRefusals:
      return "refusals";
    case SweepEvent::kKillSwitch:
      return "kill switch";
    case SweepEvent::kNone:
      break;
  }
  return "";
}

}  // namespace plimsoll
