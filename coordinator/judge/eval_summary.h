// What evals came to, as values: counted by coordinator/ingest, judged by coordinator/evals, kept
// and shown with a step. Nothing of it enters the load's numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/record/eval_outcome.h"
#include "common/record/tool_fault.h"
#include "common/stats/clopper_pearson.h"
#include "coordinator/judge/eval_traffic.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

// Of the evals that were asked in a step's measured time, or in the mini run.
struct EvalEvidence {
  std::vector<EvalCounts> blocks;  // By block of the measured time; of the mini run one.
  std::vector<EvalCounts> kinds;   // By kind of case, as the set lists them.
  FaultyAnswers faults;            // By what is wrong with their tool calls.
  EvalTraffic traffic;             // As requests.

  EvalCounts total() const {
    EvalCounts sum;
    for (const EvalCounts& block : blocks) sum.Add(block);
    return sum;
  }
  friend bool operator==(const EvalEvidence&, const EvalEvidence&) = default;
};

struct EvalKindSummary {
  std::string kind;
  EvalCounts loaded;
  EvalCounts unloaded;
  friend bool operator==(const EvalKindSummary&, const EvalKindSummary&) = default;
};

struct EvalSummary {
  Verdict verdict = Verdict::kNoData;
  Lean lean = Lean::kNone;  // Of too close.
  std::string reason;       // One line for people; never empty.
  EvalCounts loaded;        // Of the step's measured time.
  EvalCounts unloaded;      // Of the mini run.
  double design_effect = 1;
  Interval interval;               // 95%, of the pass rate under load; [0, 1] without any.
  std::optional<Interval> change;  // 95%, of loaded − unloaded; absent: not compared.
  FaultyAnswers faults;            // Of answers under load.
  FaultyAnswers faults_unloaded;
  std::vector<EvalKindSummary> kinds;  // In the set's order.
  friend bool operator==(const EvalSummary&, const EvalSummary&) = default;
};

// Passed ÷ judged; absent: none was judged.
inline std::optional<double> PassRate(const EvalCounts& counts) {
  if (counts.judged() == 0) return std::nullopt;
  return static_cast<double>(counts.passed()) / static_cast<double>(counts.judged());
}

// Asked ones, answered or not.
inline std::uint64_t Asked(const EvalCounts& counts) {
  return counts.judged() + counts.of(EvalOutcome::kUnanswered);
}

// The blocks of `more` follow those of `first`: an extension's.
inline EvalEvidence JoinEvals(EvalEvidence first, const EvalEvidence& more) {
  first.blocks.insert(first.blocks.end(), more.blocks.begin(), more.blocks.end());
  if (first.kinds.size() < more.kinds.size()) first.kinds.resize(more.kinds.size());
  for (std::size_t k = 0; k < more.kinds.size(); ++k) first.kinds[k].Add(more.kinds[k]);
  first.faults.Add(more.faults);
  first.traffic.Add(more.traffic);
  return first;
}

}  // namespace plimsoll
