// A /metrics page: what a process shows of itself to a Prometheus server, as values, and their
// text. The fence of prometheus-cpp; served by our own HTTP server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll {

// What an HTTP answer says of the page's format.
inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

enum class MetricKind : std::uint8_t {
  kCounter,  // Only rises while the process lives; the name ends in _total.
  kGauge,
};

// One name with its samples; without any it is left out of the page.
struct MetricSeries {
  std::string name;  // "plimsoll_agent_records_queued": the unit last, base units only.
  std::string help;  // One sentence.
  MetricKind kind = MetricKind::kGauge;
  std::vector<MetricSample> samples;
};

// The page in the text format 0.0.4, in the order given. Label values that are not UTF-8 are
// mended. A name or label that the format does not allow is a fault of ours: that series is left
// out. Pure.
std::string MetricsPage(const std::vector<MetricSeries>& series);

}  // namespace plimsoll
