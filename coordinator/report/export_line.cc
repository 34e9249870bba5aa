#include "coordinator/report/export_line.h"

#include <cmath>

#include "common/base/text.h"
#include "common/json/json.h"

namespace plimsoll {

void Line::Real(std::string_view name, std::optional<double> value) {
  if (!value.has_value() || !std::isfinite(*value)) return Absent(name);
  if (Begin(name)) fmt::format_to(std::back_inserter(*out_), "{}", *value);
}

void Line::SecondsAsNanos(std::string_view name, std::optional<double> seconds) {
  if (!seconds.has_value() || !std::isfinite(*seconds) || std::abs(*seconds) > 1e9) {
    return Absent(name);
  }
  Count(name, FromSeconds(*seconds).count());
}

void Line::Text(std::string_view name, std::string_view value) {
  if (!Begin(name)) return;
  if (kind_ == LineKind::kJson) {
    *out_ += nlohmann::json(ValidUtf8(value)).dump();
  } else if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
    *out_ += value;
  } else {
    *out_ += '"';
    for (const char c : value) *out_ += c == '"' ? std::string("\"\"") : std::string(1, c);
    *out_ += '"';
  }
}

bool Line::Begin(std::string_view name) {
  if (!first_) *out_ += ',';
  first_ = false;
  if (kind_ == LineKind::kCsv) return true;
  if (kind_ == LineKind::kCsvHeader) {
    *out_ += name;
    return false;
  }
  fmt::format_to(std::back_inserter(*out_), "\"{}\":", name);
  return true;
}

}  // namespace plimsoll
