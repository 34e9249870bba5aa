#include "coordinator/store/replay_codec.h"

#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

void Write(const TierReplay& tier, v1::StoredTierReplay& out) {
  const FidelityCounts& f = tier.fidelity;
  const ContextCounts& c = tier.context;
  out.set_name(tier.name);
  out.set_pauses(f.pauses);
  out.set_pause_recorded_ns(f.pause_recorded_ns);
  out.set_pause_removed_ns(f.pause_removed_ns);
  out.set_answers_kept(f.answers_kept);
  out.set_answers_over_limit(f.answers_over_limit);
  out.set_answers_without_content(f.answers_without_content);
  out.set_turns_live(f.turns_live);
  out.set_turns_recorded(f.turns_recorded);
  out.set_sessions(c.sessions);
  out.set_sessions_dropped(c.sessions_dropped);
  out.set_sessions_cut(c.sessions_cut);
  out.set_calls(c.calls);
  out.set_calls_left_out(c.calls_left_out);
  out.set_calls_over(c.calls_over);
  out.set_prompt_tokens(c.tokens);
  out.set_prompt_tokens_left_out(c.tokens_left_out);
}

TierReplay Read(const v1::StoredTierReplay& in) {
  return {.name = in.name(),
          .fidelity = {.pauses = in.pauses(),
                       .pause_recorded_ns = in.pause_recorded_ns(),
                       .pause_removed_ns = in.pause_removed_ns(),
                       .answers_kept = in.answers_kept(),
                       .answers_over_limit = in.answers_over_limit(),
                       .answers_without_content = in.answers_without_content(),
                       .turns_live = in.turns_live(),
                       .turns_recorded = in.turns_recorded()},
          .context = {.sessions = in.sessions(),
                      .sessions_dropped = in.sessions_dropped(),
                      .sessions_cut = in.sessions_cut(),
                      .calls = in.calls(),
                      .calls_left_out = in.calls_left_out(),
                      .calls_over = in.calls_over(),
                      .tokens = in.prompt_tokens(),
                      .tokens_left_out = in.prompt_tokens_left_out()}};
}

}  // namespace

void Write(const ReplaySummary& replay, v1::StoredReplay& out) {
  // The same numbers on both sides, and both say "never renumber".
  out.set_think_time(static_cast<v1::StoredThinkTime>(replay.think_time));
  out.set_think_time_cap_ns(replay.think_time_cap.count());
  out.set_context_limit_tokens(replay.context_limit.tokens);
  out.set_over_limit(static_cast<v1::StoredOverLimit>(replay.context_limit.policy));
  out.set_history(static_cast<v1::StoredHistory>(replay.history));
  for (const TierReplay& tier : replay.tiers) Write(tier, *out.add_tiers());
}

StatusOr<ReplaySummary> Read(const v1::StoredReplay& in) {
  const bool known = v1::StoredThinkTime_IsValid(in.think_time()) &&
                     v1::StoredOverLimit_IsValid(in.over_limit()) &&
                     v1::StoredHistory_IsValid(in.history());
  if (!known) return absl::DataLossError("a stored replay is damaged");
  ReplaySummary replay;
  replay.think_time = static_cast<ThinkTime>(in.think_time());
  replay.think_time_cap = Duration(in.think_time_cap_ns());
  replay.context_limit.tokens = in.context_limit_tokens();
  replay.context_limit.policy = static_cast<OverLimit>(in.over_limit());
  replay.history = static_cast<History>(in.history());
  for (const v1::StoredTierReplay& tier : in.tiers()) replay.tiers.push_back(Read(tier));
  return replay;
}

}  // namespace plimsoll
