// Records of evals folded into counts: of the mini run, and of each step's measured time. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/plan/plan.h"
#include "common/record/eval_record.h"
#include "common/record/tally.h"
#include "coordinator/judge/eval_summary.h"
#include "coordinator/judge/evidence.h"

namespace plimsoll {

class EvalIngest {
 public:
  // `kind_of_case` are indices into `kinds`, by case of the set.
  EvalIngest(std::vector<std::string> kinds, std::vector<std::uint8_t> kind_of_case);

  // A step follows; what comes of another one is ignored from now on.
  void BeginStep(const StepPlan& plan);
  // Ignored: another step, a case that the set does not have.
  void Add(const EvalRecord& record);
  void Add(const StepTally& tally);
  // A stop ends the step here; evals that it hangs up were no answers, and are left out.
  void BreakOff() { broken_off_ = true; }

  const std::vector<std::string>& kinds() const { return kinds_; }
  const EvalEvidence& mini_run() const { return mini_run_; }
  const EvalEvidence& step() const { return step_; }
  // Asked = stored, and judged as agents say; once every agent has told of the step.
  std::vector<Identity> Identities() const;

 private:
  EvalEvidence Empty(std::size_t blocks) const;

  const std::vector<std::string> kinds_;
  const std::vector<std::uint8_t> kind_of_case_;
  EvalEvidence mini_run_;
  EvalEvidence step_;
  std::uint32_t step_number_ = kEvalMiniRun;
  bool broken_off_ = false;
  std::uint64_t tally_asked_ = 0;
  EvalCounts tally_counts_;
};

}  // namespace plimsoll
