// How one start of a hook ended, as a value: what the run machine decides on, what is kept with the
// run and shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "coordinator/hooks/hook_phase.h"

namespace plimsoll {

// Stored: never renumber.
enum class HookState : std::uint8_t {
  kOk = 1,             // It exited with code 0 before its deadline.
  kFailed = 2,         // It exited with another code, or a signal that was not ours ended it.
  kTimedOut = 3,       // Its deadline passed; its processes were ended.
  kCouldNotStart = 4,  // There is no such program, or no process was to be had.
  kKilled = 5,         // Ended by us: Abort(), or as an orphan of a coordinator that died.
};
// "ok", "failed", "timed out", "could not start", "killed".
const char* Name(HookState state);

// Of what a hook wrote, the end is kept with the run; the whole of it is in its file.
inline constexpr std::size_t kHookTailBytesMax = std::size_t{64} << 10;

struct HookOutcome {
  HookPhase phase = HookPhase::kRollout;
  std::uint32_t attempt = 1;  // From 1, counted for each phase of a run.
  HookState state = HookState::kOk;
  // Its exit code. Absent: a signal ended it, it never started, or, as an orphan, nobody saw it
  // end.
  std::optional<int> exit_code;
  std::optional<int> signal;  // That ended it. Absent: it exited by itself, or as above.
  WallTime started{};         // When it was started.
  Duration duration{};        // Until the last of its processes was gone. Orphans: until found so.
  std::string output;         // The end of what it wrote to standard output and error, as bytes.
  std::uint64_t output_cut_bytes = 0;  // What it wrote before that; 0: `output` is all.
  std::string note;  // One line for people: why it could not start, who ended it. Empty: nothing.

  bool ok() const { return state == HookState::kOk; }
  friend bool operator==(const HookOutcome&, const HookOutcome&) = default;
};

// How a run's rollback stands. Stored: never renumber.
enum class RollbackState : std::uint8_t {
  kDone = 1,    // The rollback hook ended well.
  kFailed = 2,  // It failed at every try; `plimsoll recover` tries again.
};
// "done", "failed".
const char* Name(RollbackState state);

// "rollback (attempt 2) failed with exit code 3 after 12s"; without what it wrote.
std::string HookSentence(const HookOutcome& outcome);

}  // namespace plimsoll
