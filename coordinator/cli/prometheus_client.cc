#include "coordinator/cli/prometheus_client.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/cli/fetch.h"
#include "coordinator/cli/live_client.h"
#include "coordinator/scrape/prometheus_answer.h"

namespace plimsoll {
namespace {

// A week of a busy server may take it half a minute.
constexpr Duration kPatience = 60s;
constexpr Duration kConnectPatience = 10s;
// 11,000 samples are half a megabyte.
constexpr std::size_t kBodyBytesMax = std::size_t{32} << 20;
constexpr std::size_t kSaidBytesMax = 300;
constexpr std::string_view kTokenWords =
    "name the environment variable that holds a token it takes with --bearer-env";

// Milliseconds are what the API resolves.
std::string Seconds(Duration since) {
  return fmt::format("{:.3f}", ToSeconds(since));
}

StatusOr<std::vector<GaugePoint>> Read(const Fetched& answer, const std::string& url) {
  if (answer.ended) return ParseRangeAnswer(answer.status, answer.body, url);
  const std::string why = !answer.failed.empty()
                              ? Printable(answer.failed, kSaidBytesMax)
                              : fmt::format("nothing came within {}", ShortTime(kPatience));
  return absl::UnavailableError(
      fmt::format("{} does not answer: {}; is that where Prometheus is, and may this machine "
                  "reach it?",
                  Printable(url), why));
}

}  // namespace

std::string RangeQueryUrl(const std::string& url, std::string_view query, const TimeRange& range,
                          Duration step) {
  return fmt::format("{}/api/v1/query_range?query={}&start={}&end={}&step={}", url,
                     EscapeSegment(query), Seconds(range.from.time_since_epoch()),
                     Seconds(range.to.time_since_epoch()), Seconds(step));
}

StatusOr<std::vector<GaugePoint>> ParseRangeAnswer(std::uint16_t status, std::string_view body,
                                                   const std::string& url) {
  ASSIGN_OR_RETURN(const std::vector<PrometheusSeries> all,
                   ParseSeriesAnswer(status, body, {url, kTokenWords}));
  if (all.size() > 1) {
    return absl::InvalidArgumentError(
        fmt::format("the query gives {} series, and requests in flight are one number; wrap it in "
                    "sum(…)",
                    all.size()));
  }
  std::vector<GaugePoint> points;
  if (all.empty()) return points;
  points.reserve(all.front().points.size());
  for (const PrometheusPoint& point : all.front().points) {
    points.push_back({point.at, NumberIn(point.text)});
  }
  return points;
}

StatusOr<std::vector<GaugePoint>> QueryRange(const PrometheusServer& server,
                                             const std::string& query,
                                             const std::vector<TimeRange>& parts, Duration step) {
  std::vector<GaugePoint> points;
  for (const TimeRange& part : parts) {
    HttpRequest request;
    request.url = RangeQueryUrl(server.url, query, part, step);
    request.headers.emplace_back("Accept", "application/json");
    if (!server.bearer_token.empty()) {
      request.headers.emplace_back("Authorization", "Bearer " + server.bearer_token);
    }
    request.ca_file = server.ca_file;
    request.connect_timeout = kConnectPatience;
    const Fetched answer = Fetch(std::move(request), kPatience, kBodyBytesMax);
    ASSIGN_OR_RETURN(const std::vector<GaugePoint> some, Read(answer, server.url));
    points.insert(points.end(), some.begin(), some.end());
  }
  return points;
}

}  // namespace plimsoll
