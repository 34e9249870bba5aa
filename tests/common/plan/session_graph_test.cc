// A session as a graph: its edges, its delays and its timeline, on a tree by hand and on random
// ones.
#include "common/plan/session_graph.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/corpus/random_session.h"

namespace plimsoll {
namespace {

constexpr DelayRule kNone{};
constexpr DelayRule kCapped{ThinkTime::kRecorded, 2s};
constexpr DelayRule kRecorded{ThinkTime::kRecorded, 1h};

Call CallOf(std::uint32_t stream, std::uint32_t delay_ms, std::uint32_t service_ms) {
  return {.stream = stream, .tokens_in = 100, .delay_ms = delay_ms, .service_ms = service_ms};
}

// Main 0, 4, 5; call 0 starts streams 1 (calls 1, 2; joined by 4) and 2 (call 3; async).
Session Tree() {
  Session s;
  s.streams = {{},
               {.parent_call = 0, .start_offset_ms = 300, .join_call = 4},
               {.parent_call = 0, .start_offset_ms = 5000}};
  s.calls = {CallOf(0, 100, 1000),  CallOf(1, 0, 2000), CallOf(1, 3000, 500),
             CallOf(2, 1000, 9000), CallOf(0, 0, 1000), CallOf(0, 2500, 1000)};
  return s;
}

std::vector<std::uint32_t> Successors(const SessionGraph& graph, std::size_t call) {
  return {graph.successors(call).begin(), graph.successors(call).end()};
}

TEST(SessionGraph, EdgesOfOrderFanOutAndJoin) {
  const SessionGraph graph(Tree(), kNone);
  ASSERT_EQ(graph.size(), 6u);
  EXPECT_EQ(Successors(graph, 0), (std::vector<std::uint32_t>{1, 3, 4}));
  EXPECT_EQ(Successors(graph, 1), std::vector<std::uint32_t>{2});
  EXPECT_EQ(Successors(graph, 2), std::vector<std::uint32_t>{4});
  EXPECT_TRUE(Successors(graph, 3).empty()) << "async gates nothing";
  EXPECT_EQ(Successors(graph, 4), std::vector<std::uint32_t>{5});
  const std::uint32_t predecessors[] = {0, 1, 1, 1, 2, 1};
  for (std::size_t c = 0; c < 6; ++c) EXPECT_EQ(graph.predecessors(c), predecessors[c]) << c;
}

TEST(SessionGraph, DelaysAndTimelineByTheRule) {
  struct {
    const char* what;
    DelayRule rule;
    std::vector<int> delay_ms, release_ms;
    int length_ms;
  } const cases[] = {
      {"none", kNone, {0, 0, 0, 0, 0, 0}, {0, 1000, 3000, 1000, 3500, 4500}, 10'000},
      {"recorded",
       kRecorded,
       {100, 300, 3000, 6000, 0, 2500},
       {100, 1400, 6400, 7100, 6900, 10'400},
       16'100},
      {"capped",
       kCapped,
       {100, 300, 2000, 2000, 0, 2000},
       {100, 1400, 5400, 3100, 5900, 8900},
       12'100},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    const SessionGraph graph(Tree(), c.rule);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      EXPECT_EQ(graph.delay(i), FromMillis(c.delay_ms[i])) << i;
      EXPECT_EQ(graph.release(i), FromMillis(c.release_ms[i])) << i;
    }
    EXPECT_EQ(graph.length(), FromMillis(c.length_ms));
  }
}

TEST(SessionGraph, EveryCallComesWhenItsLastPredecessorIsDoneAndItsDelayOver) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Session session = RandomSession(seed);
    for (std::size_t c = session.calls.size(); c-- > 1 && session.streams.size() > 1;) {
      if (session.calls[c].stream != 0) continue;
      session.streams.back().join_call = static_cast<std::int32_t>(c);
      break;
    }
    for (const DelayRule& rule : {kNone, kCapped, kRecorded}) {
      const SessionGraph graph(session, rule);
      std::vector<Duration> earliest(graph.size(), Duration{-1});
      std::vector<std::uint32_t> seen(graph.size(), 0);
      Duration length{0};
      for (std::uint32_t c = 0; c < graph.size(); ++c) {
        const Duration end = graph.release(c) + FromMillis(session.calls[c].service_ms);
        length = std::max(length, end);
        for (const std::uint32_t next : graph.successors(c)) {
          EXPECT_GE(graph.release(next), end + graph.delay(next));
          earliest[next] = std::max(earliest[next], end + graph.delay(next));
          ++seen[next];
        }
      }
      EXPECT_EQ(graph.length(), length);
      for (std::uint32_t c = 0; c < graph.size(); ++c) {
        EXPECT_EQ(seen[c], graph.predecessors(c));
        EXPECT_EQ(graph.release(c), seen[c] == 0 ? graph.delay(c) : earliest[c]);
      }
    }
  }
}

TEST(SessionGraph, AnEmptySessionHasNoTime) {
  EXPECT_EQ(SessionGraph(Session{.streams = {{}}}, kNone).length(), Duration(0));
}

}  // namespace
}  // namespace plimsoll
