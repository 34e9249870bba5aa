// One run against another: the parts of CompareRuns that look at two runs. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "coordinator/report/comparison.h"

namespace plimsoll {

// A step that says something, and its place; null: there is none.
struct FoundStep {
  const ReportedStep* step = nullptr;
  std::size_t index = 0;
};
// The last one with so many sessions.
FoundStep StepWith(const ReportModel& model, std::uint32_t sessions);

// Requests that the step's sessions kept open, mean; absent: no agent told, or not a number.
std::optional<double> KnownInFlight(const StepSummary& step);

// "USD"; empty: no price.
std::string CurrencyOf(const Cost& cost);
// "3.84 USD per session-hour".
std::string PricePerHour(const Cost& cost);

// `ranked_a` is first in rank.
PairComparison ComparePair(const ComparedRun& a, const ComparedRun& b, const RankedRun& ranked_a,
                           const RankedRun& ranked_b);

}  // namespace plimsoll
