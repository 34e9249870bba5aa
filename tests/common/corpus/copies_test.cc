#include "common/corpus/copies.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

Session MakeSession(std::string id, const std::vector<std::uint32_t>& prompts) {
  Session session;
  session.id = std::move(id);
  session.streams.resize(1);
  for (const std::uint32_t tokens : prompts) {
    session.calls.push_back({.tokens_in = tokens, .tokens_out = tokens / 10});
  }
  return session;
}

std::vector<std::string> Ids(const Corpus& corpus) {
  std::vector<std::string> ids;
  for (const Session& session : corpus.sessions) ids.push_back(session.id);
  return ids;
}

TEST(Copies, KeepsTheFirstOfExactCopies) {
  Corpus corpus;
  corpus.sessions = {MakeSession("a", {100, 200}), MakeSession("b", {100, 300, 400}),
                     MakeSession("c", {100, 200}), MakeSession("d", {100, 200})};
  const std::vector<Copy> copies = FindCopies(corpus);
  // "a" shares one call of two with the longer "b": a near copy, so it goes as well.
  ASSERT_EQ(copies.size(), 3u);
  corpus.sessions.erase(corpus.sessions.begin() + 1);
  const std::vector<Copy> exact = FindCopies(corpus);
  ASSERT_EQ(exact.size(), 2u);
  EXPECT_EQ(exact[0].session, 1u);
  EXPECT_EQ(exact[0].original, 0u);
  EXPECT_EQ(exact[0].shared, 2u);
  EXPECT_TRUE(exact[0].exact);
  DropCopies(exact, &corpus);
  EXPECT_EQ(Ids(corpus), std::vector<std::string>{"a"});
}

TEST(Copies, KeepsTheLongestOfNearCopies) {
  Corpus corpus;
  corpus.sessions = {MakeSession("short", {10, 20, 30}), MakeSession("fork", {10, 20, 31, 41}),
                     MakeSession("long", {10, 20, 30, 40, 50}), MakeSession("other", {10, 60, 70})};
  const std::vector<Copy> copies = FindCopies(corpus);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].original, 2u);
  EXPECT_EQ(copies[0].shared, 3u);
  EXPECT_FALSE(copies[0].exact);
  EXPECT_EQ(copies[1].session, 1u);
  EXPECT_EQ(copies[1].shared, 2u) << "half is enough";
  DropCopies(copies, &corpus);
  EXPECT_EQ(Ids(corpus), (std::vector<std::string>{"long", "other"}));
}

TEST(Copies, SameCallsInAnotherOrderAreNoExactCopy) {
  Corpus corpus;
  corpus.sessions = {MakeSession("a", {10, 20}), MakeSession("b", {20, 10})};
  const std::vector<Copy> copies = FindCopies(corpus);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_FALSE(copies[0].exact);
}

TEST(Copies, RepeatedCallsCountAsOftenAsBothHaveThem) {
  Corpus corpus;
  corpus.sessions = {MakeSession("a", {10, 20, 30, 40}), MakeSession("b", {10, 10, 10})};
  EXPECT_TRUE(FindCopies(corpus).empty());
}

}  // namespace
}  // namespace plimsoll
