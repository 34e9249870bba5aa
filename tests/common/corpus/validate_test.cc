#include "common/corpus/validate.h"

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll {
namespace {

using testing::HasSubstr;

// Main: calls 0, 2, 3; a subagent of call 0 with call 1, joined by call 2.
Session MakeSession() {
  Session session;
  session.id = "s";
  session.streams.resize(2);
  session.streams[1] = {.parent_call = 0, .join_call = 2, .prefix_blocks = 1, .prefix_class = 4};
  session.calls = {{.tokens_in = 200},
                   {.stream = 1, .tokens_in = 100, .start_ms = 10},
                   {.ref = 0, .kept_blocks = 3, .tokens_in = 300, .start_ms = 20},
                   {.ref = 2, .kept_blocks = 2, .tokens_in = 150, .start_ms = 30}};
  return session;
}

struct Broken {
  const char* name;
  std::function<void(Session*)> breaks;
  const char* message;
};

class ValidateBroken : public testing::TestWithParam<Broken> {};

TEST_P(ValidateBroken, SaysWhatAndWhere) {
  Session session = MakeSession();
  ASSERT_TRUE(ValidateSession(session, 1).ok()) << ValidateSession(session, 1);
  GetParam().breaks(&session);
  const Status status = ValidateSession(session, 1);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, ValidateBroken,
    testing::Values(
        Broken{"NoCalls", [](Session* s) { s->calls.clear(); }, "0 calls"},
        Broken{"NoStreams", [](Session* s) { s->streams.clear(); }, "0 streams"},
        Broken{"StreamRange", [](Session* s) { s->calls[1].stream = 2; }, "call 1: stream 2 of 2"},
        Broken{"StreamEmpty", [](Session* s) { s->streams.resize(3); }, "stream 2: has no call"},
        Broken{"EmptyPrompt", [](Session* s) { s->calls[1].tokens_in = 0; },
               "call 1: a prompt of 0"},
        Broken{"HugePrompt", [](Session* s) { s->calls[1].tokens_in = 1u << 30; },
               "call 1: a prompt"},
        Broken{"HugeAnswer", [](Session* s) { s->calls[1].tokens_out = 1u << 30; }, "an answer of"},
        Broken{"RefSelf", [](Session* s) { s->calls[2].ref = 2; }, "call 2: refers to call 2"},
        Broken{"RefNegative", [](Session* s) { s->calls[2].ref = -2; },
               "call 2: refers to call -2"},
        Broken{"KeepsMoreThanRef", [](Session* s) { s->calls[2].kept_blocks = 4; },
               "call 2: keeps 4 blocks of 3"},
        Broken{"KeepsMoreThanOwn", [](Session* s) { s->calls[3].kept_blocks = 3; },
               "call 3: keeps 3 blocks of 4, its prompt has 2"},
        Broken{"KeepsOfNothing", [](Session* s) { s->calls[2].ref = -1; },
               "call 2: keeps 3 blocks of 0"},
        Broken{"Model", [](Session* s) { s->calls[2].model = 1; }, "call 2: model 1 of 1"},
        Broken{"Flags", [](Session* s) { s->calls[2].flags = 32; }, "call 2: unknown flags 32"},
        Broken{"Order", [](Session* s) { s->calls[2].start_ms = 9; }, "call 2: starts before"},
        Broken{"Prefix", [](Session* s) { s->streams[1].prefix_blocks = 1u << 30; },
               "stream 1: a shared prefix"},
        Broken{"ParentRange", [](Session* s) { s->streams[1].parent_call = 4; },
               "stream 1: parent call 4"},
        Broken{"JoinRange", [](Session* s) { s->streams[1].join_call = -2; }, "join call -2"},
        Broken{"MainHasParent", [](Session* s) { s->streams[0].parent_call = 1; },
               "stream 0: the main"},
        Broken{"OwnParent", [](Session* s) { s->streams[1].parent_call = 1; }, "is its own parent"},
        Broken{"JoinsItself", [](Session* s) { s->streams[1].join_call = 1; },
               "joins a stream that is not"},
        Broken{"JoinsEarly", [](Session* s) { s->streams[1].join_call = 0; },
               "joins before its parent"}),
    [](const auto& one) { return std::string(one.param.name); });

// Two streams that start each other: every index is in range, and no replay could begin.
TEST(Validate, RefusesStreamsThatWaitForEachOther) {
  Session session = MakeSession();
  session.streams.resize(3);
  session.calls.push_back({.stream = 2, .tokens_in = 100, .start_ms = 40});
  session.streams[1] = {.parent_call = 4};
  session.streams[2] = {.parent_call = 1};
  const Status status = ValidateSession(session, 1);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(MessageOf(status)),
              HasSubstr("call 1: waits for a call that waits for it"));
}

TEST(Validate, NamesTheSession) {
  Corpus corpus;
  corpus.models = {"m"};
  corpus.sessions = {MakeSession(), MakeSession()};
  EXPECT_TRUE(ValidateCorpus(corpus).ok());
  corpus.sessions[1].calls[2].model = 3;
  EXPECT_THAT(std::string(MessageOf(ValidateCorpus(corpus))),
              HasSubstr("session 1 (s): call 2: model"));
}

}  // namespace
}  // namespace plimsoll
