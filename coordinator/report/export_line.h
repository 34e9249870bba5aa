// One line of an export, field by field. Internal to the rows of coordinator/report.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/base/time.h"
#include "common/record/call_record.h"

namespace plimsoll {

enum class LineKind : std::uint8_t { kCsvHeader, kCsv, kJson };

// One line, field by field: the same calls make the header, a CSV line and a JSON object.
class ExportLine {
 public:
  ExportLine(LineKind kind, std::string* out) : kind_(kind), out_(out) {
    if (kind_ == LineKind::kJson) *out_ += '{';
  }

  template <typename Integer>
  void Count(std::string_view name, Integer value) {
    if (Begin(name)) *out_ += fmt::format("{}", value);
  }
  // Absent as the record says it.
  void Nanos(std::string_view name, StepNanos value) {
    value == kAbsentNanos ? Absent(name) : Count(name, value);
  }
  void Tokens(std::string_view name, std::uint32_t value) {
    value == kAbsentTokens ? Absent(name) : Count(name, value);
  }
  void Known(std::string_view name, const std::optional<std::uint64_t>& value) {
    value.has_value() ? Count(name, *value) : Absent(name);
  }
  void Flag(std::string_view name, bool value) {
    if (Begin(name)) *out_ += value ? "true" : "false";
  }
  void Real(std::string_view name, std::optional<double> value) {
    if (!value.has_value() || !std::isfinite(*value)) return Absent(name);
    if (Begin(name)) *out_ += fmt::format("{}", *value);
  }
  // Seconds as whole nanoseconds.
  void SecondsAsNanos(std::string_view name, std::optional<double> seconds) {
    if (!seconds.has_value() || !std::isfinite(*seconds) || std::abs(*seconds) > 1e9) {
      return Absent(name);
    }
    Count(name, FromSeconds(*seconds).count());
  }
  void Text(std::string_view name, std::string_view value);
  void Absent(std::string_view name) {
    if (Begin(name) && kind_ == LineKind::kJson) *out_ += "null";
  }
  void End() { *out_ += kind_ == LineKind::kJson ? "}\n" : "\n"; }

 private:
  // False: the name is all there is to write.
  bool Begin(std::string_view name) {
    if (!first_) *out_ += ',';
    first_ = false;
    if (kind_ == LineKind::kCsv) return true;
    if (kind_ == LineKind::kCsvHeader) {
      *out_ += name;
      return false;
    }
    *out_ += fmt::format("\"{}\":", name);
    return true;
  }

  const LineKind kind_;
  std::string* const out_;
  bool first_ = true;
};

}  // namespace plimsoll
