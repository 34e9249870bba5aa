// What each metric of the bar is, in one table: its names, its unit, its good side, and where its
// observations are found in cells and evidence. A further metric is a row here, and what a record
// says of it in coordinator/ingest/observation.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/judge/bar.h"
#include "coordinator/judge/cell.h"
#include "coordinator/judge/evidence.h"

namespace plimsoll {

struct MetricTraits {
  Metric metric = Metric::kTtft;
  const char* name = "";  // "end-to-end interactivity".
  const char* key = "";   // "end_to_end_interactivity": of scenarios, exports and APIs.
  const char* unit = "";  // "s", "tok/s", "share".
  // Of a verdict's reason: {q} is the percentile, {calls} "600 heavy calls", {value} "3.9 s".
  const char* sentence = "";
  bool at_most = true;  // Values at or under the limit are good; else at or above it.
  // Of calls, the rest (null for IsBadShare).
  bool needs_usage = false;  // Calls without usage have no value, so too many of them are no data.
  double per_unit = 1;       // How many of a histogram's units make one of `unit`.
  std::uint32_t CellCounts::*n = nullptr;     // Observations, those without a value included.
  Histogram Cell::*of_cell = nullptr;         // Values.
  Histogram CallEvidence::*values = nullptr;  // The same of a whole step or tier, and
  std::uint64_t CallEvidence::*valueless =
      nullptr;  // failed calls without one: the worst there is.
};

// Every metric, by number.
std::span<const MetricTraits> AllMetrics();
// Null: no metric of ours (a damaged number).
const MetricTraits* FindTraits(Metric metric);
// Of a metric of ours.
const MetricTraits& TraitsOf(Metric metric);

// "TTFT P99.5", "heavy TTFT P90", "errors", "light errors".
std::string PartName(const Limit& limit);
// "ttft_p99.5", "heavy.ttft_p90", "errors": as the scenario writes it.
std::string PartKey(const Limit& limit);
// "5.3 s", "10 tok/s", "2%".
std::string LimitText(const Limit& limit);
// The name of parts[index], as short as it is unambiguous among them: "TTFT", or "TTFT P99" beside
// another limit on TTFT.
std::string PartLabel(std::span<const Limit> limits, std::size_t index);

// The ends of the limit's own interval that are harder and easier to keep; the value without one.
double StrictEdge(const Limit& limit);
double LooseEdge(const Limit& limit);

// Index of the limit's tier among `tiers`; absent: the limit is on all calls, or on a tier that is
// not among them.
std::optional<std::uint8_t> TierOf(const Limit& limit, std::span<const std::string> tiers);

// A percentile of calls, in the metric's unit.
struct MetricValue {
  std::optional<double> value;  // Absent: none, or infinite.
  bool infinite = false;        // It fell among failed calls.
};
// What `quantile` of the calls keep: are at or under (at_most), else reach or beat. `valueless`
// further calls are the worst there is.
MetricValue ValueAt(const MetricTraits& traits, const Histogram& values, std::uint64_t valueless,
                    double quantile);

}  // namespace plimsoll
