// What Prometheus is asked, and pages put together again from its series.
#include "coordinator/scrape/prometheus_pages.h"

#include "coordinator/signals/mapping_reader.h"
#include "tests/coordinator/scrape/scrape_rig.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kUrl = "http://prom:9090";
const PrometheusAsked kAsked{kUrl, "give it one"};

TEST(PrometheusPages, AsksForEveryNameThatTheMappingMayLookAt) {
  const StatusOr<Mapping> mapping = ParseMapping(
      "kind: mine\n"
      "signals:\n"
      "  ttft: {histogram: [new_ttft, old_ttft], moves: first_token}\n"
      "  waiting: {gauge: [{name: queue, plus: [queue_b]}]}\n"
      "  kv_fill: {ratio: {of: [used], to: [size]}}\n",
      "mine.yaml");
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_THAT(SeriesNames(*mapping),
              ElementsAre("new_ttft_bucket", "new_ttft_count", "new_ttft_sum", "old_ttft_bucket",
                          "old_ttft_count", "old_ttft_sum", "process_start_time_seconds", "queue",
                          "queue_b", "size", "used"));
}

TEST(PrometheusPages, SelectorsBecomeMatchersWhoseTextIsTakenAsItIs) {
  EXPECT_EQ(PagesQuery({"a:b", "c"}, {}, 75s),
            R"({__name__=~"a:b|c|up|scrape_duration_seconds"}[75s])");
  const std::vector<LabelTest> where = {
      {.label = "job", .op = LabelTest::Op::kIn, .values = {"v.1", "w|x"}},
      {.label = "pod", .op = LabelTest::Op::kNotIn, .values = {"a\"b\\"}},
      {.label = "env", .op = LabelTest::Op::kPrefix, .values = {"st", "pr"}}};
  EXPECT_EQ(PagesQuery({"a"}, where, 1500ms),
            R"({__name__=~"a|up|scrape_duration_seconds",job=~"v\\.1|w\\|x",)"
            R"(pod!~"a\"b\\\\",env=~"(st|pr).*"}[2s])");
  EXPECT_EQ(QueryBody("{a=\"b\"}[5s]"), "query=%7Ba%3D%22b%22%7D%5B5s%5D");
}

// Two scrapes of two pods; the second pod is down at the second one.
const char* const kAnswer = R"({"status":"success","data":{"resultType":"matrix","result":[
 {"metric":{"__name__":"up","instance":"b","job":"v"},"values":[[100.5,"1"],[115.5,"0"]]},
 {"metric":{"__name__":"up","instance":"a","job":"v"},"values":[[101,"1"],[116,"1"]]},
 {"metric":{"__name__":"scrape_duration_seconds","instance":"a","job":"v"},
  "values":[[101,"0.5"],[116,"0.25"]]},
 {"metric":{"__name__":"z","instance":"a","job":"v"},"values":[[101,"1"],[116,"NaN"]]},
 {"metric":{"__name__":"a_bucket","le":"+Inf","instance":"a","q":"x\"y\\z\nw"},
  "values":[[116,"3"]]},
 {"metric":{"__name__":"z","instance":"b"},"values":[[100.5,"7"]]},
 {"metric":{"instance":"b"},"values":[[100.5,"7"]]}]}})";

TEST(PrometheusPages, SeriesOfOneTargetAndInstantAreOnePage) {
  const auto series = ParseSeriesAnswer(200, kAnswer, kAsked);
  ASSERT_TRUE(series.ok()) << series.status();
  const auto pages = PagesIn(*series, {"instance"});
  ASSERT_EQ(pages.size(), 2u);
  const std::vector<PrometheusPage>& a = pages.at("a");
  ASSERT_EQ(a.size(), 2u);
  EXPECT_EQ(a[0].at, WallTime(101s));
  EXPECT_EQ(a[0].took, 500ms);
  EXPECT_EQ(a[0].text, "z{instance=\"a\",job=\"v\"} 1\n");
  EXPECT_EQ(a[1].text,
            "a_bucket{instance=\"a\",le=\"+Inf\",q=\"x\\\"y\\\\z\\nw\"} 3\n"
            "z{instance=\"a\",job=\"v\"} NaN\n")
      << "sorted, and escaped as on a page";
  PageParser parser;
  const StatusOr<Page> page = parser.Parse(a[1].text, PageSyntax::kText);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->layout->LabelOf(0, "q"), "x\"y\\z\nw");
  const std::vector<PrometheusPage>& b = pages.at("b");
  ASSERT_EQ(b.size(), 2u);
  EXPECT_EQ(b[0].up, true);
  EXPECT_EQ(b[1].up, false);
  EXPECT_EQ(b[1].text, "");
  EXPECT_EQ(PagesIn(*series, {"job", "instance"}).count("v/a"), 1u);
  EXPECT_EQ(PagesIn(*series, {"pod"}).count(""), 1u);
}

TEST(PrometheusAnswers, SaysWhatTimeItIsThere) {
  const auto parse = [](const std::string& body) { return ParseTimeAnswer(200, body, kAsked); };
  const auto time = parse(
      R"({"status":"success","data":{"resultType":"scalar","result":[1700000000.25,"1700000000.25"]}})");
  ASSERT_TRUE(time.ok()) << time.status();
  EXPECT_EQ(*time, WallTime(1'700'000'000'250ms));
  for (const char* bad :
       {R"({"status":"success","data":{"resultType":"scalar","result":[1,"NaN"]}})",
        R"({"status":"success","data":{"result":{}}})", R"({"status":"success","data":7})",
        R"({"status":"success"})", "[]", "<html>", ""}) {
    EXPECT_FALSE(parse(bad).ok()) << bad;
  }
}

TEST(PrometheusAnswers, RefusalsAreToldApart) {
  const auto refused = ParseSeriesAnswer(403, "no", kAsked);
  EXPECT_TRUE(absl::IsUnauthenticated(refused.status()));
  EXPECT_THAT(std::string(MessageOf(refused.status())), HasSubstr("give it one"));
  const auto bad = ParseSeriesAnswer(
      400, R"({"status":"error","errorType":"bad_data","error":"parse error"})", kAsked);
  EXPECT_TRUE(absl::IsInvalidArgument(bad.status()));
  EXPECT_TRUE(absl::IsUnavailable(ParseSeriesAnswer(200, "<html>", kAsked).status()));
}

}  // namespace
}  // namespace plimsoll
