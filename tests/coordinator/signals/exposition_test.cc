// Every form of line that servers print, and what each reads as.
#include "coordinator/signals/exposition.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The only value of a page of one line.
double Value(const std::string& line, PageSyntax syntax = PageSyntax::kText) {
  const Page page =
      PageFrom(syntax == PageSyntax::kText ? line + "\n" : line + "\n# EOF\n", syntax);
  EXPECT_EQ(page.values.size(), 1u) << line;
  return page.values.empty() ? -1 : page.values[0];
}

std::string Error(const std::string& text, PageSyntax syntax = PageSyntax::kText) {
  PageParser parser;
  const StatusOr<Page> page = parser.Parse(text, syntax);
  EXPECT_FALSE(page.ok()) << text;
  return std::string(MessageOf(page.status()));
}

TEST(Exposition, ANameIsNeverFoundByItsPrefix) {
  const Page page =
      PageFrom("vllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"capacity\"} 4.0\n");
  EXPECT_THAT(page.layout->Named("vllm:num_requests_waiting"), IsEmpty());
  EXPECT_EQ(page.layout->Named("vllm:num_requests_waiting_by_reason").size(), 1u);
  EXPECT_EQ(page.Single("vllm:num_requests_waiting_by_reason"), 4);
}

TEST(Exposition, EscapesAndACommaBehindTheLastLabel) {
  const Page page = PageFrom(R"(m{path="C:\\logs\\a",msg="say \"hi\"\nbye",} 1)"
                             "\n");
  EXPECT_EQ(page.layout->LabelOf(0, "path"), "C:\\logs\\a");
  EXPECT_EQ(page.layout->LabelOf(0, "msg"), "say \"hi\"\nbye");
  EXPECT_EQ(page.layout->TextOf(0), R"(m{msg="say \"hi\"\nbye",path="C:\\logs\\a"})");
  // Another backslash stands for itself.
  EXPECT_EQ(PageFrom("m{a=\"\\d+\"} 1\n").layout->LabelOf(0, "a"), "\\d+");
}

TEST(Exposition, WhatStandsInQuotesIsData) {
  const Page page = PageFrom(R"(m{q="a} 7 # {x=",r="b,c=\"d\""} 3)"
                             "\n");
  EXPECT_EQ(page.values[0], 3);
  EXPECT_EQ(page.layout->LabelOf(0, "q"), "a} 7 # {x=");
  EXPECT_EQ(page.layout->LabelOf(0, "r"), "b,c=\"d\"");
}

TEST(Exposition, TheBucketsEdgeStandsAnywhere) {
  const Page page = PageFrom("x_bucket{engine=\"0\",le=\"+Inf\",model_name=\"m\"} 1.234567e+06\n");
  EXPECT_EQ(page.values[0], 1'234'567);
  EXPECT_EQ(page.layout->LabelOf(0, "le"), "+Inf");
}

TEST(Exposition, Numbers) {
  EXPECT_EQ(Value("m 12"), 12);
  EXPECT_EQ(Value("m 12.0"), 12);
  EXPECT_EQ(Value("m -3.5"), -3.5);
  EXPECT_EQ(Value("m +3"), 3);
  EXPECT_EQ(Value("m 9007199254740991"), 9007199254740991.0);
  EXPECT_EQ(Value("m 123456789012345678"), 123456789012345678.0);
  EXPECT_EQ(Value("m 0.00015000000000000001"), 0.0001 * 1.5);         // Which is not 0.00015,
  EXPECT_TRUE(SameEdge(Value("m 0.00015000000000000001"), 0.00015));  // and the same edge.
  EXPECT_EQ(Value("m 1.78520000025e+09"), 1785200000.25);
  EXPECT_EQ(Value("m .5"), 0.5);
  EXPECT_EQ(Value("m 5."), 5);
  EXPECT_EQ(Value("m 0x1p-2"), 0.25);
  EXPECT_EQ(Value("m -0X1.8P1"), -3);
  EXPECT_EQ(Value("m 1e-500"), 0);
  for (const char* text : {"+Inf", "Inf", "inf", "INFINITY", "+infinity"}) {
    EXPECT_EQ(Value(std::string("m ") + text), kInfinity) << text;
  }
  EXPECT_EQ(Value("m -Inf"), -kInfinity);
  for (const char* text : {"NaN", "nan", "-nan", "+NaN", "NAN"}) {
    EXPECT_TRUE(std::isnan(Value(std::string("m ") + text))) << text;
  }
  // llama.cpp before it minded 0/0.
  EXPECT_TRUE(std::isnan(Value("llamacpp:predicted_tokens_seconds -nan")));
}

TEST(Exposition, WhatIsNoNumberIsWrong) {
  for (const char* text :
       {"1_000", "0x", "0x-1", "1e500", "-1e500", "x", "1,5", "1e", "--1", "+-1", "nanx", "nan(1)",
        "0xg", "0xinf", "0xnan", "1.5.2", "infinit", "-", "1e5_0"}) {
    EXPECT_THAT(Error(std::string("a 1\nm ") + text + "\n"), HasSubstr("line 2: the value is"))
        << text;
  }
  EXPECT_THAT(Error("m 1e500\n"), HasSubstr("too large"));
  EXPECT_THAT(Error("m \n"), HasSubstr("the value is missing"));
  EXPECT_THAT(Error("m\n"), HasSubstr("line 1"));
}

TEST(Exposition, BlanksAndTimestampsOfText) {
  const Page page = PageFrom("up\t1 \t 1700000000123\nm {a=\"1\" , b = \"2\"}  3\n  n 4  \n");
  EXPECT_THAT(page.values, ElementsAre(1, 3, 4));
  EXPECT_THAT(page.timestamps_ms, ElementsAre(1700000000123, kNoTimestamp, kNoTimestamp));
  EXPECT_EQ(page.layout->TextOf(1), "m{a=\"1\",b=\"2\"}");
  EXPECT_EQ(Value("m{a=\"1\"}5"), 5);  // Nothing is needed behind the brace.
  EXPECT_THAT(Error("up 1 1700000000.123\n"), HasSubstr("milliseconds"));
  EXPECT_THAT(Error("up 1 2 3\n"), HasSubstr("behind its timestamp"));
  EXPECT_THAT(PageFrom("up 1\n").timestamps_ms, IsEmpty());
}

TEST(Exposition, TimestampsOfOpenMetricsAreSeconds) {
  const Page page = PageFrom("up 1 1700000000.123\n# EOF\n", PageSyntax::kOpenMetrics);
  EXPECT_THAT(page.timestamps_ms, ElementsAre(1700000000123));
  EXPECT_THAT(Error("up 1 x\n# EOF\n", PageSyntax::kOpenMetrics), HasSubstr("seconds"));
}

TEST(Exposition, ExemplarsAreNoPartOfTheSample) {
  const Page page = PageFrom(
      "req_total{code=\"200\"} 17 # {trace_id=\"0af7\",le=\"x\"} 0.043 1700000000.5\n"
      "x_bucket{le=\"1\"} 3 1700000000 # {} 1\nx_bucket{le=\"2\"} 4 # {a=\"} \"} 1e-3\n# EOF\n",
      PageSyntax::kOpenMetrics);
  EXPECT_THAT(page.values, ElementsAre(17, 3, 4));
  EXPECT_EQ(page.layout->LabelOf(0, "trace_id"), "");
  EXPECT_EQ(page.layout->LabelOf(0, "le"), "");
  for (const char* wrong : {"m 1 # {a=\"1\"}", "m 1 # a 1", "m 1 # {a=1} 1", "m 1 # {a=\"1\"} x",
                            "m 1 # {a=\"1\"} 1 2 3", "m 1 #{a=\"1\"} 1"}) {
    EXPECT_THAT(Error(std::string(wrong) + "\n# EOF\n", PageSyntax::kOpenMetrics),
                HasSubstr("line 1"))
        << wrong;
  }
  EXPECT_THAT(Error("req_total 17 # {a=\"b\"} 1\n"), HasSubstr("exemplar"));
}

TEST(Exposition, AFamilyOfOpenMetricsHasItsStartBesideItsCount) {
  const Page page = PageFrom("# TYPE req counter\nreq_total 17\nreq_created 1.7e9\n# EOF",
                             PageSyntax::kOpenMetrics);
  EXPECT_EQ(page.Single("req_total"), 17);
  EXPECT_EQ(page.Single("req_created"), 1.7e9);
  EXPECT_THAT(page.layout->Named("req"), IsEmpty());
  EXPECT_EQ(page.layout->TypeOf("req"), FamilyType::kCounter);
}

TEST(Exposition, ATypeIsNotGuessedFromASuffix) {
  const Page page = PageFrom(
      "# TYPE vllm:iteration_tokens_total "
      "histogram\nvllm:iteration_tokens_total_bucket{le=\"1.0\"} "
      "0\n");
  EXPECT_EQ(page.layout->TypeOf("vllm:iteration_tokens_total"), FamilyType::kHistogram);
  EXPECT_EQ(page.layout->TypeOf("vllm:iteration_tokens"), FamilyType::kUnknown);
}

TEST(Exposition, QuotedNames) {
  const Page page =
      PageFrom(R"({"http.server.request.duration_count","error.type"="_OTHER",le="0.5"} 9)"
               "\n# TYPE \"http.server.request.duration\" histogram\n{\"a b\\\"c\"} 1\n");
  EXPECT_EQ(page.Single("http.server.request.duration_count"), 9);
  EXPECT_EQ(page.layout->LabelOf(0, "error.type"), "_OTHER");
  EXPECT_EQ(page.layout->LabelOf(0, "le"), "0.5");
  EXPECT_EQ(page.layout->TypeOf("http.server.request.duration"), FamilyType::kHistogram);
  EXPECT_EQ(page.Single("a b\"c"), 1);
  EXPECT_THAT(Error("m{\"n\"} 1\n"), HasSubstr("two names"));
  EXPECT_THAT(Error("{\"n\",\"o\"} 1\n"), HasSubstr("two names"));
  EXPECT_THAT(Error("{a=\"n\"} 1\n"), HasSubstr("no name"));
}

TEST(Exposition, AnEmptyLabelSetIsNone) {
  const Page page = PageFrom("envoy_server_uptime{} 86412\nm{a=\"\"} 1\n");
  EXPECT_EQ(page.Single("envoy_server_uptime"), 86412);
  EXPECT_EQ(page.layout->TextOf(0), "envoy_server_uptime");
  EXPECT_EQ(page.layout->TextOf(1), "m");  // An empty value is no label.
}

TEST(Exposition, CommentsAreSkipped) {
  const Page page = PageFrom(
      "# HELP m first line\\nsecond \\\\ third\n#TYPE m gauge\n#   a free comment\n#\n# EOFX\n"
      "# EOF\n\n \t \nm 1\n#\tTYPE  n\tcounter \nn 2\n");
  EXPECT_THAT(page.values, ElementsAre(1, 2));
  EXPECT_EQ(page.layout->TypeOf("m"), FamilyType::kUnknown);
  EXPECT_EQ(page.layout->TypeOf("n"), FamilyType::kCounter);
  EXPECT_THAT(Error("# TYPE m countr\nm 1\n"), HasSubstr("line 1: has the unknown type"));
  EXPECT_THAT(Error("# TYPE\nm 1\n"), HasSubstr("without a name"));
}

TEST(Exposition, ASeriesTwiceMakesThePageFaulty) {
  EXPECT_THAT(Error("a 1\nm{le=\"0.5\"} 3\nm{le=\"0.5\"} 4\n"),
              HasSubstr("line 3: has m{le=\"0.5\"}, which line 2 has too"));
  // Labels in another order are the same.
  EXPECT_THAT(Error("m{a=\"1\",b=\"2\"} 3\nm{b=\"2\",a=\"1\"} 4\n"), HasSubstr("line 1 has too"));
  EXPECT_THAT(Error("m{a=\"1\",a=\"2\"} 3\n"), HasSubstr("the label a twice"));
}

TEST(Exposition, ASummaryOfNothingIsMissing) {
  const Page page = PageFrom("# TYPE x summary\nx{quantile=\"0.9\"} NaN\nx_count 12\n");
  EXPECT_EQ(page.Single("x"), std::nullopt);
  EXPECT_EQ(page.Single("x_count"), 12);
}

TEST(Exposition, ByteOrderMarksAndCarriageReturnsAreSkipped) {
  EXPECT_EQ(PageFrom("\xef\xbb\xbfvllm:a 1\n").Single("vllm:a"), 1);
  EXPECT_THAT(PageFrom("# TYPE a gauge\r\na 1\r\nb 2\r\n").values, ElementsAre(1, 2));
  EXPECT_THAT(PageFrom("a 1\r\n# EOF\r\n", PageSyntax::kOpenMetrics).values, ElementsAre(1));
}

TEST(Exposition, ACutPageIsRejectedWhole) {
  EXPECT_THAT(Error("a 1\nb 2"), HasSubstr("line 2: has no end: the page is cut"));
  EXPECT_THAT(Error("a 1\nb{x=\"y"), HasSubstr("the page is cut"));
  EXPECT_THAT(Error("a 1\nb 2\n", PageSyntax::kOpenMetrics), HasSubstr("not # EOF"));
  EXPECT_THAT(Error("a 1\n# EOFX\n", PageSyntax::kOpenMetrics), HasSubstr("not # EOF"));
  EXPECT_THAT(Error("a 1\n# EOF\nb 1\n", PageSyntax::kOpenMetrics), HasSubstr("behind # EOF"));
}

TEST(Exposition, OpenMetricsIsStrict) {
  for (const char* wrong :
       {"a  1\n# EOF\n", "a\t1\n# EOF\n", "a 1 \n# EOF\n", "a 1  5\n# EOF\n", " a 1\n# EOF\n"}) {
    EXPECT_THAT(Error(wrong, PageSyntax::kOpenMetrics), HasSubstr("line 1")) << wrong;
  }
  EXPECT_THAT(Error("a 1\n\n# EOF\n", PageSyntax::kOpenMetrics), HasSubstr("line 2: is empty"));
  EXPECT_THAT(Error("# TYPE a counter\na_total 1\n# TYPE b gauge\nb 1\na_total{x=\"1\"} 2\n# EOF\n",
                    PageSyntax::kOpenMetrics),
              HasSubstr("line 5: comes back to the family of a_total"));
  EXPECT_THAT(Error("# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# HELP a x\n# EOF\n",
                    PageSyntax::kOpenMetrics),
              HasSubstr("line 5: comes back to the family a"));
  const Page page = PageFrom(
      "# HELP a x\n# TYPE a histogram\n# UNIT a seconds\na_bucket{le=\"1\",k=\"1\"} 1\na_count{k="
      "\"1\"} 1\na_bucket{le=\"1\",k=\"2\"} 1\na_count{k=\"2\"} 1\n# TYPE a_count_x gauge\n"
      "a_count_x 2\n# EOF\n",
      PageSyntax::kOpenMetrics);
  EXPECT_EQ(page.values.size(), 5u);
}

}  // namespace
}  // namespace plimsoll
