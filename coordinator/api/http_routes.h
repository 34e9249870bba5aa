// Which answer a request to the API is for. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

// The pages of docs/api.md.
enum class ApiPage : std::uint8_t {
  kRuns,     // /api/v1/runs?limit=N
  kRun,      // /api/v1/runs/ID
  kReport,   // /api/v1/runs/ID/report
  kWatch,    // /api/v1/runs/ID/watch
  kAgents,   // /api/v1/agents
  kHealth,   // /healthz
  kMetrics,  // /metrics
};

struct ApiRequest {
  ApiPage page = ApiPage::kRuns;
  std::string run;        // Of the pages of one run: its id or the beginning of it.
  std::size_t limit = 0;  // Of kRuns; 1 to kRunsLimitMax.
};

inline constexpr std::size_t kRunsLimitDefault = 50;
inline constexpr std::size_t kRunsLimitMax = 1000;
// Longer targets are refused unread: an id has at most 64 bytes.
inline constexpr std::size_t kTargetBytesMax = 2048;

// 0 means the default. InvalidArgument: more than kRunsLimitMax.
StatusOr<std::size_t> RunsLimit(std::uint64_t asked);

// NotFound: no such page, with those that are; InvalidArgument: a query that the page does not
// take; Unimplemented: a method other than GET and HEAD; OutOfRange: a target that is too long.
StatusOr<ApiRequest> ParseApiRequest(std::string_view method, std::string_view target);

// True if an Accept header asks for text before it asks for JSON.
bool WantsText(std::string_view accept);

// The HTTP status of an answer with this error.
int HttpStatusOf(const Status& status);

}  // namespace plimsoll
