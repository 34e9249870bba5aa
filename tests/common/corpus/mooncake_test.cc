#include "common/corpus/mooncake.h"

#include <gmock/gmock.h>

#include "common/base/rng.h"
#include "tests/common/corpus/trace_json.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Line(int ms, int in, int out, const std::vector<int>& ids) {
  return nlohmann::json{
             {"timestamp", ms}, {"input_length", in}, {"output_length", out}, {"hash_ids", ids}}
             .dump() +
         "\n";
}

// Three that share the first block, the second and fourth of one conversation.
std::string MakeTrace() {
  return Line(0, 1000, 5, {0, 1}) + Line(0, 1200, 50, {0, 2, 3}) + Line(3000, 700, 7, {0, 9}) +
         Line(90'000, 1700, 40, {0, 2, 4, 5});
}

TEST(Mooncake, ChainsBecomeSessions) {
  const Recording recording = ReadAll(MakeTrace());
  EXPECT_EQ(recording.form, TraceForm::kMooncake);
  EXPECT_EQ(recording.lines, 4u);
  ASSERT_EQ(recording.sessions.size(), 3u);
  const Session& chain = recording.sessions[1].session;
  EXPECT_THAT(ColumnOf(chain, &Call::tokens_in), ElementsAre(1200, 1700));
  // Two of the first prompt's blocks are full and kept; its third is cut and known by another id.
  EXPECT_THAT(ColumnOf(chain, &Call::kept_blocks), ElementsAre(0, 16));
  EXPECT_EQ(chain.calls[1].delay_ms, 90'000 - chain.calls[0].service_ms);
  EXPECT_EQ(NoteCount(recording.notes, "continue nothing"), 2u);
  EXPECT_EQ(NoteCount(recording.notes, "durations estimated"), 4u);
}

TEST(Mooncake, TheCommonBeginningIsSharedByAll) {
  for (const ParsedTrace& session : ReadAll(MakeTrace()).sessions) {
    EXPECT_EQ(session.session.streams[0].prefix_blocks, 8u);
    EXPECT_EQ(session.session.streams[0].prefix_class, MixKey(HashBytes("mooncake"), 0, 512));
  }
}

TEST(Mooncake, OneSharedBlockIsNoConversation) {
  EXPECT_EQ(ReadAll(Line(0, 512, 5, {0}) + Line(1, 1024, 5, {0, 1})).sessions.size(), 2u);
}

TEST(Mooncake, TheSamePromptAgainIsTheNextCallNotACopy) {
  const Recording recording = ReadAll(Line(0, 1300, 5, {0, 1, 2}) + Line(1, 1300, 5, {0, 1, 2}));
  ASSERT_EQ(recording.sessions.size(), 1u);
  EXPECT_EQ(recording.sessions[0].session.calls[1].kept_blocks, 20u);
}

TEST(Mooncake, ASingleLineIsATraceToo) {
  EXPECT_EQ(ReadAll(Line(0, 512, 5, {0})).sessions.size(), 1u);
}

TEST(Mooncake, SaysWhatIsWrongOnWhichLine) {
  const std::string good = MakeTrace();
  EXPECT_THAT(WhyRefused(good + Line(1, 600, 5, {0, 1})),
              HasSubstr("f:5: timestamp: time runs backward: 89999 ms before"));
  EXPECT_THAT(WhyRefused(good + Line(99'000, 600, 5, {0})),
              HasSubstr("f:5: hash_ids: 1 ids for a prompt of 600 tokens; it has 2 blocks of 512"));
  EXPECT_THAT(WhyRefused(good + Line(99'000, 1600, 5, {0, 3, 2, 77})),
              HasSubstr("f:5: hash_ids[1]: broken chain"));
  EXPECT_THAT(WhyRefused(good + Line(99'000, 0, 5, {})), HasSubstr("an empty prompt"));
  EXPECT_THAT(WhyRefused(good + Line(99'000, 512, 5, {2'000'000'000})), HasSubstr("too large"));
  EXPECT_THAT(WhyRefused(good + "{\"timestamp\": 3"), HasSubstr("f:5: not one whole JSON"));
  EXPECT_THAT(WhyRefused(good + "{\"messages\": []}"),
              HasSubstr("f:5: of the messages form, what came before is of the Mooncake form"));
}

}  // namespace
}  // namespace plimsoll
