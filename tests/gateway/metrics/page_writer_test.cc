// Pages to the letter: numbers, order, escapes of each server's library.
#include "gateway/metrics/page_writer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gateway/metrics/pages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Value(PageDialect dialect, double value) {
  PageWriter writer({.dialect = dialect});
  writer.Sample({}, value);
  const std::string page = writer.Finish();
  return page.substr(page.find(' ') + 1, page.size() - page.find(' ') - 2);
}

TEST(PageWriter, PrintsNumbersAsTheRealLibrariesDo) {
  const auto python = [](double v) { return Value(PageDialect::kPython, v); };
  EXPECT_EQ(python(0), "0.0");
  EXPECT_EQ(python(12), "12.0");
  EXPECT_EQ(python(0.25), "0.25");
  EXPECT_EQ(python(999999), "999999.0");
  EXPECT_EQ(python(1000000), "1e+06");
  EXPECT_EQ(python(1234567), "1.234567e+06");
  EXPECT_EQ(python(1785200000.25), "1.78520000025e+09");
  const auto go = [](double v) { return Value(PageDialect::kGo, v); };
  EXPECT_EQ(go(0), "0");
  EXPECT_EQ(go(12), "12");
  EXPECT_EQ(go(1048576), "1.048576e+06");
  EXPECT_EQ(go(67108864), "6.7108864e+07");
  EXPECT_EQ(go(0.00001), "1e-05");
  EXPECT_EQ(go(1356.4336), "1356.4336");
  const auto plain = [](double v) { return Value(PageDialect::kEnvoy, v); };
  EXPECT_EQ(plain(3600000), "3600000");
  EXPECT_EQ(plain(0.5), "0.5");
  const auto six = [](double v) { return Value(PageDialect::kSixDigits, v); };
  EXPECT_EQ(six(1219560), "1.21956e+06");
  EXPECT_EQ(six(927.0914), "927.091");
  EXPECT_EQ(six(31165), "31165");
}

TEST(PageWriter, PutsAHistogramsLinesWhereEachLibraryHasThem) {
  constexpr double kBounds[] = {1, 2.5};
  MetricHistogram histogram(kBounds);
  histogram.Observe(1);  // An edge is part of its bucket.
  histogram.Observe(2, 2);
  histogram.Observe(9);
  const auto page = [&](PageDialect dialect) {
    PageWriter writer({.dialect = dialect});
    writer.Family("h", "histogram", "What it is.");
    writer.Histogram({{"a", "x"}, {"z", "y"}}, histogram);
    return writer.Finish();
  };
  EXPECT_EQ(page(PageDialect::kPython),
            "# HELP h What it is.\n# TYPE h histogram\n"
            "h_bucket{a=\"x\",le=\"1.0\",z=\"y\"} 1.0\nh_bucket{a=\"x\",le=\"2.5\",z=\"y\"} 3.0\n"
            "h_bucket{a=\"x\",le=\"+Inf\",z=\"y\"} 4.0\n"
            "h_count{a=\"x\",z=\"y\"} 4.0\nh_sum{a=\"x\",z=\"y\"} 14.0\n");
  EXPECT_THAT(page(PageDialect::kPythonMultiprocess),
              HasSubstr("histogram\nh_sum{a=\"x\",z=\"y\"} 14.0\nh_bucket"));
  EXPECT_THAT(page(PageDialect::kGo), HasSubstr("h_bucket{a=\"x\",z=\"y\",le=\"2.5\"} 3\n"));
  EXPECT_THAT(page(PageDialect::kEnvoy), Not(HasSubstr("HELP")));
}

TEST(PageWriter, EscapesLabelsAsTheFormatHasIt) {
  PageWriter writer({});
  writer.Single("g", "gauge", "", {{"m", "café \"x\"\\\n\xff"}}, 1);
  EXPECT_THAT(writer.Finish(), HasSubstr("m=\"café \\\"x\\\"\\\\\\n\uFFFD\""));
}

TEST(PageWriter, LeavesFamiliesOut) {
  const std::string without[] = {"a_total", "h"};
  PageWriter writer({.open_metrics = true, .without = without});
  writer.Single("a_total", "counter", "", {}, 1);
  writer.Single("b_total", "counter", "", {}, 2);
  writer.Family("h", "histogram", "");
  writer.Histogram({}, MetricHistogram({}));
  EXPECT_EQ(writer.Finish(), "# HELP b \n# TYPE b counter\nb_total 2.0\n# EOF\n");
}

TEST(PageWriter, ACutPageIsFoundOut) {
  const EngineState state{.counts = EngineCounts(BoundsOf(MetricKind::kVllm))};
  const std::string page = VllmPage({.model = "m", .copies = {&state, 1}});
  for (std::size_t drop = 0; drop < 400; drop += 7) {
    const std::string cut = CutInTheMiddle(std::string_view(page).substr(0, page.size() - drop));
    ASSERT_FALSE(cut.ends_with('\n'));
    PageParser parser;
    EXPECT_FALSE(parser.Parse(cut, PageSyntax::kText).ok()) << drop;
  }
  EXPECT_EQ(CutInTheMiddle("\n\n"), "");
}

// Names of a series' labels, and the edges of a histogram's first one.
std::vector<std::string> LabelNames(const Page& page, std::uint32_t series) {
  std::vector<std::string> names;
  for (const auto& label : page.layout->LabelsOf(series)) names.emplace_back(label.name);
  return names;
}
std::vector<double> Edges(const Page& page, std::string_view bucket_name) {
  std::vector<double> edges;
  for (const std::uint32_t series : page.layout->Named(bucket_name)) {
    const std::string le(page.layout->LabelOf(series, "le"));
    if (le == "+Inf") break;
    edges.push_back(std::stod(le));
  }
  return edges;
}

// Every series of a recorded page has one of the same name, type and labels in ours, and the same
// edges; those that are left out are the ones named.
void ExpectShapeOf(const std::string& sample, const std::string& ours,
                   const std::vector<std::string>& left_out) {
  const Page recorded = PageFrom(TestData(sample));
  const Page made = PageFrom(ours);
  for (std::uint32_t i = 0; i < recorded.layout->size(); ++i) {
    const std::string name(recorded.layout->NameOf(i));
    if (std::any_of(left_out.begin(), left_out.end(),
                    [&](const std::string& prefix) { return name.starts_with(prefix); })) {
      continue;
    }
    std::vector<std::vector<std::string>> labels;
    for (const std::uint32_t series : made.layout->Named(name)) {
      labels.push_back(LabelNames(made, series));
    }
    EXPECT_THAT(labels, Contains(LabelNames(recorded, i))) << name;
    EXPECT_EQ(made.layout->TypeOf(name), recorded.layout->TypeOf(name)) << name;
    // Those of lengths go up to max_model_len.
    if (name.ends_with("_bucket") && !name.ends_with("_tokens_bucket")) {
      EXPECT_EQ(Edges(made, name), Edges(recorded, name)) << name;
    }
  }
}

TEST(PageWriter, PagesHaveTheShapeOfRecordedOnes) {
  EngineState state{.counts = EngineCounts(BoundsOf(MetricKind::kVllm))};
  state.counts.http[2] = state.counts.http[4] = 1;
  ExpectShapeOf("vllm_v1.after.prom",
                VllmPage({.model = "m", .prefix = "/v1", .copies = {&state, 1}}),
                {"python_", "vllm:cache_config_info", "vllm:iteration_tokens_total",
                 "vllm:request_params_max_tokens"});
  const EngineState sglang{.counts = EngineCounts(BoundsOf(MetricKind::kSglang))};
  ExpectShapeOf("sglang.after.prom", SglangPage({.model = "m", .copies = {&sglang, 1}}),
                {"sglang:num_retractions", "sglang:per_stage_req_latency_seconds",
                 "sglang:num_retracted_input", "sglang:num_retracted_output"});
  ExpectShapeOf("llamacpp.after.prom", LlamaCppPage({.model = "m", .copies = {&state, 1}}), {});
  GatewayCounts counts(0s);
  for (const std::size_t i : {2u, 4u}) counts.forwarded_answers[i] = 1;
  for (MetricHistogram* h :
       {&counts.ttft, &counts.per_token, &counts.failed, &counts.succeeded, &counts.tokens_in,
        &counts.tokens_cached, &counts.tokens_created, &counts.tokens_out}) {
    h->Observe(1);
  }
  ExpectShapeOf("envoy_proxy.after.prom", EnvoyPage(counts, {.model = "m"}), {});
  ExpectShapeOf("envoy_ai_gateway.after.prom", AiGatewayPage(counts, {.model = "m"}), {});
}

}  // namespace
}  // namespace plimsoll
