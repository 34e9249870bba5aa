#include "coordinator/api/http_routes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

constexpr std::string_view kRunsPath = "/api/v1/runs";
constexpr char kPages[] =
    "/api/v1/runs, /api/v1/runs/ID, /api/v1/runs/ID/report, /api/v1/runs/ID/watch, "
    "/api/v1/agents, /healthz and /metrics";

constexpr std::size_t kShownBytes = 80;

// A word of the request as it may stand in an error.
std::string Shown(std::string_view text) {
  return Printable(text, kShownBytes);
}

Status NoSuchPage(std::string_view path) {
  return absl::NotFoundError(fmt::format("there is no page {}; there are {}", Shown(path), kPages));
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// "%2E" and its like; nothing if it is cut or no number.
std::optional<std::string> Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

// Of the part behind "/api/v1/runs/".
StatusOr<ApiRequest> ParseRunPage(std::string_view path, std::string_view rest) {
  const std::string_view id = rest.substr(0, rest.find('/'));
  const std::string_view page = rest.substr(id.size());
  ApiRequest request{.page = ApiPage::kRun};
  if (page == "/watch") {
    request.page = ApiPage::kWatch;
  } else if (page == "/report") {
    request.page = ApiPage::kReport;
  } else if (!page.empty()) {
    return NoSuchPage(path);
  }
  std::optional<std::string> plain = Unescape(id);
  if (!plain.has_value() || plain->empty()) {
    return absl::InvalidArgumentError(
        fmt::format("'{}' is no run's id; GET {} lists them", Shown(id), kRunsPath));
  }
  request.run = *std::move(plain);
  return request;
}

StatusOr<ApiRequest> ParsePath(std::string_view path) {
  if (path == kRunsPath) return ApiRequest{.page = ApiPage::kRuns, .limit = kRunsLimitDefault};
  if (path.starts_with(kRunsPath) && path[kRunsPath.size()] == '/') {
    return ParseRunPage(path, path.substr(kRunsPath.size() + 1));
  }
  if (path == "/api/v1/agents") return ApiRequest{.page = ApiPage::kAgents};
  if (path == "/healthz") return ApiRequest{.page = ApiPage::kHealth};
  if (path == "/metrics") return ApiRequest{.page = ApiPage::kMetrics};
  return NoSuchPage(path);
}

Status ParseQuery(std::string_view query, ApiRequest* request) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::string_view name = pair.substr(0, pair.find('='));
    if (request->page != ApiPage::kRuns || name != "limit") {
      return absl::InvalidArgumentError(fmt::format(
          "the query has '{}', which this page does not take; only {} takes one, limit=N",
          Shown(name), kRunsPath));
    }
    const std::string_view value = pair.substr(std::min(pair.size(), name.size() + 1));
    std::uint64_t limit = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), limit);
    if (error != std::errc{} || end != value.data() + value.size() || limit == 0) {
      return absl::InvalidArgumentError(
          fmt::format("limit={}: must be a number from 1 to {}", Shown(value), kRunsLimitMax));
    }
    ASSIGN_OR_RETURN(request->limit, RunsLimit(limit));
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<std::size_t> RunsLimit(std::uint64_t asked) {
  if (asked == 0) return kRunsLimitDefault;
  if (asked <= kRunsLimitMax) return static_cast<std::size_t>(asked);
  return absl::InvalidArgumentError(
      fmt::format("limit={}: must be a number from 1 to {}", asked, kRunsLimitMax));
}

StatusOr<ApiRequest> ParseApiRequest(std::string_view method, std::string_view target) {
  if (target.size() > kTargetBytesMax) {
    return absl::OutOfRangeError(fmt::format(
        "the request's target has {} bytes, at most {} are read", target.size(), kTargetBytesMax));
  }
  const std::string_view path = target.substr(0, target.find('?'));
  ASSIGN_OR_RETURN(ApiRequest request, ParsePath(path));
  if (method != "GET" && method != "HEAD") {
    return absl::UnimplementedError(
        fmt::format("{} is not for this page: the API is read only, use GET", Shown(method)));
  }
  const std::string_view query = target.substr(std::min(target.size(), path.size() + 1));
  RETURN_IF_ERROR(ParseQuery(query, &request));
  return request;
}

bool WantsText(std::string_view accept) {
  const std::string lower = LowerAscii(accept);
  return lower.find("text/plain") < lower.find("application/json");
}

int HttpStatusOf(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnimplemented:
      return 405;
    case absl::StatusCode::kOutOfRange:
      return 414;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kPermissionDenied:
      return 503;  // The store, not the asker, is to blame.
    default:
      return 500;
  }
}

}  // namespace plimsoll
