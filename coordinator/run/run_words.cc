#include "coordinator/run/run_words.h"

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {

const char* Name(RunPhase phase) {
  switch (phase) {
    case RunPhase::kPreflight:
      return "preflight";
    case RunPhase::kGather:
      return "gather";
    case RunPhase::kPrepareRun:
      return "prepare run";
    case RunPhase::kPrepareStep:
      return "prepare step";
    case RunPhase::kStep:
      return "step";
    case RunPhase::kReplace:
      return "replace agents";
    case RunPhase::kStop:
      return "stop";
    case RunPhase::kSettle:
      return "settle";
    case RunPhase::kDone:
      return "done";
    case RunPhase::kMiniEvals:
      return "mini evals";
  }
  return "?";
}

int Precedence(ExitCode code) {
  switch (code) {
    case ExitCode::kInternal:
      return 3;
    case ExitCode::kStopped:
      return 2;
    case ExitCode::kCouldNotRun:
      return 1;
    default:
      return 0;
  }
}

std::string AgentName(const MachineState& state, std::uint32_t slot) {
  if (slot >= state.names.size() || state.names[slot].empty()) return fmt::format("agent {}", slot);
  return fmt::format("agent {} ({})", slot, state.names[slot]);
}

std::string AgentNames(const MachineState& state, const std::set<std::uint32_t>& slots) {
  std::string names;
  for (const std::uint32_t slot : slots) {
    names += (names.empty() ? "" : ", ") + AgentName(state, slot);
  }
  return names;
}

std::string NotReady(const MachineState& state, std::string_view what, Duration limit) {
  const bool one = state.waiting_for.size() == 1;
  return fmt::format(
      "not ready in time: {} {} connected but {} not {} within {}; look at the output of {} and at "
      "the load of {}, then start again",
      AgentNames(state, state.waiting_for), one ? "is" : "are", one ? "has" : "have", what,
      ShortTime(limit), one ? "that agent" : "those agents",
      one ? "its machine" : "their machines");
}

std::string NotGathered(const RunSettings& settings, const MachineState& state) {
  std::string text = fmt::format("not all {} agents came within {}", settings.agents,
                                 ShortTime(settings.gather_limit));
  if (!state.lost.empty()) {
    text += fmt::format("; {} left before the run began", AgentNames(state, state.lost));
  }
  return text + (settings.local_agents
                     ? "; this machine may be too busy: start fewer, or raise fleet.wait"
                     : "; start each with the command above, or raise fleet.wait");
}

std::string EvalsLate(const MachineState& state) {
  return fmt::format("the mini run of evals was not ended in time by {}: what has come counts",
                     AgentNames(state, state.waiting_for));
}

std::string NotReplaced(const RunSettings& settings, const MachineState& state) {
  return fmt::format(
      "nobody was ready in the place of {} within {}; start another agent, then run again",
      AgentNames(state, state.lost), ShortTime(settings.replace_limit));
}

std::string StopWords(int count) {
  if (count > 2) return "leaving: nothing is waited for any more";
  if (count > 1) return "aborting: calls in flight are hung up; once more to leave at once";
  return "stopping: calls in flight may finish; once more to abort";
}

}  // namespace plimsoll
