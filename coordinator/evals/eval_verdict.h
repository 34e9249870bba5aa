// Does the deployment still answer correctly under load? From counts to a verdict that blocks only
// on a confident fail. Pure.
//
// Two questions, each at 97.5% one-sided confidence:
//   threshold   is the pass rate under load below what the bar asks for? Clopper and Pearson's
//               interval of the rate lies below it: a fail; at or above it: a pass
//   drop        is it lower than the unloaded rate of the same cases, by more than is tolerated?
//               the exact test of common/stats/share_difference rejects: a fail; its interval lies
//               within what is tolerated: a pass
// A fail of either is a fail. The cases of a set differ in how hard they are, and both runs ask the
// same ones: that makes the counts vary less than binomial ones do (Hoeffding 1956), so the answers
// err towards "too close". What makes them vary more is answers that go wrong together, in a bad
// minute: counts are divided by the design effect that blocks show (Kish; Korn and Graubard 1998).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/record/eval_outcome.h"
#include "common/stats/clopper_pearson.h"
#include "coordinator/judge/bar.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

// What evals under load are divided by, from their counts per block: the blocks' variance of passes
// over the binomial one, at least 1. 1 with fewer than five blocks that judged any.
double EvalDesignEffect(const std::vector<EvalCounts>& blocks);

struct EvalVerdict {
  Verdict verdict = Verdict::kNoData;
  Lean lean = Lean::kNone;  // Of too close.
  std::string reason;       // One line for people; never empty.
  EvalCounts loaded;
  EvalCounts unloaded;
  double design_effect = 1;
  std::optional<double> rate;           // Passed ÷ judged under load; absent: none was judged.
  std::optional<double> unloaded_rate;  // … in the mini run.
  Interval interval;                    // 95%, of the rate; [0, 1] without any.
  std::optional<Interval> change;       // 95%, of loaded − unloaded; absent: not compared.
  double drop_p_value = 1;              // Of the drop's test; 1 where it was not made.
  // Enters the step's verdict: eval parts do only when they confidently fail.
  bool blocks() const { return verdict == Verdict::kFail; }
};

// `loaded`: counts per block of one step's trickle. `unloaded`: the mini run's. Without a judged
// answer under load, or a bar that asks nothing, it is no data. Without an unloaded one the drop
// stays open, and a threshold that passes is too close.
EvalVerdict JudgeEvals(const EvalBar& bar, const std::vector<EvalCounts>& loaded,
                       const EvalCounts& unloaded);

// The most of `judged` answers that may pass and still be a confident fail of the threshold;
// absent: not even none. For the dry plan: how bad it must be to be seen.
std::optional<std::uint64_t> MostThatFails(std::uint64_t judged, double pass_rate);

}  // namespace plimsoll
