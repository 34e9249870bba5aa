// What a context limit leaves out of a corpus: four policies beside sending all (plan.h). Pure
// functions of session and limit, so that agents, coordinator and `check` leave out the same calls.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/plan/output_length.h"
#include "common/plan/plan.h"

namespace plimsoll {

// Prompt and asked output together: what a server holds against its limit.
constexpr std::uint64_t ContextTokens(const RunPlan& plan, const Call& call) {
  return std::uint64_t{call.tokens_in} + AskFor(plan, call.tokens_out).max_tokens;
}

// By call of `session`, whether plan.context_limit leaves it out; empty: none is. All of them: the
// session is not played. What follows a call that was left out waits for what that call would have
// waited for, and keeps its own pause; its prompt is the recorded one, whatever was left out.
std::vector<char> LeftOut(const RunPlan& plan, const Session& session);

// The same for each session of a corpus.
class ContextFilter {
 public:
  ContextFilter(const RunPlan& plan, const Corpus& corpus);

  bool Plays(std::uint32_t session) const { return !dropped_[session]; }
  bool Plays(std::uint32_t session, std::size_t call) const {
    return left_out_[session].empty() || left_out_[session][call] == 0;
  }
  // By call; empty: none is left out.
  std::span<const char> left_out(std::uint32_t session) const { return left_out_[session]; }

 private:
  std::vector<char> dropped_;
  std::vector<std::vector<char>> left_out_;
};

// What a policy does to the sessions of one tier (all that a run could draw from).
struct ContextCounts {
  std::uint64_t sessions = 0;
  std::uint64_t sessions_dropped = 0;  // Not played at all.
  std::uint64_t sessions_cut = 0;      // Played without some of their calls.
  std::uint64_t calls = 0;
  std::uint64_t calls_left_out = 0;
  std::uint64_t calls_over = 0;  // Over the limit, and sent all the same.
  std::uint64_t tokens = 0;      // Of prompts.
  std::uint64_t tokens_left_out = 0;
  void Add(const ContextCounts& other);
  friend bool operator==(const ContextCounts&, const ContextCounts&) = default;
};

// By tier of the plan; plan.context_limit.policy decides.
std::vector<ContextCounts> CountLeftOut(const RunPlan& plan, const Corpus& corpus);

// "send", "skip_calls", "end_session", "drop_sessions", "drop_long_starts": as a scenario says it.
inline constexpr std::array<std::string_view, kOverLimitPolicies> kOverLimitNames = {
    "send", "skip_calls", "end_session", "drop_sessions", "drop_long_starts"};
constexpr std::string_view Name(OverLimit policy) {
  return kOverLimitNames[static_cast<std::size_t>(policy)];
}

}  // namespace plimsoll
