#include "coordinator/api/replay_messages.h"

#include "common/base/text.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

void Fill(const FidelityCounts& counts, v1::ReplayCounts* out) {
  out->set_pauses(counts.pauses);
  out->set_pause_recorded_s(ToSeconds(Duration(counts.pause_recorded_ns)));
  out->set_pause_removed_s(ToSeconds(Duration(counts.pause_removed_ns)));
  out->set_answers_kept(counts.answers_kept);
  out->set_answers_over_limit(counts.answers_over_limit);
  out->set_answers_without_content(counts.answers_without_content);
  out->set_turns_live(counts.turns_live);
  out->set_turns_recorded(counts.turns_recorded);
}

void Fill(const ContextCounts& counts, v1::TierSessions* out) {
  out->set_sessions(counts.sessions);
  out->set_sessions_dropped(counts.sessions_dropped);
  out->set_sessions_cut(counts.sessions_cut);
  out->set_calls(counts.calls);
  out->set_calls_left_out(counts.calls_left_out);
  out->set_calls_over_limit_sent(counts.calls_over);
  out->set_prompt_tokens(counts.tokens);
  out->set_prompt_tokens_left_out(counts.tokens_left_out);
}

}  // namespace

void FillReplay(const ReplaySummary& replay, bool told, v1::Replay* out) {
  const bool pauses = replay.think_time == ThinkTime::kRecorded;
  out->set_think_time(pauses ? "recorded" : "none");
  if (pauses) out->set_think_time_cap_s(ToSeconds(replay.think_time_cap));
  if (replay.context_limit.tokens > 0) {
    out->set_context_limit_tokens(replay.context_limit.tokens);
    out->set_over_limit(std::string(Name(replay.context_limit.policy)));
  }
  out->set_history(replay.history == History::kLive ? "live" : "recorded");
  for (const TierReplay& tier : replay.tiers) {
    v1::TierReplay* to = out->add_tiers();
    to->set_tier(ValidUtf8(tier.name));
    if (told) Fill(tier.fidelity, to->mutable_counts());
    Fill(tier.context, to->mutable_sessions());
  }
}

}  // namespace plimsoll
