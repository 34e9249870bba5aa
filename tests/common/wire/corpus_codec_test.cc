#include "common/wire/corpus_codec.h"

#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/corpus/synth.h"
#include "plimsoll/v1/corpus.pb.h"
#include "tests/common/corpus/random_session.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

bool Same(const Call& a, const Call& b) {
  return a.stream == b.stream && a.ref == b.ref && a.kept_blocks == b.kept_blocks &&
         a.tokens_in == b.tokens_in && a.tokens_out == b.tokens_out && a.start_ms == b.start_ms &&
         a.delay_ms == b.delay_ms && a.service_ms == b.service_ms && a.model == b.model &&
         a.flags == b.flags;
}

bool Same(const Stream& a, const Stream& b) {
  return a.parent_call == b.parent_call && a.start_offset_ms == b.start_offset_ms &&
         a.join_call == b.join_call && a.prefix_blocks == b.prefix_blocks &&
         a.prefix_class == b.prefix_class;
}

void ExpectSame(const Corpus& a, const Corpus& b) {
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.license, b.license);
  EXPECT_EQ(a.models, b.models);
  ASSERT_EQ(a.sessions.size(), b.sessions.size());
  for (std::size_t s = 0; s < a.sessions.size(); ++s) {
    const Session& x = a.sessions[s];
    const Session& y = b.sessions[s];
    EXPECT_EQ(x.id, y.id);
    EXPECT_EQ(x.tier, y.tier);
    EXPECT_EQ(x.file, y.file);
    EXPECT_EQ(x.sha256_json, y.sha256_json);
    EXPECT_EQ(x.json_bytes, y.json_bytes);
    ASSERT_EQ(x.streams.size(), y.streams.size());
    for (std::size_t i = 0; i < x.streams.size(); ++i) {
      EXPECT_TRUE(Same(x.streams[i], y.streams[i])) << x.id << " stream " << i;
    }
    ASSERT_EQ(x.calls.size(), y.calls.size());
    for (std::size_t i = 0; i < x.calls.size(); ++i) {
      EXPECT_TRUE(Same(x.calls[i], y.calls[i])) << x.id << " call " << i;
    }
  }
}

Corpus SmallCorpus() {
  Corpus corpus = SynthCorpus({.seed = 4, .heavy = 1, .mid = 1, .light = 4});
  corpus.license = "none";
  corpus.sessions[0].file = "traces/\xff odd.json";
  corpus.sessions[0].sha256_json = Sha256Hex("x");
  corpus.sessions[0].json_bytes = 1ull << 40;
  return corpus;
}

TEST(CorpusCodec, ReadsBackWhatItWrote) {
  Corpus corpus = SmallCorpus();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) corpus.sessions.push_back(RandomSession(seed));
  const std::string bytes = EncodeCorpus(corpus);
  EXPECT_EQ(bytes, EncodeCorpus(corpus));
  const StatusOr<Corpus> decoded = DecodeCorpus(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ExpectSame(corpus, *decoded);
}

TEST(CorpusCodec, EmptyCorpusIsACorpus) {
  const StatusOr<Corpus> decoded = DecodeCorpus(EncodeCorpus({}));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_TRUE(decoded->sessions.empty());
}

TEST(CorpusCodec, CallCostsTensOfBytes) {
  const Corpus corpus = SynthCorpus({.seed = 4, .heavy = 20, .light = 20});
  std::size_t calls = 0;
  for (const Session& session : corpus.sessions) calls += session.calls.size();
  EXPECT_LT(EncodeCorpus(corpus).size(), 20 * calls);
}

TEST(CorpusCodec, DigestIsSha256) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(CorpusCodec, RefusesOtherFiles) {
  for (const char* text : {"", "hello", "{\"id\": 1}", "PK\x03\x04"}) {
    const StatusOr<Corpus> decoded = DecodeCorpus(text);
    ASSERT_FALSE(decoded.ok()) << text;
    EXPECT_THAT(std::string(MessageOf(decoded.status())), HasSubstr("not a corpus file"));
  }
}

TEST(CorpusCodec, NoCutIsTakenForAWholeSession) {
  const std::string bytes = EncodeCorpus(SmallCorpus());
  std::size_t accepted = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    accepted += DecodeCorpus(bytes.substr(0, size)).ok() ? 1 : 0;
  }
  // A cut exactly between two fields leaves fewer sessions; the digest catches those.
  EXPECT_LE(accepted, 6u + 2u + 5u);
}

TEST(CorpusCodec, NoFlippedBitBreaksTheReader) {
  const std::string bytes = EncodeCorpus(SynthCorpus({.seed = 4, .heavy = 0, .light = 1}));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string broken = bytes;
    broken[bit / 8] = static_cast<char>(broken[bit / 8] ^ (1 << (bit % 8)));
    const StatusOr<Corpus> decoded = DecodeCorpus(broken);  // Whatever it says, it does not crash.
    if (decoded.ok()) {
      EXPECT_FALSE(EncodeCorpus(*decoded).empty());
    }
  }
}

struct Broken {
  const char* name;
  std::function<void(v1::Corpus*)> breaks;
  const char* message;
};

class CorpusCodecBroken : public testing::TestWithParam<Broken> {};

TEST_P(CorpusCodecBroken, SaysWhatAndWhere) {
  v1::Corpus proto;
  Corpus corpus;
  corpus.models = {"m"};
  corpus.sessions = {RandomSession(1)};
  ASSERT_TRUE(proto.ParseFromString(EncodeCorpus(corpus)));
  GetParam().breaks(&proto);
  const StatusOr<Corpus> decoded = DecodeCorpus(proto.SerializeAsString());
  ASSERT_FALSE(decoded.ok());
  EXPECT_THAT(std::string(MessageOf(decoded.status())), HasSubstr(GetParam().message));
}

v1::Session* First(v1::Corpus* corpus) {
  return corpus->mutable_sessions(0);
}

INSTANTIATE_TEST_SUITE_P(
    All, CorpusCodecBroken,
    testing::Values(
        Broken{"Version", [](v1::Corpus* c) { c->set_format_version(2); },
               "a corpus of another version: format 2, this build reads format 1"},
        Broken{"NoVersion", [](v1::Corpus* c) { c->set_format_version(0); }, "not a corpus file"},
        Broken{"BlockTokens", [](v1::Corpus* c) { c->set_block_tokens(16); },
               "blocks of 16 tokens"},
        Broken{"Tier", [](v1::Corpus* c) { First(c)->set_tier(static_cast<v1::Tier>(9)); },
               "session 0 (random): unknown tier 9"},
        Broken{"ColumnShort", [](v1::Corpus* c) { First(c)->mutable_fresh_blocks()->RemoveLast(); },
               "column fresh_blocks has 23 entries for 24 calls"},
        Broken{"ColumnLong",
               [](v1::Corpus* c) {
                 while (First(c)->model_size() < 25) First(c)->add_model(0);
               },
               "column model has 25 entries for 24 calls"},
        Broken{"Ref", [](v1::Corpus* c) { First(c)->set_ref_delta(3, 4); },
               "call 3: ref_delta is 4"},
        Broken{"RefHuge", [](v1::Corpus* c) { First(c)->set_ref_delta(3, 0xffffffffu); },
               "call 3: ref_delta"},
        Broken{"Dropped", [](v1::Corpus* c) { First(c)->set_dropped_blocks(0, 1); },
               "call 0: dropped_blocks is 1"},
        Broken{"Fresh", [](v1::Corpus* c) { First(c)->set_fresh_blocks(0, 0xffffffffu); },
               "call 0: the prompt's length is"},
        Broken{"Tail", [](v1::Corpus* c) { First(c)->set_tail_tokens(0, 64); },
               "call 0: tail_tokens is 64"},
        Broken{"Start",
               [](v1::Corpus* c) {
                 First(c)->set_start_delta_ms(1, 0xffffffffu);
                 First(c)->set_start_delta_ms(2, 0xffffffffu);
               },
               "call 2: the start in ms is"},
        Broken{"Flags", [](v1::Corpus* c) { First(c)->set_flags(0, 256); }, "call 0: flags is 256"},
        Broken{"FlagUnknown", [](v1::Corpus* c) { First(c)->set_flags(0, 128); },
               "call 0: unknown flags"},
        Broken{"Model", [](v1::Corpus* c) { First(c)->add_model(1); }, "call 0: model 1 of 1"},
        Broken{"Parent", [](v1::Corpus* c) { First(c)->mutable_streams(1)->set_parent_call(24); },
               "stream 1: parent call 24"},
        Broken{"JoinHuge",
               [](v1::Corpus* c) { First(c)->mutable_streams(1)->set_join_call(1u << 31); },
               "join_call is call 2147483648"},
        Broken{"Digest", [](v1::Corpus* c) { First(c)->set_sha256_json("abc"); },
               "a digest of 3 bytes"},
        Broken{"NoStreams", [](v1::Corpus* c) { First(c)->clear_streams(); },
               "0 streams for 24 calls"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace plimsoll
