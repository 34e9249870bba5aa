#include "gateway/metrics/page_writer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

// As prometheus_client prints: whole numbers keep their ".0", from a million on with an exponent.
std::string PythonNumber(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  const std::size_t dot = text.find('.');
  if (value <= 0 || dot == std::string::npos || dot <= 6) return text;
  std::string mantissa = text.substr(0, 1) + "." + text.substr(1, dot - 1) + text.substr(dot + 1);
  mantissa.erase(mantissa.find_last_not_of("0.") + 1);
  return fmt::format("{}e+{:02}", mantissa, dot - 1);
}

// As Go's %g with the fewest digits: an exponent from a million on.
std::string GoNumber(double value) {
  const double size = std::abs(value);
  if (size != 0 && (size >= 1e6 || size < 1e-4)) {
    // The fewest digits that give the same number back.
    for (int digits = 0; digits < 17; ++digits) {
      std::string text = fmt::format("{:.{}e}", value, digits);
      if (std::stod(text) == value) return text;
    }
  }
  return fmt::format("{}", value);
}

std::string PlainNumber(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

std::string LabelValue(std::string_view text) {
  std::string value;
  for (const char c : ValidUtf8(text)) {
    if (c == '"' || c == '\\') value += '\\';
    value += c == '\n' ? "\\n" : std::string(1, c);
  }
  return value;
}

}  // namespace

void PageWriter::Family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  hidden_ =
      std::find(options_.without.begin(), options_.without.end(), name) != options_.without.end();
  if (hidden_) return;
  constexpr std::string_view kTotal = "_total";
  if (options_.open_metrics && type == "counter" && name.ends_with(kTotal)) {
    name.remove_suffix(kTotal.size());
  }
  if (options_.dialect != PageDialect::kEnvoy) page_ += fmt::format("# HELP {} {}\n", name, help);
  page_ += fmt::format("# TYPE {} {}\n", name, type);
}

std::string PageWriter::Number(double value) const {
  switch (options_.dialect) {
    case PageDialect::kGo:
      return GoNumber(value);
    case PageDialect::kEnvoy:
      return PlainNumber(value);
    case PageDialect::kSixDigits:
      return fmt::format("{:g}", value);
    case PageDialect::kPython:
    case PageDialect::kPythonMultiprocess:
      break;
  }
  return PythonNumber(value);
}

// `le` is empty outside of buckets.
std::string PageWriter::LabelText(const MetricLabels& labels, std::string_view le) const {
  const bool last = options_.dialect == PageDialect::kGo || options_.dialect == PageDialect::kEnvoy;
  std::string text;
  bool placed = le.empty();
  const auto add = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "{" : ",", name, value);
  };
  for (const auto& [name, value] : labels) {
    if (!placed && !last && name > "le") {
      add("le", le);
      placed = true;
    }
    add(name, LabelValue(value));
  }
  if (!placed) add("le", le);
  if (text.empty()) return options_.dialect == PageDialect::kEnvoy ? "{}" : "";
  return text + "}";
}

void PageWriter::Sample(const MetricLabels& labels, double value) {
  if (hidden_) return;
  page_ += fmt::format("{}{} {}\n", name_, LabelText(labels, ""), Number(value));
}

void PageWriter::Histogram(const MetricLabels& labels, const MetricHistogram& histogram) {
  if (hidden_) return;
  const std::string own = LabelText(labels, "");
  const std::string sum = fmt::format("{}_sum{} {}\n", name_, own, Number(histogram.sum()));
  if (options_.dialect == PageDialect::kPythonMultiprocess) page_ += sum;
  std::uint64_t under = 0;
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    under += histogram.counts()[i];
    const std::string edge = i < histogram.bounds().size() ? Number(histogram.bounds()[i]) : "+Inf";
    page_ += fmt::format("{}_bucket{} {}\n", name_, LabelText(labels, edge),
                         Number(static_cast<double>(under)));
  }
  const std::string count =
      fmt::format("{}_count{} {}\n", name_, own, Number(static_cast<double>(under)));
  switch (options_.dialect) {
    case PageDialect::kPython:
      page_ += count + sum;
      break;
    case PageDialect::kPythonMultiprocess:
      page_ += count;
      break;
    default:
      page_ += sum + count;
  }
}

void PageWriter::Single(std::string_view name, std::string_view type, std::string_view help,
                        const MetricLabels& labels, double value) {
  Family(name, type, help);
  Sample(labels, value);
}

std::string PageWriter::Finish() {
  if (options_.open_metrics) page_ += "# EOF\n";
  return std::exchange(page_, {});
}

std::string CutInTheMiddle(std::string_view page) {
  std::size_t end = page.size() / 2;
  // Not at a line's end, where the rest would read as a whole page.
  while (end > 0 && (page[end - 1] == '\n' || (end < page.size() && page[end] == '\n'))) --end;
  return std::string(page.substr(0, end));
}

}  // namespace plimsoll
