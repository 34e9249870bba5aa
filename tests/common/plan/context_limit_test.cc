// What each context policy leaves out of a session, by hand and against the policies' words on
// random ones, and the graph that is left.
#include "common/plan/context_limit.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "common/plan/corpus_index.h"
#include "gtest/gtest.h"
#include "tests/common/corpus/random_session.h"

namespace plimsoll {
namespace {

RunPlan PlanOf(std::uint32_t tokens, OverLimit policy) {
  RunPlan plan;
  plan.tiers = {{.name = "light", .tier = Tier::kLight, .share = 1}};
  plan.context_limit = {tokens, policy};
  return plan;
}

// Main 0, 1, 4, 5; call 1 starts stream 1 (calls 2, 3), which call 4 joins. Call 3 and call 4 have
// 110 tokens with their output, the others less.
Session Tree() {
  Session s;
  s.tier = Tier::kLight;
  s.streams = {{}, {.parent_call = 1, .join_call = 4}};
  const auto call = [](std::uint32_t stream, std::uint32_t in, std::uint32_t out) {
    return Call{.stream = stream, .tokens_in = in, .tokens_out = out, .delay_ms = 1000};
  };
  s.calls = {call(0, 50, 0),  call(0, 60, 10),  call(1, 20, 1),
             call(1, 90, 20), call(0, 100, 10), call(0, 70, 5)};
  return s;
}

std::vector<std::uint32_t> Kept(const RunPlan& plan, const Session& session) {
  const std::vector<char> out = LeftOut(plan, session);
  std::vector<std::uint32_t> kept;
  for (std::uint32_t c = 0; c < session.calls.size(); ++c) {
    if (out.empty() || out[c] == 0) kept.push_back(c);
  }
  return kept;
}

TEST(ContextLimit, EachPolicyLeavesOutWhatItsNameSays) {
  using Calls = std::vector<std::uint32_t>;
  const Calls all = {0, 1, 2, 3, 4, 5};
  const Session s = Tree();
  EXPECT_EQ(Kept(PlanOf(0, OverLimit::kDropSessions), s), all) << "no limit";
  EXPECT_EQ(Kept(PlanOf(109, OverLimit::kSend), s), all);
  EXPECT_EQ(Kept(PlanOf(109, OverLimit::kSkipCalls), s), (Calls{0, 1, 2, 5}));
  EXPECT_EQ(Kept(PlanOf(109, OverLimit::kEndSession), s), (Calls{0, 1, 2}));
  EXPECT_EQ(Kept(PlanOf(109, OverLimit::kDropSessions), s), Calls{});
  EXPECT_EQ(Kept(PlanOf(109, OverLimit::kDropLongStarts), s), all) << "its start is short";
  EXPECT_EQ(Kept(PlanOf(50, OverLimit::kDropLongStarts), s), Calls{}) << "50 + 1 asked";
  EXPECT_EQ(Kept(PlanOf(51, OverLimit::kDropLongStarts), s), all);
  for (std::size_t p = 0; p < kOverLimitPolicies; ++p) {
    EXPECT_EQ(Kept(PlanOf(110, static_cast<OverLimit>(p)), s), all) << "at the limit is within";
  }
}

TEST(ContextLimit, CountsTheOutputThatIsAskedFor) {
  RunPlan plan = PlanOf(105, OverLimit::kSkipCalls);
  plan.output_divisor = 10;  // 110 becomes 101 and 92.
  EXPECT_EQ(Kept(plan, Tree()).size(), 6u);
  plan.context_limit.tokens = 100;
  EXPECT_EQ(Kept(plan, Tree()).size(), 5u);
  plan.output_divisor = 1;
  plan.target.max_tokens = 2;
  EXPECT_EQ(Kept(plan, Tree()).size(), 5u) << "capped: 102 and 92";
}

// Which kept calls a kept call waits for, found by walking back over those left out.
std::set<std::uint32_t> Before(const SessionGraph& whole, const std::vector<char>& out,
                               std::uint32_t call) {
  std::set<std::uint32_t> found;
  for (std::uint32_t c = 0; c < whole.size(); ++c) {
    const auto next = whole.successors(c);
    if (std::find(next.begin(), next.end(), call) == next.end()) continue;
    if (out[c] == 0) {
      found.insert(c);
    } else {
      found.merge(Before(whole, out, c));
    }
  }
  return found;
}

TEST(ContextLimit, WhatIsLeftWaitsForWhatTheOthersWaitedForOnRandomSessions) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Session session = RandomSession(seed, 14);
    if (session.streams.size() > 1 && session.calls.back().stream == 0) {
      session.streams[1].join_call = 13;
    }
    for (const OverLimit policy : {OverLimit::kSkipCalls, OverLimit::kEndSession}) {
      const RunPlan plan = PlanOf(400, policy);
      const std::vector<char> out = LeftOut(plan, session);
      if (out.empty()) continue;
      const DelayRule rule{ThinkTime::kRecorded, 2s};
      const SessionGraph whole(session, rule);
      const SessionGraph graph(session, rule, out);
      EXPECT_EQ(graph.calls(), std::count(out.begin(), out.end(), 0));
      std::vector<std::set<std::uint32_t>> before(session.calls.size());
      for (std::uint32_t c = 0; c < graph.size(); ++c) {
        EXPECT_EQ(graph.left_out(c), out[c] != 0);
        for (const std::uint32_t next : graph.successors(c)) {
          EXPECT_TRUE(before[next].insert(c).second) << "an edge twice";
        }
      }
      for (std::uint32_t c = 0; c < graph.size(); ++c) {
        EXPECT_EQ(before[c], out[c] != 0 ? std::set<std::uint32_t>{} : Before(whole, out, c)) << c;
        EXPECT_EQ(graph.predecessors(c), before[c].size());
        EXPECT_EQ(graph.delay(c), whole.delay(c)) << "each keeps its own pause";
      }
    }
  }
}

TEST(ContextLimit, CountsAndRotationAgreeWithTheFilter) {
  Corpus corpus;
  corpus.models = {"m"};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    corpus.sessions.push_back(RandomSession(seed, 6));
    corpus.sessions.back().tier = Tier::kLight;
  }
  const auto shared = std::make_shared<const Corpus>(corpus);
  for (std::size_t p = 0; p < kOverLimitPolicies; ++p) {
    const RunPlan plan = PlanOf(500, static_cast<OverLimit>(p));
    const CorpusIndex index(shared, plan);
    std::set<std::uint32_t> played;
    for (std::uint32_t play = 0; play < 2000; ++play) {
      played.insert(*index.rotation().SessionFor(0, play % 7, play));
    }
    ContextCounts want;
    for (std::uint32_t s = 0; s < corpus.sessions.size(); ++s) {
      const std::vector<std::uint32_t> kept = Kept(plan, corpus.sessions[s]);
      EXPECT_EQ(played.contains(s), !kept.empty()) << s;
      EXPECT_EQ(index.graph(s).calls(), kept.size());
      want.sessions += 1;
      want.sessions_dropped += kept.empty() ? 1 : 0;
      want.sessions_cut += !kept.empty() && kept.size() < 6 ? 1 : 0;
      want.calls += 6;
      want.calls_left_out += 6 - kept.size();
      for (std::uint32_t c = 0; c < 6; ++c) {
        const Call& call = corpus.sessions[s].calls[c];
        const bool here = std::find(kept.begin(), kept.end(), c) != kept.end();
        const bool over = call.tokens_in + std::max(1u, call.tokens_out) > 500;
        want.tokens += call.tokens_in;
        want.tokens_left_out += here ? 0 : call.tokens_in;
        want.calls_over += here && over ? 1 : 0;
      }
    }
    EXPECT_EQ(CountLeftOut(plan, corpus), std::vector<ContextCounts>{want}) << p;
    EXPECT_EQ(index.rotation().sessions(0), want.sessions - want.sessions_dropped);
  }
}

TEST(ContextLimit, ATierThatIsDroppedWholeHasNoSession) {
  auto corpus = std::make_shared<Corpus>();
  corpus->models = {"m"};
  corpus->sessions = {Tree()};
  const CorpusIndex index(corpus, PlanOf(10, OverLimit::kSkipCalls));
  EXPECT_FALSE(index.rotation().SessionFor(0, 0, 0).has_value());
}

}  // namespace
}  // namespace plimsoll
