// What travels from the scraper to the run: what every target's pages said over a time. Pure.
//
// A sample is there for every exchange with a target, also for one that failed: then it is not
// readable() and its status says why. So a target that is down is a series of samples that cannot
// be read, never an empty one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/signals/mapping.h"
#include "coordinator/signals/target_sample.h"

namespace plimsoll {

// The sources' names, as scenarios have them and TargetSeries::source.
inline constexpr std::string_view kEnginesSource = "engines";
inline constexpr std::string_view kGatewaySource = "gateway";
inline constexpr std::string_view kProductionSource = "production";

struct TargetSeries {
  std::string source;  // One of the three above.
  std::string name;    // Of the target, unique within its source: "engine-0:8000".
  // Ascending in time. Empty: it has not been asked yet.
  std::vector<TargetSample> samples;
  std::shared_ptr<const Mapping> mapping;  // Never null.
};

struct SignalHistory {
  // Every target of the scenario, in its order, those of one source together; a Prometheus server's
  // targets as they became known.
  std::vector<TargetSeries> targets;
};

}  // namespace plimsoll
