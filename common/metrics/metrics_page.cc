#include "common/metrics/metrics_page.h"

#include <algorithm>
#include <sstream>

#include <prometheus/check_names.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

bool IsAllowed(const MetricSeries& series) {
  return prometheus::CheckMetricName(series.name) &&
         std::all_of(series.samples.begin(), series.samples.end(), [](const MetricSample& sample) {
           return std::all_of(sample.labels.begin(), sample.labels.end(), [](const auto& label) {
             return prometheus::CheckLabelName(label.first);
           });
         });
}

prometheus::MetricFamily ToFamily(const MetricSeries& series) {
  prometheus::MetricFamily family;
  family.name = series.name;
  family.help = series.help;
  const bool counter = series.kind == MetricKind::kCounter;
  family.type = counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  for (const MetricSample& sample : series.samples) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    for (const auto& [name, value] : sample.labels) {
      metric.label.push_back({.name = name, .value = ValidUtf8(value)});
    }
    (counter ? metric.counter.value : metric.gauge.value) = sample.value;
  }
  return family;
}

}  // namespace

std::string MetricsPage(const std::vector<MetricSeries>& series) {
  std::vector<prometheus::MetricFamily> families;
  for (const MetricSeries& one : series) {
    if (!one.samples.empty() && IsAllowed(one)) families.push_back(ToFamily(one));
  }
  std::ostringstream page;
  prometheus::TextSerializer().Serialize(page, families);
  return std::move(page).str();
}

}  // namespace plimsoll
