#include "coordinator/cli/prometheus_client.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "coordinator/cli/fetch.h"
#include "coordinator/cli/live_client.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

// A week of a busy server may take it half a minute.
constexpr Duration kPatience = 60s;
constexpr Duration kConnectPatience = 10s;
// 11,000 samples are half a megabyte.
constexpr std::size_t kBodyBytesMax = std::size_t{32} << 20;
constexpr std::size_t kSaidBytesMax = 300;
// Instants that are worth asking about: 1970 to 2262.
constexpr double kSecondsMax = 9.2e9;

// Milliseconds are what the API resolves.
std::string Seconds(Duration since) {
  return fmt::format("{:.3f}", ToSeconds(since));
}

Status NoPrometheus(const std::string& url, std::string_view what) {
  return absl::UnavailableError(fmt::format(
      "{} is no Prometheus server: {}; give the address below which /api/v1/query_range is, as "
      "http://prometheus:9090",
      Printable(url), what));
}

// A member of an object; null if there is none.
const Json* Member(const Json& json, const char* key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

std::string TextOf(const Json* json) {
  if (json == nullptr || !json->is_string()) return {};
  return Printable(json->get_ref<const std::string&>(), kSaidBytesMax);
}

// "12.5", "NaN", "+Inf"; NaN for what is no finite number.
double ValueOf(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || !std::isfinite(value)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return value;
}

StatusOr<std::vector<GaugePoint>> PointsOf(const Json& series, const std::string& url) {
  const Json* values = Member(series, "values");
  if (values == nullptr || !values->is_array()) {
    return NoPrometheus(url, "a series of its answer has no values");
  }
  std::vector<GaugePoint> points;
  points.reserve(values->size());
  for (const Json& value : *values) {
    const bool pair = value.is_array() && value.size() == 2 && value[0].is_number() &&
                      value[1].is_string() && std::abs(value[0].get<double>()) < kSecondsMax;
    if (!pair) return NoPrometheus(url, "a sample of its answer is no pair of instant and value");
    const std::int64_t ms = std::llround(value[0].get<double>() * 1e3);
    points.push_back({WallTime(FromMillis(ms)), ValueOf(value[1].get_ref<const std::string&>())});
  }
  return points;
}

// What the server says is wrong.
Status Refused(const Json& json, const std::string& url) {
  const std::string kind = TextOf(Member(json, "errorType"));
  const std::string text = fmt::format("Prometheus at {} says: {}{}{}", Printable(url), kind,
                                       kind.empty() ? "" : ": ", TextOf(Member(json, "error")));
  return kind == "bad_data" ? absl::InvalidArgumentError(text) : absl::UnavailableError(text);
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
  if (status == 401 || status == 403) {
    return absl::UnauthenticatedError(
        fmt::format("{} refuses us (HTTP {}): name the environment variable that holds a token it "
                    "takes with --bearer-env",
                    Printable(url), status));
  }
  const Json json = Json::parse(body.begin(), body.end(), nullptr, false);
  const std::string verdict = TextOf(Member(json, "status"));
  if (verdict == "error") return Refused(json, url);
  if (verdict != "success" || status != 200) {
    return NoPrometheus(url, fmt::format("HTTP {}, and not an answer of its API", status));
  }
  const Json* data = Member(json, "data");
  const Json* result = data == nullptr ? nullptr : Member(*data, "result");
  if (result == nullptr || !result->is_array() || TextOf(Member(*data, "resultType")) != "matrix") {
    return NoPrometheus(url, "its answer holds no series over time");
  }
  if (result->size() > 1) {
    return absl::InvalidArgumentError(
        fmt::format("the query gives {} series, and requests in flight are one number; wrap it in "
                    "sum(…)",
                    result->size()));
  }
  if (result->empty()) return std::vector<GaugePoint>{};
  return PointsOf(result->front(), url);
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
