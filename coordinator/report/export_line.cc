#include "coordinator/report/export_line.h"

#include <nlohmann/json.hpp>

#include "common/base/text.h"

namespace plimsoll {

void ExportLine::Text(std::string_view name, std::string_view value) {
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

}  // namespace plimsoll
