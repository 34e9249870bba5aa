// Hostile pages: every bound is an error with its line. And pages that are like the last one.
#include <algorithm>

#include "coordinator/signals/exposition.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Status ErrorOf(const std::string& text, PageLimits limits = {},
               PageSyntax syntax = PageSyntax::kText) {
  PageParser parser(limits);
  const StatusOr<Page> page = parser.Parse(text, syntax);
  return page.ok() ? absl::OkStatus() : page.status();
}

std::string Words(const Status& status) {
  return std::string(MessageOf(status));
}

TEST(ExpositionLimits, EachIsAnErrorWithItsLine) {
  const PageLimits limits{.bytes_max = 400, .line_bytes_max = 60, .labels_max = 2, .series_max = 3};
  EXPECT_TRUE(ErrorOf("a{b=\"1\",c=\"2\"} 1\nb 1\nc 1\n", limits).ok());

  const Status large = ErrorOf(std::string(401, '#') + "\n", limits);
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Words(large), HasSubstr("the page is too large: 402 bytes, at most 400"));
  const Status longer = ErrorOf("a 1\n#" + std::string(60, 'x') + "\n", limits);
  EXPECT_EQ(longer.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Words(longer), HasSubstr("line 2: is too long"));
  EXPECT_THAT(Words(ErrorOf("a{b=\"1\",c=\"2\",d=\"3\"} 1\n", limits)),
              HasSubstr("line 1: has too many labels"));
  const Status many = ErrorOf("a 1\nb 1\n\nc 1\nd 1\n", limits);
  EXPECT_EQ(many.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Words(many), HasSubstr("line 5: the page has more than 3 series"));
}

TEST(ExpositionLimits, OddPagesAreSaidToBeWhatTheyAre) {
  EXPECT_THAT(Words(ErrorOf("")), HasSubstr("empty"));
  EXPECT_THAT(Words(ErrorOf(" \n\n")), HasSubstr("empty"));
  EXPECT_THAT(Words(ErrorOf("# only a comment\n")), HasSubstr("no series"));
  EXPECT_THAT(Words(ErrorOf("\n <!DOCTYPE html>\n")), HasSubstr("HTML"));
  EXPECT_THAT(Words(ErrorOf("[{\"iter\": 1}]\n")), HasSubstr("JSON"));
  EXPECT_THAT(Words(ErrorOf("{\"status\": \"ok\"}\n")), HasSubstr("line 1"));
  EXPECT_THAT(Words(ErrorOf("\x1f\x8b\x08xyz\n")), HasSubstr("compressed"));
  EXPECT_THAT(Words(ErrorOf("m{a=\"\xff\"} 1\n")),
              HasSubstr("line 1: has bytes that are no UTF-8"));
  EXPECT_THAT(Words(ErrorOf("m{__name__=\"x\"} 1\n")), HasSubstr("__name__"));
}

TEST(ExpositionLimits, DamagedSeriesAreErrorsAndNeverReadFurther) {
  for (const std::string text :
       {"m{",           "m{a",         "m{a=",       "m{a=\"", "m{a=\"\\",
        "m{a=\"\\\"",   "m{a=\"1\"",   "m{a=\"1\",", "m{,}",   "m{a=\"1\";b=\"2\"}",
        "m{a=1}",       "m{1a=\"1\"}", "m{\"a",      "{\"",    "{}",
        "m{a:b=\"1\"}", "1m",          "-",          "m}",     "\xc3\xa4"}) {
    EXPECT_THAT(Words(ErrorOf("a 1\n" + text + " 1\n")), HasSubstr("line 2")) << text;
    EXPECT_FALSE(ErrorOf("a 1\n" + text + "\n").ok()) << text;
    EXPECT_FALSE(ErrorOf("a 1\n" + text).ok()) << text;
  }
  EXPECT_THAT(Words(ErrorOf(std::string("m{a=\"\0\"} 1\nm\0 1\n", 16))), HasSubstr("line 2"));
}

TEST(ExpositionLimits, LabelsWithOddCharactersStayWhole) {
  const Page page = PageFrom("m{model_name=\"org/model name \\\"q\\\" \xc3\xa4\"} 1\n");
  EXPECT_EQ(page.layout->LabelOf(0, "model_name"), "org/model name \"q\" \xc3\xa4");
}

TEST(KnownLayout, PagesWithTheSameSeriesShareIt) {
  PageParser parser;
  const std::string head = "# HELP m x\n# TYPE m gauge\n";
  const StatusOr<Page> first =
      parser.Parse(head + "m{a=\"1\"} 1\nn 2 5\n# end\n", PageSyntax::kText);
  const StatusOr<Page> second =
      parser.Parse(head + "m{a=\"1\"} 1e3\nn NaN\n# end\n", PageSyntax::kText);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(parser.layouts(), 1u);
  EXPECT_EQ(first->layout, second->layout);
  EXPECT_EQ(second->values[0], 1000);
  EXPECT_THAT(first->timestamps_ms, ElementsAre(kNoTimestamp, 5));
  EXPECT_TRUE(second->timestamps_ms.empty());
  // A further series, a series less, other comments, another order: other layouts, read right.
  const std::pair<std::string, double> others[] = {
      {head + "m{a=\"1\"} 1\nm{a=\"2\"} 7\nn 2\n# end\n", 7},
      {head + "m{a=\"1\"} 3\n# end\n", 3},
      {head + "n 2\nm{a=\"1\"} 9\n# end\n", 9},
      {head + "m{a=\"1\"} 9\nn 2\n# end!\n", 9},
  };
  std::uint64_t layouts = 1;
  for (const auto& [text, largest] : others) {
    const StatusOr<Page> page = parser.Parse(text, PageSyntax::kText);
    ASSERT_TRUE(page.ok()) << MessageOf(page.status());
    EXPECT_EQ(*std::max_element(page->values.begin(), page->values.end()), largest);
    EXPECT_EQ(parser.layouts(), ++layouts);
  }
}

TEST(KnownLayout, WhatIsWrongIsAsWrongAsOnTheFirstPage) {
  const std::string good = "# TYPE m gauge\nm{a=\"1\"} 1\nn 2\n";
  const std::pair<std::string, std::string> wrong[] = {
      {"# TYPE m gauge\nm{a=\"1\"} 1x\nn 2\n", "line 2: the value is no number"},
      {"# TYPE m gauge\nm{a=\"1\"} 1\nn 2", "line 3: has no end"},
      {"# TYPE m gauge\nm{a=\"1\"} 1 2 3\nn 2\n", "line 2"},
      {"# TYPE m gauge\nm{a=\"1\"} 1\nn 2\nn 3\n", "line 4: has n, which line 3 has too"},
  };
  for (const auto& [text, words] : wrong) {
    PageParser parser;
    ASSERT_TRUE(parser.Parse(good, PageSyntax::kText).ok());
    const StatusOr<Page> page = parser.Parse(text, PageSyntax::kText);
    ASSERT_FALSE(page.ok()) << text;
    EXPECT_THAT(Words(page.status()), HasSubstr(words));
    EXPECT_EQ(Words(page.status()), Words(ErrorOf(text)));
    // And the next good page is read.
    EXPECT_TRUE(parser.Parse(good, PageSyntax::kText).ok());
  }
}

TEST(KnownLayout, TheSyntaxIsPartOfIt) {
  PageParser parser;
  ASSERT_TRUE(parser.Parse("m 1 5\n# EOF\n", PageSyntax::kText).ok());
  const StatusOr<Page> page = parser.Parse("m 1 5\n# EOF\n", PageSyntax::kOpenMetrics);
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(page->timestamps_ms, ElementsAre(5000));
  EXPECT_EQ(parser.layouts(), 2u);
}

TEST(KnownLayout, EverySamplePageReadsTheSameBothWays) {
  for (const char* stem : {"vllm_v1", "sglang", "llamacpp", "envoy_proxy", "envoy_ai_gateway"}) {
    PageParser parser;
    for (const char* state : {"before", "after", "drained", "after"}) {
      const std::string text = TestData(fmt::format("{}.{}.prom", stem, state));
      const StatusOr<Page> page = parser.Parse(text, PageSyntax::kText);
      ASSERT_TRUE(page.ok()) << stem << " " << MessageOf(page.status());
      const Page fresh = PageFrom(text);
      EXPECT_EQ(page->values, fresh.values) << stem;
      EXPECT_EQ(page->layout->size(),
                static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n') -
                                         (text.starts_with('#') ? 1 : 0)) -
                    static_cast<std::size_t>([&] {
                      std::size_t comments = 0;
                      for (std::size_t at = text.find("\n#"); at != std::string::npos;
                           at = text.find("\n#", at + 1)) {
                        ++comments;
                      }
                      return comments;
                    }()))
          << stem;
    }
    EXPECT_LE(parser.layouts(), 2u) << stem;  // A gateway makes its series with the first request.
  }
}

}  // namespace
}  // namespace plimsoll
