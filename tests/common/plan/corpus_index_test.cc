// Graph, prompts and rotation of a corpus side by side, by the plan's rules.
#include "common/plan/corpus_index.h"

#include "gtest/gtest.h"
#include "tests/common/corpus/random_session.h"

namespace plimsoll {
namespace {

TEST(CorpusIndex, LooksUpEachSessionByItsIndexAndKeepsTheCorpusAlive) {
  auto corpus = std::make_shared<Corpus>();
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    corpus->sessions.push_back(RandomSession(seed, static_cast<std::uint32_t>(10 + seed)));
    corpus->sessions.back().tier = seed % 2 == 0 ? Tier::kHeavy : Tier::kLight;
  }
  RunPlan plan;
  plan.seed = 8;
  plan.tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1}};
  plan.think_time = ThinkTime::kRecorded;
  plan.think_time_cap = 700ms;
  const std::weak_ptr<const Corpus> watch = corpus;
  const CorpusIndex index(std::move(corpus), plan);
  ASSERT_FALSE(watch.expired());
  EXPECT_EQ(index.rotation().sessions(0), 3u);
  for (std::uint32_t s = 0; s < 6; ++s) {
    const Session& session = index.session(s);
    ASSERT_EQ(index.graph(s).size(), session.calls.size());
    const SessionGraph expected(session, {ThinkTime::kRecorded, 700ms});
    EXPECT_EQ(index.graph(s).length(), expected.length());
    for (std::size_t c = 0; c < session.calls.size(); ++c) {
      EXPECT_LE(index.graph(s).delay(c), Duration(700ms));
      Prompt prompt;
      index.prompts(s).Build(c, {.play = 1, .run = 2}, &prompt);
      EXPECT_EQ(prompt.tokens, session.calls[c].tokens_in);
    }
  }
}

}  // namespace
}  // namespace plimsoll
