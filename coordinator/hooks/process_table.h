// The machine's processes, as far as hooks need them: who is who although numbers are given out
// again, and which are left of a hook.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plimsoll {

// One process, also after its number has been given to another.
struct ProcessMark {
  int pid = 0;                    // 0: none.
  std::uint64_t start_ticks = 0;  // When it started, in ticks since the machine did.
  // This boot of this machine, and its view of processes: elsewhere the numbers mean nothing.
  std::string place;
  friend bool operator==(const ProcessMark&, const ProcessMark&) = default;
};

// Empty where /proc does not say.
std::string ThisPlace();
// A mark with pid 0 if there is no such process, or it is dead and not yet reaped.
ProcessMark MarkOf(int pid);
// Whether that very process lives. False for one of another place: see ThisPlace().
bool Lives(const ProcessMark& mark);

// What tells processes of one run's hooks from all others.
struct HookTrail {
  std::string lock_path;  // They hold this file's descriptor, inherited, …
  std::string token;      // … or kHookTokenName with this value stands in their environment.
};
inline constexpr char kHookTokenName[] = "PLIMSOLL_HOOK_TOKEN";

// Their numbers, ours never among them. Of processes of other users nothing can be seen; the lock
// itself tells of those.
std::vector<int> ProcessesOn(const HookTrail& trail);

// Signals each of them; one that was given the number of another meanwhile is not hit.
void SignalProcesses(const HookTrail& trail, const std::vector<int>& pids, int signal);

}  // namespace plimsoll
