#include "common/base/line_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LineSplitter, GivesTheSameLinesHoweverTheBytesCome) {
  const std::string text = "one\n\ntwo words\r\nthree\rfour\nand a rest";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    LineSplitter splitter;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += step) {
      for (std::string& line : splitter.Add(std::string_view(text).substr(at, step))) {
        lines.push_back(std::move(line));
      }
    }
    EXPECT_THAT(lines, ElementsAre("one", "", "two words", "three\rfour")) << step;
    EXPECT_EQ(splitter.TakeRest(), "and a rest");
    EXPECT_EQ(splitter.TakeRest(), "");
  }
}

TEST(LineSplitter, ALineWithoutAnEndComesInPieces) {
  constexpr std::size_t kMax = LineSplitter::kLineBytesMax;
  for (const std::size_t step : {std::size_t{1}, std::size_t{1000}, 3 * kMax}) {
    LineSplitter splitter;
    const std::string text(2 * kMax + 7, 'x');
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += step) {
      for (std::string& line : splitter.Add(std::string_view(text).substr(at, step))) {
        lines.push_back(std::move(line));
      }
    }
    EXPECT_THAT(lines, ElementsAre(std::string(kMax, 'x'), std::string(kMax, 'x'))) << step;
    EXPECT_THAT(splitter.Add("\n"), ElementsAre("xxxxxxx"));
  }
  EXPECT_THAT(LineSplitter().Add(""), IsEmpty());
}

}  // namespace
}  // namespace plimsoll
