// A range of a query's values from a Prometheus server's HTTP API (/api/v1/query_range).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "coordinator/planning/peak.h"

namespace plimsoll {

struct PrometheusServer {
  std::string url;  // "http://prometheus:9090", a path before /api if need be; no slash last.
  std::string bearer_token;  // Empty: none is sent.
  std::string ca_file;       // https only; empty: the system's bundle.
};

// Of a request for `query` over `range`, both of whose ends are on the grid.
std::string RangeQueryUrl(const std::string& url, std::string_view query, const TimeRange& range,
                          Duration step);

// The samples in an answer, none where the query found nothing. `url` is for the messages.
// Unavailable: not an answer of this API, or the server could not; Unauthenticated: it wants a
// token, or another; InvalidArgument: it refuses the query, or there is more than one series.
StatusOr<std::vector<GaugePoint>> ParseRangeAnswer(std::uint16_t status, std::string_view body,
                                                   const std::string& url);

// Asks part by part (SplitRange) and waits for the answers, on a loop of its own; the errors of
// ParseRangeAnswer, and Unavailable: nobody answers there, or not in time.
StatusOr<std::vector<GaugePoint>> QueryRange(const PrometheusServer& server,
                                             const std::string& query,
                                             const std::vector<TimeRange>& parts, Duration step);

}  // namespace plimsoll
