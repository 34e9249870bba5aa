#include "coordinator/scrape/prometheus_answer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "common/base/text.h"
#include "common/json/json.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kSaidBytesMax = 300;
// Instants that are worth asking about: 1970 to 2262.
constexpr double kSecondsMax = 9.2e9;

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

// [1700000000.5, "12"]; nothing if it is no such pair.
std::optional<PrometheusPoint> PointOf(const Json& value) {
  const bool pair = value.is_array() && value.size() == 2 && value[0].is_number() &&
                    value[1].is_string() && std::abs(value[0].get<double>()) < kSecondsMax;
  if (!pair) return std::nullopt;
  const std::int64_t ms = std::llround(value[0].get<double>() * 1e3);
  return PrometheusPoint{WallTime(FromMillis(ms)), value[1].get<std::string>()};
}

// What the server says is wrong.
Status Refused(const Json& json, const std::string& url) {
  const std::string kind = TextOf(Member(json, "errorType"));
  const std::string text = fmt::format("Prometheus at {} says: {}{}{}", Printable(url), kind,
                                       kind.empty() ? "" : ": ", TextOf(Member(json, "error")));
  return kind == "bad_data" ? absl::InvalidArgumentError(text) : absl::UnavailableError(text);
}

// `data` of an answer that is one. `json` holds what is parsed.
StatusOr<const Json*> DataOf(std::uint16_t status, std::string_view body,
                             const PrometheusAsked& asked, Json& json) {
  if (status == 401 || status == 403) {
    return absl::UnauthenticatedError(fmt::format("{} refuses us (HTTP {}): {}",
                                                  Printable(asked.url), status, asked.token_words));
  }
  json = Json::parse(body.begin(), body.end(), nullptr, false);
  const std::string verdict = TextOf(Member(json, "status"));
  if (verdict == "error") return Refused(json, asked.url);
  const Json* data = Member(json, "data");
  if (verdict != "success" || status != 200) {
    return NoPrometheus(asked.url, fmt::format("HTTP {}, and not an answer of its API", status));
  }
  if (data == nullptr) return NoPrometheus(asked.url, "its answer holds no series over time");
  return data;
}

StatusOr<PrometheusSeries> SeriesOf(const Json& json, const std::string& url) {
  PrometheusSeries series;
  if (const Json* labels = Member(json, "metric"); labels != nullptr && labels->is_object()) {
    // The library keeps an object's members sorted by name.
    for (const auto& [name, value] : labels->items()) {
      if (value.is_string()) series.labels.emplace_back(name, value.get<std::string>());
    }
  }
  const Json* values = Member(json, "values");
  if (values == nullptr || !values->is_array()) {
    return NoPrometheus(url, "a series of its answer has no values");
  }
  series.points.reserve(values->size());
  for (const Json& value : *values) {
    std::optional<PrometheusPoint> point = PointOf(value);
    if (!point.has_value()) {
      return NoPrometheus(url, "a sample of its answer is no pair of instant and value");
    }
    series.points.push_back(*std::move(point));
  }
  return series;
}

}  // namespace

double NumberIn(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || !std::isfinite(value)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return value;
}

StatusOr<std::vector<PrometheusSeries>> ParseSeriesAnswer(std::uint16_t status,
                                                          std::string_view body,
                                                          const PrometheusAsked& asked) {
  Json json;
  ASSIGN_OR_RETURN(const Json* data, DataOf(status, body, asked, json));
  const Json* result = Member(*data, "result");
  if (result == nullptr || !result->is_array() || TextOf(Member(*data, "resultType")) != "matrix") {
    return NoPrometheus(asked.url, "its answer holds no series over time");
  }
  std::vector<PrometheusSeries> all;
  all.reserve(result->size());
  for (const Json& one : *result) {
    ASSIGN_OR_RETURN(PrometheusSeries series, SeriesOf(one, asked.url));
    all.push_back(std::move(series));
  }
  return all;
}

StatusOr<WallTime> ParseTimeAnswer(std::uint16_t status, std::string_view body,
                                   const PrometheusAsked& asked) {
  Json json;
  ASSIGN_OR_RETURN(const Json* data, DataOf(status, body, asked, json));
  const Json* result = Member(*data, "result");
  const std::optional<PrometheusPoint> point = result == nullptr ? std::nullopt : PointOf(*result);
  const double seconds = point.has_value() ? NumberIn(point->text) : NumberIn("");
  if (!(std::abs(seconds) < kSecondsMax)) {
    return NoPrometheus(asked.url, "it does not say what time it is");
  }
  return WallTime(FromMillis(std::llround(seconds * 1e3)));
}

}  // namespace plimsoll
