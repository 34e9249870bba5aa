// What a cache should hit, by hand; the sums over a session are in dry_plan_test.
#include "coordinator/planning/prefix_hits.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

// A conversation of three calls that begins with a class prefix of 4 blocks, and a subagent with
// one of 30 of which its prompt has 5.
Session Talk() {
  Session session;
  session.streams = {{.prefix_blocks = 4}, {.parent_call = 0, .prefix_blocks = 30}};
  session.calls = {{.tokens_in = 10 * 64, .service_ms = 1},
                   {.ref = 0, .kept_blocks = 10, .tokens_in = 15 * 64 + 7, .service_ms = 1},
                   {.stream = 1, .tokens_in = 5 * 64, .service_ms = 1},
                   {.ref = 1, .kept_blocks = 6, .tokens_in = 8 * 64, .service_ms = 1}};
  return session;
}

using Blocks = std::vector<std::uint32_t>;

TEST(PrefixHits, AreWhatEarlierCallsBrought) {
  const Session session = Talk();
  const SessionGraph graph(session, {});
  EXPECT_EQ(PrefixBlocksHit(session, graph, SharedPrefix::kNo), (Blocks{0, 10, 0, 6}));
}

TEST(PrefixHits, AConversationFindsThePrefixOfItsClass) {
  const Session session = Talk();
  const SessionGraph graph(session, {});
  EXPECT_EQ(PrefixBlocksHit(session, graph, SharedPrefix::kYes), (Blocks{4, 10, 5, 6}));
}

TEST(PrefixHits, ACallThatIsLeftOutBringsNothing) {
  const Session session = Talk();
  const std::vector<char> left_out = {0, 1, 0, 0};
  const SessionGraph graph(session, {}, left_out);
  EXPECT_EQ(PrefixBlocksHit(session, graph, SharedPrefix::kNo)[3], 6u)
      << "its first ten blocks came with the call before";
  const std::vector<char> none_before = {1, 1, 0, 0};
  const SessionGraph bare(session, {}, none_before);
  EXPECT_EQ(PrefixBlocksHit(session, bare, SharedPrefix::kNo)[3], 0u);
}

}  // namespace
}  // namespace plimsoll
