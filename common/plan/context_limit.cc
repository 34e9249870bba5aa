#include "common/plan/context_limit.h"

#include <algorithm>

namespace plimsoll {

std::vector<char> LeftOut(const RunPlan& plan, const Session& session) {
  const ContextLimit& limit = plan.context_limit;
  const std::size_t calls = session.calls.size();
  if (limit.tokens == 0 || limit.policy == OverLimit::kSend || calls == 0) return {};
  const auto over = [&](const Call& call) { return ContextTokens(plan, call) > limit.tokens; };
  const auto first = std::find_if(session.calls.begin(), session.calls.end(), over);
  if (first == session.calls.end()) return {};
  const auto at = static_cast<std::size_t>(first - session.calls.begin());
  std::vector<char> out(calls, 0);
  switch (limit.policy) {
    case OverLimit::kSend:
      break;
    case OverLimit::kSkipCalls:
      std::transform(session.calls.begin(), session.calls.end(), out.begin(),
                     [&](const Call& call) { return static_cast<char>(over(call)); });
      break;
    case OverLimit::kEndSession:
      // Calls are in the order of their recorded starts: later ones of subagents end with it.
      std::fill(out.begin() + static_cast<std::ptrdiff_t>(at), out.end(), 1);
      break;
    case OverLimit::kDropSessions:
      std::fill(out.begin(), out.end(), 1);
      break;
    case OverLimit::kDropLongStarts:
      if (at > 0) return {};
      std::fill(out.begin(), out.end(), 1);
      break;
  }
  return out;
}

ContextFilter::ContextFilter(const RunPlan& plan, const Corpus& corpus) {
  dropped_.reserve(corpus.sessions.size());
  left_out_.reserve(corpus.sessions.size());
  for (const Session& session : corpus.sessions) {
    left_out_.push_back(LeftOut(plan, session));
    const std::vector<char>& out = left_out_.back();
    dropped_.push_back(!out.empty() &&
                       std::all_of(out.begin(), out.end(), [](char left) { return left != 0; }));
  }
}

void ContextCounts::Add(const ContextCounts& other) {
  sessions += other.sessions;
  sessions_dropped += other.sessions_dropped;
  sessions_cut += other.sessions_cut;
  calls += other.calls;
  calls_left_out += other.calls_left_out;
  calls_over += other.calls_over;
  tokens += other.tokens;
  tokens_left_out += other.tokens_left_out;
}

std::vector<ContextCounts> CountLeftOut(const RunPlan& plan, const Corpus& corpus) {
  std::vector<ContextCounts> tiers(plan.tiers.size());
  for (const Session& session : corpus.sessions) {
    const std::vector<char> out = LeftOut(plan, session);
    ContextCounts counts{.sessions = 1, .calls = session.calls.size()};
    for (std::size_t c = 0; c < session.calls.size(); ++c) {
      const Call& call = session.calls[c];
      counts.tokens += call.tokens_in;
      if (!out.empty() && out[c] != 0) {
        ++counts.calls_left_out;
        counts.tokens_left_out += call.tokens_in;
      } else if (plan.context_limit.tokens > 0 &&
                 ContextTokens(plan, call) > plan.context_limit.tokens) {
        ++counts.calls_over;
      }
    }
    counts.sessions_dropped = counts.calls_left_out == counts.calls ? 1 : 0;
    counts.sessions_cut = counts.calls_left_out > 0 ? 1 - counts.sessions_dropped : 0;
    for (std::size_t t = 0; t < tiers.size(); ++t) {
      if (plan.tiers[t].tier == session.tier) tiers[t].Add(counts);
    }
  }
  return tiers;
}

}  // namespace plimsoll
