#include "coordinator/planning/replay_plan.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/config/quantities.h"
#include "common/plan/context_limit.h"
#include "common/plan/context_words.h"
#include "common/plan/session_graph.h"

namespace plimsoll {
namespace {

double Percent(double part, double whole) {
  return whole > 0 ? part / whole * 100 : 0;
}

struct Pauses {
  double recorded_s = 0;
  double removed_s = 0;
};

// Of the calls that are played, each once.
Pauses PausesOf(const RunPlan& plan, const Corpus& corpus, Tier tier) {
  const ContextFilter filter(plan, corpus);
  Pauses pauses;
  for (std::uint32_t s = 0; s < corpus.sessions.size(); ++s) {
    const Session& session = corpus.sessions[s];
    if (session.tier != tier || !filter.Plays(s)) continue;
    const SessionGraph graph(session, {plan.think_time, plan.think_time_cap}, filter.left_out(s));
    for (std::size_t c = 0; c < graph.size(); ++c) {
      // As the agents count: pauses of calls that wait for another one.
      if (graph.left_out(c) || graph.predecessors(c) == 0) continue;
      pauses.recorded_s += ToSeconds(graph.recorded_delay(c));
      pauses.removed_s += ToSeconds(graph.recorded_delay(c) - graph.delay(c));
    }
  }
  return pauses;
}

std::string ThinkLine(const RunPlan& plan, const Corpus& corpus) {
  std::string tiers;
  for (const TierPlan& tier : plan.tiers) {
    const Pauses pauses = PausesOf(plan, corpus, tier.tier);
    if (pauses.recorded_s <= 0) continue;
    tiers += fmt::format("{}{} {} recorded, {} ({:.1f}%) removed", tiers.empty() ? "" : "; ",
                         tier.name, ShortTime(FromSeconds(pauses.recorded_s)),
                         ShortTime(FromSeconds(pauses.removed_s)),
                         Percent(pauses.removed_s, pauses.recorded_s));
  }
  if (tiers.empty()) return "";
  const std::string rule = plan.think_time == ThinkTime::kNone
                               ? "none"
                               : "at most " + PrintDuration(plan.think_time_cap);
  return fmt::format("pauses    think time {}: {}", rule, tiers);
}

void AddContextLines(const RunPlan& plan, const Corpus& corpus, std::vector<std::string>* lines) {
  if (plan.context_limit.tokens == 0) return;
  lines->push_back(fmt::format(
      "context   limit {} tokens of prompt and asked output; left out by policy (send: over it and "
      "sent), * is this plan's:",
      plan.context_limit.tokens));
  for (std::size_t p = 0; p < kOverLimitPolicies; ++p) {
    RunPlan other = plan;
    other.context_limit.policy = static_cast<OverLimit>(p);
    const std::vector<ContextCounts> counts = CountLeftOut(other, corpus);
    std::string tiers;
    for (std::size_t t = 0; t < counts.size(); ++t) {
      tiers += fmt::format("{}{}", tiers.empty() ? "" : "; ",
                           LeftOutWords(counts[t], plan.tiers[t].name, other.context_limit.policy));
    }
    const bool ours = other.context_limit.policy == plan.context_limit.policy;
    lines->push_back(fmt::format("        {} {:<16} {}", ours ? '*' : ' ',
                                 Name(other.context_limit.policy), tiers));
  }
}

}  // namespace

std::vector<std::string> ReplayLines(const RunPlan& plan, const Corpus& corpus) {
  std::vector<std::string> lines;
  if (std::string think = ThinkLine(plan, corpus); !think.empty()) {
    lines.push_back(std::move(think));
  }
  if (plan.history == History::kLive) {
    lines.push_back(
        fmt::format("history   live: the server's own answers (content only), at most {} KiB a "
                    "session, then text of the recorded length",
                    limits::kLiveHistoryBytesMax >> 10));
  }
  AddContextLines(plan, corpus, &lines);
  return lines;
}

}  // namespace plimsoll
