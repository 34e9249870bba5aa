#include "common/corpus/prompt.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "common/corpus/synth.h"
#include "common/corpus/validate.h"
#include "tests/common/corpus/prompt_checks.h"
#include "tests/common/corpus/random_session.h"

namespace plimsoll {
namespace {

constexpr PromptKeys kKeys{.play = 7, .run = 9};

Prompt BuildOne(const Session& session, std::size_t call, const PromptKeys& keys = kKeys) {
  Prompt prompt;
  PromptIndex(session).Build(call, keys, &prompt);
  return prompt;
}

// A stream with a shared prefix of two blocks: 200 tokens, then 330 with an answer of 50.
Session TwoCalls() {
  Session session;
  session.streams.push_back({.prefix_blocks = 2, .prefix_class = 5});
  session.calls.push_back({.tokens_in = 200, .tokens_out = 50});
  session.calls.push_back({.ref = 0, .kept_blocks = 3, .tokens_in = 330, .tokens_out = 1});
  return session;
}

TEST(PromptIndex, FirstPromptIsTheSharedPrefixAndTheUsersText) {
  const Prompt prompt = BuildOne(TwoCalls(), 0);
  EXPECT_EQ(prompt.tokens, 200u);
  // Block 3 is a tail of 8 tokens: the beginning of the block that the next call completes.
  const std::vector<BlockSpan> spans = {{MixKey(9, 5), 0, 2}, {7, 2, 2}};
  EXPECT_EQ(prompt.spans, spans);
  const std::vector<MessageRange> messages = {{Role::kSystem, 0, 128}, {Role::kUser, 128, 200}};
  EXPECT_EQ(prompt.messages, messages);
}

TEST(PromptIndex, NextPromptAppendsTheAnswerAndTheUsersText) {
  const Prompt prompt = BuildOne(TwoCalls(), 1);
  // Blocks 3 and 4 are fresh; the tail is completed by nobody and gets an identity of its own.
  const std::vector<BlockSpan> spans = {{MixKey(9, 5), 0, 2}, {7, 2, 3}, {7, 0x80000001u, 1}};
  EXPECT_EQ(prompt.spans, spans);
  const std::vector<MessageRange> messages = {{Role::kSystem, 0, 128},
                                              {Role::kUser, 128, 200},
                                              {Role::kAssistant, 200, 250},
                                              {Role::kUser, 250, 330}};
  EXPECT_EQ(prompt.messages, messages);
}

TEST(PromptIndex, AnswerLongerThanTheNewTextLeavesTheUserOneToken) {
  Session session = TwoCalls();
  session.calls[0].tokens_out = 5000;
  const Prompt prompt = BuildOne(session, 1);
  EXPECT_EQ(prompt.messages[2], (MessageRange{Role::kAssistant, 200, 329}));
  EXPECT_EQ(prompt.messages[3], (MessageRange{Role::kUser, 329, 330}));
}

TEST(PromptIndex, CutInsideAnAnswerEndsInAUsersToken) {
  Session session = TwoCalls();
  session.calls[0].tokens_out = 100;  // Assistant: [200, 300).
  session.calls.push_back({.ref = 1, .kept_blocks = 4, .tokens_in = 256});
  const Prompt prompt = BuildOne(session, 2);
  const std::vector<MessageRange> messages = {{Role::kSystem, 0, 128},
                                              {Role::kUser, 128, 200},
                                              {Role::kAssistant, 200, 255},
                                              {Role::kUser, 255, 256}};
  EXPECT_EQ(prompt.messages, messages);
}

TEST(PromptIndex, OnlyOneCallCompletesATail) {
  Session session = TwoCalls();
  session.calls.push_back({.ref = 0, .kept_blocks = 3, .tokens_in = 330});
  const Prompt rival = BuildOne(session, 2);
  EXPECT_EQ(rival.messages[1], (MessageRange{Role::kUser, 128, 192}));
  EXPECT_EQ(BrokenPromptRules(session), "");
}

TEST(PromptIndex, RewrittenPrefixIsNotTheClassesText) {
  Session session = TwoCalls();
  session.calls.push_back({.ref = 1, .kept_blocks = 1, .tokens_in = 192});
  const Prompt prompt = BuildOne(session, 2);
  const std::vector<BlockSpan> spans = {{MixKey(9, 5), 0, 1}, {7, 5, 2}};
  EXPECT_EQ(prompt.spans, spans);
  EXPECT_EQ(prompt.messages[0], (MessageRange{Role::kSystem, 0, 128}));
}

TEST(PromptIndex, KeysDecideWhatIsShared) {
  const Session session = TwoCalls();
  const Prompt mine = BuildOne(session, 1, {.play = 1, .run = 3});
  const Prompt other_play = BuildOne(session, 1, {.play = 2, .run = 3});
  const Prompt other_run = BuildOne(session, 1, {.play = 1, .run = 4});
  EXPECT_EQ(mine.spans[0], other_play.spans[0]);
  EXPECT_NE(mine.spans[1], other_play.spans[1]);
  EXPECT_NE(mine.spans[0], other_run.spans[0]);
  EXPECT_EQ(mine.spans[1], other_run.spans[1]);
}

TEST(PromptIndex, ReusedPromptIsReplaced) {
  const Session session = TwoCalls();
  const PromptIndex index(session);
  Prompt prompt;
  index.Build(1, kKeys, &prompt);
  index.Build(0, kKeys, &prompt);
  const Prompt fresh = BuildOne(session, 0);
  EXPECT_EQ(prompt.spans, fresh.spans);
  EXPECT_EQ(prompt.messages, fresh.messages);
  EXPECT_EQ(prompt.tokens, fresh.tokens);
}

TEST(PromptIndex, RulesHoldForRandomSessions) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const Session session = RandomSession(seed);
    ASSERT_TRUE(ValidateSession(session, 1).ok())
        << "seed " << seed << ": " << ValidateSession(session, 1);
    ASSERT_EQ(BrokenPromptRules(session), "") << "seed " << seed;
  }
}

TEST(PromptIndex, RulesHoldForSyntheticSessions) {
  const Corpus corpus = SynthCorpus({.seed = 3, .heavy = 2, .mid = 2, .light = 12, .scale = 16});
  for (const Session& session : corpus.sessions) EXPECT_EQ(BrokenPromptRules(session), "");
}

}  // namespace
}  // namespace plimsoll
