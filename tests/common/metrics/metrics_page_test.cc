#include "common/metrics/metrics_page.h"

#include "gtest/gtest.h"
#include "tests/common/metrics/page_reader.h"

namespace plimsoll {
namespace {

using testing::ReadMetrics;

TEST(MetricsPage, SaysWhatASeriesIsAndItsSamples) {
  const auto read = ReadMetrics(
      MetricsPage({{"a_seconds", "How long.", MetricKind::kGauge, {{{{"x", "1"}}, 0.25}}},
                   {"b_total", "How many.", MetricKind::kCounter, {{{}, 1e12}}}}));
  EXPECT_EQ(read.help.at("a_seconds"), "How long.");
  EXPECT_EQ(read.type.at("a_seconds"), "gauge");
  EXPECT_EQ(read.type.at("b_total"), "counter");
  EXPECT_EQ(read.samples.at("a_seconds{x=\"1\"}"), 0.25);
  EXPECT_EQ(read.samples.at("b_total"), 1e12);
}

TEST(MetricsPage, LabelsCannotBreakThePage) {
  const auto read =
      ReadMetrics(MetricsPage({{"a", "A.", MetricKind::kGauge, {{{{"n", "q\"b\\c\nd\xff"}}, 1}}}}));
  ASSERT_EQ(read.samples.size(), 1u);
  EXPECT_EQ(read.samples.begin()->first, "a{n=\"q\\\"b\\\\c\\nd\xEF\xBF\xBD\"}");
}

TEST(MetricsPage, LeavesOutWhatHasNoSamplesOrABadName) {
  EXPECT_EQ(MetricsPage({{"a", "A.", MetricKind::kGauge, {}},
                         {"1 b", "B.", MetricKind::kGauge, {{{}, 1}}},
                         {"c", "C.", MetricKind::kGauge, {{{{"no-label", "x"}}, 1}}}}),
            "");
}

}  // namespace
}  // namespace plimsoll
