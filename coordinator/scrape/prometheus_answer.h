// Answers of a Prometheus server's HTTP API as values, whoever asked. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"

namespace plimsoll {

struct PrometheusPoint {
  WallTime at{};     // On the server's clock, which gives milliseconds.
  std::string text;  // The value as it stands there: "12.5", "NaN", "+Inf".
};

struct PrometheusSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // __name__ too, sorted by name.
  std::vector<PrometheusPoint> points;                      // In the answer's order.
};

// Who was asked and how to give it a token, for messages.
struct PrometheusAsked {
  const std::string& url;
  std::string_view token_words;  // "name the variable that holds a token it takes with …".
};

// The series over time in an answer, none where nothing was found. Unavailable: not an answer of
// this API, or the server could not; Unauthenticated: it wants a token, or another;
// InvalidArgument: it refuses the query.
StatusOr<std::vector<PrometheusSeries>> ParseSeriesAnswer(std::uint16_t status,
                                                          std::string_view body,
                                                          const PrometheusAsked& asked);

// The answer to the query "time()": what the server's clock says. The same errors.
StatusOr<WallTime> ParseTimeAnswer(std::uint16_t status, std::string_view body,
                                   const PrometheusAsked& asked);

// A finite number; NaN for what is none.
double NumberIn(std::string_view text);

}  // namespace plimsoll
