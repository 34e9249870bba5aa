// Runs of several recipes beside each other: which holds the target, which is the cheapest, and
// which of their differences the data supports. Pure; docs/statistics.md defines the numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "coordinator/judge/difference.h"
#include "coordinator/judge/sweep_policy.h"
#include "coordinator/report/report_model.h"
#include "coordinator/scenario/scenario.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

// Far more than one page holds.
inline constexpr std::size_t kRunsComparedMax = 26;

// A run as the store keeps it.
struct ComparedRun {
  RunInfo info;
  Scenario scenario;
  std::optional<KeptRecipe> recipe;  // Absent: none is kept.
  ReportModel model;
  std::vector<std::vector<CellCounts>> cells;  // As model.steps, an extension's with those of what
                                               // it extends; empty where they cannot be read.
  std::string cells_unread;                    // Why; empty: they can.
};

// A run in its rank.
struct RankedRun {
  std::string letter;  // "A" is the first.
  std::string name;
  std::string id;
  std::string started_at;
  TargetVerdict verdict;
  Capacity capacity;
  Cost cost;
  std::optional<double> error_share;         // Of the last step that held.
  std::optional<double> requests_in_flight;  // Of the last step that held.
  // Of the step that was the target's; absent: it was not run, or they are not known.
  std::optional<double> target_in_flight;
};

// The share of one limit at one number of sessions.
struct StepDifference {
  std::uint32_t sessions = 0;
  // Requests that they kept open in each run, mean; absent: not known.
  std::optional<double> in_flight_first;
  std::optional<double> in_flight_other;
  Limit limit;
  std::string label;      // "TTFT".
  std::string why_not;    // Why there is no difference; empty: there is one.
  ShareDifference share;  // First less second.
  // Of a supported one: the first run is the better one.
  bool first_better = false;
};

// The first run in rank against another.
struct PairComparison {
  std::string letter;        // Of the other; the first's is "A".
  bool paired = false;       // Lane by lane.
  std::string why_unpaired;  // Empty where they are paired.
  std::vector<StepDifference> steps;
  bool capacity_supported = false;
  std::string capacity;  // One sentence.
  bool cost_supported = false;
  std::string cost;  // One sentence.
};

struct Comparison {
  std::optional<std::uint32_t> target;  // Absent: each run's first step.
  Bar bar;                              // Of the first run in rank.
  bool has_winner = false;              // Then it is the first in rank.
  std::string winner;                   // One sentence, also why there is none.
  std::vector<RankedRun> runs;          // By rank.
  std::vector<PairComparison> pairs;    // The first with each other, by rank.
  std::vector<std::string> warnings;
  std::vector<std::string> notes;  // What no comparison of a few windows can see; never empty.
};

// What makes the runs impossible to compare, a sentence each; empty: they are comparable.
std::vector<std::string> NotComparable(const std::vector<ComparedRun>& runs);

// The target of all: `asked`, else the scenarios' common one; absent: none has one, and all begin
// with the same first step, which stands in for it. InvalidArgument: they differ.
StatusOr<std::optional<std::uint32_t>> CommonTarget(const std::vector<ComparedRun>& runs,
                                                    std::optional<std::uint32_t> asked);

// Of two to kRunsComparedMax runs. What is not comparable becomes a warning, and no difference
// between such runs is computed, nor does one of them win. A run that did not end by itself is
// warned of.
Comparison CompareRuns(const std::vector<ComparedRun>& runs, std::optional<std::uint32_t> target);

}  // namespace plimsoll
