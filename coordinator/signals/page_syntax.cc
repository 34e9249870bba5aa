#include "coordinator/signals/page_syntax.h"

#include <algorithm>

#include "common/base/text.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::size_t kShownBytes = 80;

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The value of `name` among "; name=value" parameters, without quotes; empty if absent.
std::string Parameter(std::string_view parameters, std::string_view name) {
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find(';'), parameters.size());
    const std::string_view one = parameters.substr(0, end);
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    if (LowerAscii(Trimmed(one.substr(0, equals))) != name) continue;
    std::string_view value = Trimmed(one.substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return LowerAscii(value);
  }
  return {};
}

Status Refused(std::string_view type, std::string_view what) {
  return absl::UnimplementedError(fmt::format("the answer is {} ({}), not a page of metrics", what,
                                              Printable(Trimmed(type), kShownBytes)));
}

}  // namespace

StatusOr<PageKind> PageKindOf(std::string_view content_type) {
  const std::size_t semicolon = std::min(content_type.find(';'), content_type.size());
  const std::string type = LowerAscii(Trimmed(content_type.substr(0, semicolon)));
  const std::string_view parameters =
      content_type.substr(std::min(semicolon + 1, content_type.size()));
  const std::string version = Parameter(parameters, "version");
  if (type == "application/openmetrics-text") {
    // 0.0.1 is what servers called the format before it was 1.0.0.
    if (version.empty() || version == "0.0.1" || version.starts_with("1.")) {
      return PageKind{.syntax = PageSyntax::kOpenMetrics, .warning = {}};
    }
    return absl::UnimplementedError(fmt::format(
        "the page is OpenMetrics {}, only 1.0 is read; send the Accept header of this version",
        Printable(version, kShownBytes)));
  }
  if (type == "text/html" || type == "application/xhtml+xml") return Refused(content_type, "HTML");
  if (type.ends_with("/json") || type.ends_with("+json")) return Refused(content_type, "JSON");
  if (type.find("protobuf") != std::string::npos) return Refused(content_type, "protobuf");
  PageKind kind;
  if (type.empty()) {
    kind.warning = "the answer has no Content-Type; it is read as Prometheus text 0.0.4";
  } else if (type != "text/plain" ||
             !(version.empty() || version == "0.0.4" || version.starts_with("1."))) {
    kind.warning = fmt::format("the Content-Type {} is odd; it is read as Prometheus text 0.0.4",
                               Printable(Trimmed(content_type), kShownBytes));
  }
  return kind;
}

}  // namespace plimsoll
