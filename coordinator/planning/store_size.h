// How much a run may write into its store: a bound to hold against what is free there. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "coordinator/planning/dry_plan.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

struct StoreSize {
  std::uint64_t records = 0;  // Of every attempt and eval, with the store's own copies of them.
  std::uint64_t cells = 0;    // Histograms of each lane and block.
  std::uint64_t pages = 0;    // Of metrics, as far as they are known beforehand.
  std::uint64_t aside = 0;    // The log that is written ahead, reports, what is compacted.

  std::uint64_t all() const { return records + cells + pages + aside; }
};

// Generous: retries, and steps that are extended or repeated, are in it.
StoreSize StoreSizeOf(const Scenario& scenario, const DryPlan& dry);

// "412 MB", "3.4 GB".
std::string SizeText(std::uint64_t bytes);

}  // namespace plimsoll
