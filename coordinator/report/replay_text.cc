#include "coordinator/report/replay_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/config/quantities.h"
#include "common/plan/context_words.h"

namespace plimsoll {
namespace {

double Percent(double part, double whole) {
  return whole > 0 ? part / whole * 100 : 0;
}

std::string PauseSentence(const ReplaySummary& replay) {
  std::string text;
  for (const TierReplay& tier : replay.tiers) {
    const FidelityCounts& f = tier.fidelity;
    if (f.pause_recorded_ns <= 0) continue;
    text += fmt::format(
        "{}{} {} pauses of {} in all as recorded, {} ({:.1f}%) removed", text.empty() ? "" : "; ",
        tier.name, f.pauses, ShortTime(Duration(f.pause_recorded_ns)),
        ShortTime(Duration(f.pause_removed_ns)),
        Percent(static_cast<double>(f.pause_removed_ns), static_cast<double>(f.pause_recorded_ns)));
  }
  if (text.empty()) return text;
  return fmt::format("think time {}: {}",
                     replay.think_time == ThinkTime::kNone
                         ? "none"
                         : "recorded, at most " + PrintDuration(replay.think_time_cap),
                     text);
}

std::string HistorySentence(const ReplaySummary& replay) {
  if (replay.history != History::kLive) return "";
  FidelityCounts all;
  for (const TierReplay& tier : replay.tiers) all.Add(tier.fidelity);
  std::string text =
      fmt::format("live history: {} of {} assistant turns sent were the server's own answers",
                  all.turns_live, all.turns_live + all.turns_recorded);
  text += fmt::format("; {} answers kept", all.answers_kept);
  if (all.answers_over_limit > 0) {
    text += fmt::format(", {} over the session's {} KiB", all.answers_over_limit,
                        limits::kLiveHistoryBytesMax >> 10);
  }
  if (all.answers_without_content > 0) {
    text += fmt::format(", {} had no content to send again", all.answers_without_content);
  }
  return text;
}

}  // namespace

std::string ContextSentence(const ReplaySummary& replay) {
  const ContextLimit& limit = replay.context_limit;
  if (limit.tokens == 0) return "";
  std::string tiers;
  for (const TierReplay& tier : replay.tiers) {
    tiers += fmt::format("{}{}", tiers.empty() ? "" : "; ",
                         LeftOutWords(tier.context, tier.name, limit.policy));
  }
  return fmt::format("limit {} tokens, {}: {}{}", limit.tokens, Name(limit.policy), tiers,
                     limit.policy == OverLimit::kSend ? " are over it and sent" : " left out");
}

std::vector<std::string> ReplaySentences(const ReplaySummary& replay) {
  std::vector<std::string> lines = {PauseSentence(replay), HistorySentence(replay)};
  std::erase(lines, std::string());
  return lines;
}

}  // namespace plimsoll
