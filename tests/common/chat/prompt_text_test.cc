#include "common/chat/prompt_text.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "common/chat/words.h"

namespace plimsoll {
namespace {

std::string Block(std::uint64_t key, std::uint32_t id) {
  std::vector<char> text(limits::kBlockBytes);  // Exactly: a store beyond it is caught.
  WriteBlockText(key, id, text.data());
  return std::string(text.begin(), text.end());
}
std::string Line(const Prompt& prompt) {
  std::string line;
  for (const BlockSpan& span : prompt.spans) {
    for (std::uint32_t i = 0; i < span.count; ++i) line += Block(span.key, span.first + i);
  }
  return line;
}

TEST(PromptText, ABlockIsSixtyFourWordsOfTheList) {
  std::set<std::string> list;
  for (std::size_t i = 0; i < kWordCount; ++i) list.insert(std::string(kWords + 5 * i, 5));
  EXPECT_EQ(list.size(), kWordCount);
  std::map<std::string, int> counts;
  for (std::uint32_t id = 0; id < 2000; ++id) {
    const std::string text = Block(7, id);
    ASSERT_EQ(text.size(), 320u);
    for (std::size_t i = 0; i < text.size(); i += 5) {
      const std::string word = text.substr(i, 5);
      ASSERT_EQ(word[4], ' ');
      ASSERT_EQ(list.count(word), 1u) << word;
      ++counts[word];
    }
  }
  // 128,000 draws of 807 words: 158.6 each, standard deviation 12.6.
  EXPECT_EQ(counts.size(), kWordCount);
  for (const auto& [word, count] : counts) {
    EXPECT_GT(count, 95) << word;
    EXPECT_LT(count, 225) << word;
  }
}

TEST(PromptText, TextFollowsIdentity) {
  EXPECT_EQ(Block(1, 2), Block(1, 2));
  std::set<std::string> texts;
  for (std::uint64_t key = 0; key < 50; ++key) {
    for (std::uint32_t id = 0; id < 50; ++id) texts.insert(Block(key, id));
  }
  EXPECT_EQ(texts.size(), 2500u);
}

// Bytes of a prompt are part of what a seed means: they change with the words or the mixing only,
// and then on purpose.
TEST(PromptText, BytesArePinned) {
  EXPECT_EQ(HashBytes(Block(0, 0) + Block(42, 7)), 14727319179933324067ULL);
}

TEST(PromptReader, AnyRangeInAnyOrderEqualsTheLine) {
  Prompt prompt;
  prompt.tokens = 64 * 9;
  prompt.spans = {{1, 0, 3}, {2, 100, 1}, {1, 5, 4}, {3, 0, 1}};
  const std::string line = Line(prompt);
  PromptReader reader(prompt);
  Rng rng(5);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t at = rng.Below(line.size());
    const std::size_t count = rng.Below(line.size() - at + 1);
    std::vector<char> got(count);
    reader.Read(at, got.data(), count);
    ASSERT_EQ(std::string(got.begin(), got.end()), line.substr(at, count)) << at << " " << count;
  }
}

}  // namespace
}  // namespace plimsoll
