#include "coordinator/report/replay_json.h"

#include <utility>

#include "common/json/json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

// What is not known is null.
Json Known(bool known, Json value) {
  return known ? std::move(value) : Json();
}

Json TierOf(const TierReplay& tier, bool told) {
  const FidelityCounts& f = tier.fidelity;
  const ContextCounts& c = tier.context;
  return {{"tier", tier.name},
          {"pauses", Known(told, f.pauses)},
          {"pause_recorded_s", Known(told, ToSeconds(Duration(f.pause_recorded_ns)))},
          {"pause_removed_s", Known(told, ToSeconds(Duration(f.pause_removed_ns)))},
          {"answers_kept", Known(told, f.answers_kept)},
          {"answers_over_limit", Known(told, f.answers_over_limit)},
          {"answers_without_content", Known(told, f.answers_without_content)},
          {"turns_live", Known(told, f.turns_live)},
          {"turns_recorded", Known(told, f.turns_recorded)},
          {"corpus_sessions", c.sessions},
          {"corpus_sessions_dropped", c.sessions_dropped},
          {"corpus_sessions_cut", c.sessions_cut},
          {"corpus_calls", c.calls},
          {"corpus_calls_left_out", c.calls_left_out},
          {"corpus_calls_over_limit_sent", c.calls_over},
          {"corpus_prompt_tokens", c.tokens},
          {"corpus_prompt_tokens_left_out", c.tokens_left_out}};
}

}  // namespace

std::string ReplayJson(const ReplaySummary& replay, bool told) {
  if (replay.tiers.empty()) return "null";
  const ContextLimit& limit = replay.context_limit;
  Json tiers = Json::array();
  for (const TierReplay& tier : replay.tiers) tiers.push_back(TierOf(tier, told));
  const Json json = {{"think_time", replay.think_time == ThinkTime::kNone ? "none" : "recorded"},
                     {"think_time_cap_s", Known(replay.think_time != ThinkTime::kNone,
                                                ToSeconds(replay.think_time_cap))},
                     {"context_limit_tokens", limit.tokens > 0 ? Json(limit.tokens) : Json()},
                     {"over_limit", Name(limit.policy)},
                     {"history", replay.history == History::kLive ? "live" : "recorded"},
                     {"tiers", std::move(tiers)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace plimsoll
