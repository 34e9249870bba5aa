// One play as a walk over its session's graph, without a lane: start points, primers, order, and
// the identity of its calls, on random sessions.
#include "agent/replay/play.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/record/call_record.h"
#include "gtest/gtest.h"
#include "tests/common/corpus/random_session.h"

namespace plimsoll {
namespace {

constexpr MonoTime kStart{Duration(1000s)};

CorpusIndex IndexOf(Session session) {
  auto corpus = std::make_shared<Corpus>();
  corpus->models = {"m"};
  session.tier = Tier::kLight;
  corpus->sessions = {std::move(session)};
  RunPlan plan;
  plan.tiers = {{.name = "light", .tier = Tier::kLight, .share = 1}};
  plan.think_time = ThinkTime::kRecorded;
  plan.think_time_cap = 2s;
  return {std::move(corpus), plan};
}

// A joined and an async stream besides the main one, more than the generator of prompts makes.
Session RandomTree(std::uint64_t seed) {
  Session session = RandomSession(seed);
  std::int32_t last_main = -1;
  for (std::size_t c = 0; c < session.calls.size(); ++c) {
    if (session.calls[c].stream == 0) last_main = static_cast<std::int32_t>(c);
  }
  if (session.streams.size() > 1 && last_main > 0) session.streams[1].join_call = last_main;
  return session;
}

// Plays to the end as an engine with the recorded service times would.
std::map<std::uint32_t, Duration> Walk(const CorpusIndex& index, Play& play, double share) {
  const Session& session = index.session(0);
  std::map<std::uint32_t, Duration> released;
  std::multimap<MonoTime, std::uint32_t> ends;
  std::vector<Play::Due> due;
  play.Start(kStart, share, &due);
  while (!due.empty() || !ends.empty()) {
    for (const Play::Due& d : due) {
      EXPECT_TRUE(released.emplace(d.call, d.at - kStart).second) << "released twice: " << d.call;
      ends.emplace(d.at + FromMillis(session.calls[d.call].service_ms), d.call);
    }
    due.clear();
    if (ends.empty()) break;
    const auto [at, call] = *ends.begin();
    ends.erase(ends.begin());
    EXPECT_FALSE(play.done());
    play.Complete(call, at, &due);
  }
  EXPECT_TRUE(play.done());
  return released;
}

TEST(Play, FromTheBeginningFollowsTheTimelineToItsEnd) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const CorpusIndex index = IndexOf(RandomTree(seed));
    Play play(index, 0, 7);
    const auto released = Walk(index, play, 0);
    ASSERT_EQ(released.size(), index.session(0).calls.size()) << "seed " << seed;
    for (const auto& [call, at] : released) EXPECT_EQ(at, index.graph(0).release(call));
    EXPECT_EQ(play.tally().calls_skipped, 0u);
    EXPECT_TRUE(Play::Primers(index, 0, 0).empty());
  }
}

TEST(Play, FromInsideSkipsWhatLiesBeforeAndKeepsTheTimelineOfTheRest) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const double share : {0.25, 0.5, 0.7499}) {
      const CorpusIndex index = IndexOf(RandomTree(seed));
      const SessionGraph& graph = index.graph(0);
      const Duration point = FromSeconds(ToSeconds(graph.length()) * share);
      std::set<std::uint32_t> skipped;
      for (std::uint32_t c = 0; c < graph.size(); ++c) {
        if (graph.release(c) < point) skipped.insert(c);
      }
      const bool none_left = skipped.size() == graph.size();
      if (none_left) skipped.clear();
      Play play(index, 0, 7);
      const auto released = Walk(index, play, share);
      EXPECT_EQ(play.tally().calls_skipped, skipped.size()) << "seed " << seed;
      EXPECT_EQ(released.size() + skipped.size(), graph.size()) << "seed " << seed;
      for (const auto& [call, at] : released) {
        EXPECT_FALSE(skipped.contains(call));
        // A call that waits for a skipped one comes when the timeline says; none comes sooner.
        EXPECT_LE(at, graph.release(call) - (none_left ? Duration{0} : point)) << "seed " << seed;
        EXPECT_GE(at, Duration{0});
      }
    }
  }
}

TEST(Play, PrimersAreExactlyTheLastSkippedCallOfEachOpenStream) {
  std::size_t primers_seen = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const CorpusIndex index = IndexOf(RandomTree(seed));
    const Session& session = index.session(0);
    Play play(index, 0, 0);
    const auto released = Walk(index, play, 0.6);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t s = 0; s < session.streams.size(); ++s) {
      std::optional<std::uint32_t> last;
      bool open = false;
      for (std::uint32_t c = 0; c < session.calls.size(); ++c) {
        if (session.calls[c].stream != s) continue;
        released.contains(c) ? void(open = true) : void(last = c);
      }
      if (open && last.has_value()) expected.push_back(*last);
    }
    EXPECT_EQ(Play::Primers(index, 0, 0.6), expected) << "seed " << seed;
    primers_seen += expected.size();
  }
  EXPECT_GT(primers_seen, 100u);
}

TEST(Play, ASessionOfOneCallStartsAtItsBeginningWhateverTheShare) {
  Session one;
  one.streams = {{}};
  one.calls = {{.tokens_in = 100, .tokens_out = 5, .service_ms = 1000}};
  const CorpusIndex index = IndexOf(one);
  Play play(index, 0, 0);
  EXPECT_EQ(Walk(index, play, 0.5), (std::map<std::uint32_t, Duration>{{0, Duration{0}}}));
  EXPECT_TRUE(Play::Primers(index, 0, 0.5).empty());
}

TEST(Play, CountsItsCallsOnceAcrossWindows) {
  const CorpusIndex index = IndexOf(RandomTree(4));
  Play play(index, 0, 3);
  std::vector<Play::Due> due;
  play.Start(kStart, 0, &due);
  const MonoTime begin = kStart + 10s;
  const MonoTime end = kStart + 20s;
  play.CountRelease(kStart, begin, end);
  play.CountRelease(begin, begin, end);
  play.CountRelease(end - 1ns, begin, end);
  play.CountRelease(end, begin, end);
  const PlayTally first = play.tally();
  EXPECT_EQ(first.play, 3u);
  EXPECT_EQ(first.calls_before, 1u);
  EXPECT_EQ(first.calls_released, 2u);
  EXPECT_EQ(first.calls_remaining, first.calls_total - 3) << "the one after the end remains";
  play.OpenWindow();
  const PlayTally second = play.tally();
  EXPECT_EQ(second.calls_before, 4u);
  EXPECT_EQ(second.calls_released, 0u);
  EXPECT_EQ(second.calls_remaining, second.calls_total - 4);
}

TEST(Play, AFailureOfAnEarlierWindowHasNoCellInTheNext) {
  const CorpusIndex index = IndexOf(RandomTree(4));
  Play play(index, 0, 0);
  std::vector<Play::Due> due;
  play.Start(kStart, 0, &due);
  play.Fail(2, kStart + 55s, false);
  EXPECT_EQ(play.tally().failed_block, 2u);
  EXPECT_EQ(play.tally().silent_from, kStart + 55s);
  play.OpenWindow();
  EXPECT_TRUE(play.failed());
  EXPECT_EQ(play.tally().failed_block, kWarmUpBlock);
}

TEST(Play, IsSilentFromTheFirstFailureUnlessItReleasedSomethingLater) {
  const CorpusIndex index = IndexOf(RandomTree(4));
  for (const Duration other : {Duration(3s), Duration(8s)}) {
    Play play(index, 0, 0);
    std::vector<Play::Due> due;
    play.Start(kStart, 0, &due);
    play.CountRelease(kStart + 1s, kStart, kStart + 60s);
    play.CountRelease(kStart + other, kStart, kStart + 60s);
    play.Fail(0, kStart + 5s, false);  // Known only after its last attempt, some time later.
    EXPECT_EQ(play.tally().silent_from, kStart + std::max<Duration>(5s, other));
  }
}

}  // namespace
}  // namespace plimsoll
