#include "common/sse/sse_parser.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;  // (type, data)

class Collector : public SseParser::Sink {
 public:
  void OnEvent(const SseEvent& event) override { events.emplace_back(event.type, event.data); }
  Events events;
};

Events ParseAll(const std::vector<std::string>& pieces) {
  SseParser parser;
  Collector sink;
  for (const std::string& piece : pieces) {
    // A copy of exactly the piece's size, so that reading past it is caught.
    const std::vector<char> copy(piece.begin(), piece.end());
    EXPECT_TRUE(parser.Feed({copy.data(), copy.size()}, sink));
  }
  EXPECT_TRUE(parser.Finish(sink));
  return sink.events;
}

// The obvious way: the whole text at once, lines first, then fields.
Events ParseSlowly(std::string text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.erase(0, 3);
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') {
      if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') ++i;
      lines.emplace_back();
    } else {
      lines.back().push_back(text[i]);
    }
  }
  lines.emplace_back();  // Ends the last event.
  Events events;
  std::string type, data;
  for (const std::string& line : lines) {
    if (line.empty()) {
      if (!data.empty()) events.emplace_back(type, data.substr(0, data.size() - 1));
      type.clear();
      data.clear();
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::string name = line.substr(0, colon);
    std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
    if (value.substr(0, 1) == " ") value.erase(0, 1);
    if (name == "event") type = value;
    if (name == "data") data += value + "\n";
  }
  return events;
}

TEST(SseParser, FollowsTheRules) {
  const std::vector<std::pair<std::string, Events>> cases = {
      {"data: a\n\n", {{"", "a"}}},
      {"data: a\r\rdata: b\r\n\r\ndata: c\n\r\n", {{"", "a"}, {"", "b"}, {"", "c"}}},
      {"\xEF\xBB\xBF"
       "data: a\n\n",
       {{"", "a"}}},
      {"data: a\n\n\xEF\xBB\xBF"
       "data: b\n\n",
       {{"", "a"}}},  // Only the first one is a BOM.
      {"data:a\n\ndata:  b\n\n", {{"", "a"}, {"", " b"}}},
      {"data: a\ndata: b\ndata:\n\n", {{"", "a\nb\n"}}},
      {"data\n\n", {{"", ""}}},
      {"data:\n\n", {{"", ""}}},
      {": hello\n\n:\n\n", {}},
      {"event: error\ndata: x\n\ndata: y\n\n", {{"error", "x"}, {"", "y"}}},
      {"event: lost\n\ndata: y\n\n", {{"", "y"}}},  // No data: the type is dropped.
      {"id: 1\nretry: 5\nDATA: no\ndata : no\nfoo\ndata: yes\n\n", {{"", "yes"}}},
      {"data: a:b: c\n\n", {{"", "a:b: c"}}},
      {"data: last", {{"", "last"}}},
      {"data: last\n", {{"", "last"}}},
      {"", {}},
      {"\n\n\r\r\n", {}},
  };
  for (const auto& [text, want] : cases) {
    EXPECT_EQ(ParseAll({text}), want) << text;
    EXPECT_EQ(ParseSlowly(text), want) << text;
    std::vector<std::string> bytes;
    for (const char c : text) bytes.emplace_back(1, c);
    EXPECT_EQ(ParseAll(bytes), want) << text;
  }
}

TEST(SseParser, DispatchesAtTheCrWithoutWaitingForTheLf) {
  SseParser parser;
  Collector sink;
  parser.Feed("data: a\r\n\r", sink);
  EXPECT_EQ(sink.events.size(), 1u);
  parser.Feed("\n", sink);
  parser.Feed("data: b\n\n", sink);
  EXPECT_EQ(sink.events, (Events{{"", "a"}, {"", "b"}}));
}

TEST(SseParser, AnEventWholeInOneReadIsNotCopied) {
  class Address : public SseParser::Sink {
   public:
    void OnEvent(const SseEvent& event) override { data = event.data.data(); }
    const char* data = nullptr;
  } sink;
  const std::string text = "data: abc\n\n";
  SseParser parser;
  parser.Feed(text, sink);
  EXPECT_EQ(sink.data, text.data() + 6);
}

TEST(SseParser, AnySplitGivesTheSame) {
  const char* given = std::getenv("PLIMSOLL_TEST_SEED");
  const std::uint64_t base = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
  const std::vector<std::string> atoms = {"data: ",
                                          "data:",
                                          "data",
                                          "event: error",
                                          "event",
                                          ":",
                                          " ",
                                          "\n",
                                          "\r",
                                          "\r\n",
                                          "\n\n",
                                          "\r\n\r\n",
                                          "x",
                                          "{\"a\":1}",
                                          "\xC3\xA9",
                                          "\xF0\x9F\x9A\xA2",
                                          "id: 3",
                                          "\xEF\xBB\xBF",
                                          std::string(1, '\0'),
                                          std::string(300, 'y')};
  for (std::uint64_t seed = base; seed < base + 3000; ++seed) {
    Rng rng(seed);
    std::string text;
    for (std::uint64_t n = rng.Below(40); n > 0; --n) text += atoms[rng.Below(atoms.size())];
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = rng.Below(2) == 0 ? 1 + rng.Below(3) : 1 + rng.Below(200);
      pieces.push_back(text.substr(at, n));
      at += n;
    }
    ASSERT_EQ(ParseAll(pieces), ParseSlowly(text)) << "seed " << seed;
  }
}

TEST(SseParser, AnEventBeyondTheBoundIsRefusedHoweverItComes) {
  for (const std::string& text :
       {std::string("data: ") + std::string(200, 'a') + "\n\n",
        std::string(
            "data: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\ndata: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
            "\ndata: cccccccccccccccccccccccccccccc\n\n"),
        std::string(200, 'z')}) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, text.size()}) {
      SseParser parser(100);
      Collector sink;
      bool fine = true;
      for (std::size_t at = 0; at < text.size(); at += step) {
        fine = parser.Feed(std::string_view(text).substr(at, step), sink);
      }
      EXPECT_FALSE(fine);
      EXPECT_FALSE(parser.Finish(sink));
      EXPECT_TRUE(sink.events.empty());
      parser.Reset();
      EXPECT_TRUE(parser.Feed("data: ok\n\n", sink));
      EXPECT_EQ(sink.events, (Events{{"", "ok"}}));
    }
  }
}

// A search for the next LF from every CR would make this quadratic: hours under the sanitizers.
TEST(SseParser, AReadFullOfLineEndsIsReadOnce) {
  for (const char end : {'\r', '\n'}) {
    std::string text = "data: a";
    text.append(std::size_t{1} << 20, end);
    text += "data: b";
    EXPECT_EQ(ParseAll({text}), (Events{{"", "a"}, {"", "b"}}));
  }
}

// Type, data and the line at hand together: none of them is a way around the bound.
TEST(SseParser, TheBoundHoldsForTypesAndComments) {
  const std::string sixty(60, 'x');
  for (const std::string& text :
       {fmt::format("event: {0}\ndata: {0}\n\n", sixty), fmt::format(": {0}{0}\n", sixty),
        fmt::format("data: {0}\nfoo: {0}", sixty)}) {
    SseParser parser(100);
    Collector sink;
    EXPECT_FALSE(parser.Feed(text, sink)) << text;
    EXPECT_TRUE(sink.events.empty());
  }
}

TEST(SseParser, ResetForgetsThePast) {
  SseParser parser;
  Collector sink;
  parser.Feed("event: error\ndata: half\r", sink);
  parser.Reset();
  parser.Feed("\ndata: a\n\n", sink);
  EXPECT_EQ(sink.events, (Events{{"", "a"}}));
}

}  // namespace
}  // namespace plimsoll
