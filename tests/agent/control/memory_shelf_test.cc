// Corpora by digest: what does not have it, or is no corpus, is refused.
#include "agent/control/memory_shelf.h"

#include "common/wire/corpus_codec.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(MemoryShelf, KeepsWhatHasItsDigestAndRefusesTheRest) {
  Corpus corpus;
  corpus.source = "a test";
  corpus.models = {"m"};
  const std::string bytes = EncodeCorpus(corpus);
  const std::string digest = Sha256Hex(bytes);
  MemoryShelf shelf;
  EXPECT_EQ(shelf.Find(digest), nullptr);
  EXPECT_TRUE(shelf.digests().empty());

  std::string damaged = bytes;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  const Status wrong = shelf.Add(digest, damaged);
  EXPECT_EQ(wrong.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(MessageOf(wrong).find(digest), std::string_view::npos);
  EXPECT_FALSE(shelf.Add(Sha256Hex("no corpus"), "no corpus").ok());
  EXPECT_FALSE(shelf.Add(Sha256Hex(""), "").ok());
  EXPECT_TRUE(shelf.digests().empty());

  ASSERT_TRUE(shelf.Add(digest, bytes).ok());
  EXPECT_EQ(shelf.digests(), std::vector<std::string>{digest});
  ASSERT_NE(shelf.Find(digest), nullptr);
  EXPECT_EQ(shelf.Find(digest)->source, "a test");
}

}  // namespace
}  // namespace plimsoll
