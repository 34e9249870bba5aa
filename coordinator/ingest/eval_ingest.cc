#include "coordinator/ingest/eval_ingest.h"

#include <cstdlib>
#include <utility>

namespace plimsoll {
namespace {

std::int64_t Signed(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

}  // namespace

EvalIngest::EvalIngest(std::vector<std::string> kinds, std::vector<std::uint8_t> kind_of_case)
    : kinds_(std::move(kinds)), kind_of_case_(std::move(kind_of_case)), mini_run_(Empty(1)) {}

EvalEvidence EvalIngest::Empty(std::size_t blocks) const {
  EvalEvidence empty;
  empty.blocks.resize(blocks);
  empty.kinds.resize(kinds_.size());
  return empty;
}

void EvalIngest::BeginStep(const StepPlan& plan) {
  step_number_ = plan.step;
  step_ = Empty(plan.blocks());
  broken_off_ = false;
  tally_asked_ = 0;
  tally_counts_ = {};
}

void EvalIngest::Add(const EvalRecord& record) {
  if (record.case_index >= kind_of_case_.size()) return;
  const bool mini = record.step == kEvalMiniRun;
  if (!mini && record.step != step_number_) return;
  if (!mini && broken_off_ && record.call == Outcome::kCut) return;
  EvalEvidence& to = mini ? mini_run_ : step_;
  const std::size_t block = mini ? 0 : record.block;  // Warm-up and cool-down are beyond any.
  if (block >= to.blocks.size()) return;
  to.blocks[block].Add(record.outcome);
  to.kinds[kind_of_case_[record.case_index]].Add(record.outcome);
  to.faults.Add(record.tool_faults);
  to.traffic.Add(record);
}

void EvalIngest::Add(const StepTally& tally) {
  if (tally.step != step_number_) return;
  tally_asked_ += tally.evals_asked;
  tally_counts_.Add(tally.evals);
}

std::vector<Identity> EvalIngest::Identities() const {
  const EvalCounts stored = step_.total();
  std::int64_t differing = 0;
  for (std::size_t o = 1; o < kEvalOutcomes; ++o) {
    differing += std::abs(Signed(stored.by_outcome[o]) - Signed(tally_counts_.by_outcome[o]));
  }
  return {{.name = "evals asked, as agents count = records of evals stored",
           .left = Signed(tally_asked_),
           .right = Signed(Asked(stored))},
          {.name = "evals judged otherwise by agents than by records = 0",
           .left = differing,
           .right = 0}};
}

}  // namespace plimsoll
