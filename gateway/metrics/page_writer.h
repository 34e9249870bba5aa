// Writes a page of metrics as a real server's client library does: text 0.0.4 or OpenMetrics, with
// that library's numbers, order of labels and order of a histogram's lines. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/metrics/metric_histogram.h"

namespace plimsoll {

enum class PageDialect : std::uint8_t {
  kPython,              // prometheus_client: 12.0, 1.5e+06, le among the labels by the alphabet.
  kPythonMultiprocess,  // The same with a histogram's sum first.
  kGo,                  // OpenTelemetry's exporter: 12, 1.048576e+06, le last.
  kEnvoy,               // Plain decimals, no HELP.
  kSixDigits,           // A C++ stream's default: 1.21956e+06.
};

struct PageOptions {
  PageDialect dialect = PageDialect::kPython;
  bool open_metrics = false;
  // Families that are left out: names as on the page, of histograms without _bucket.
  std::span<const std::string> without;
};

using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

class PageWriter {
 public:
  explicit PageWriter(const PageOptions& options) : options_(options) {}

  // Begins a family; what follows is of it. A counter's name ends in _total where its server's
  // does.
  void Family(std::string_view name, std::string_view type, std::string_view help);
  // A sample with the family's name. `labels` are sorted by name.
  void Sample(const MetricLabels& labels, double value);
  void Histogram(const MetricLabels& labels, const MetricHistogram& histogram);
  // A family of one sample.
  void Single(std::string_view name, std::string_view type, std::string_view help,
              const MetricLabels& labels, double value);

  // The page; the writer is empty afterwards.
  std::string Finish();

 private:
  std::string Number(double value) const;
  std::string LabelText(const MetricLabels& labels, std::string_view le) const;

  PageOptions options_;
  std::string name_;
  bool hidden_ = false;
  std::string page_;
};

// A page that broke off: its first half, ending in the middle of a line.
std::string CutInTheMiddle(std::string_view page);

}  // namespace plimsoll
