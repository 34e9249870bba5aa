#include "common/wire/eval_codec.h"

#include <bitset>

#include "common/base/limits.h"
#include "common/evals/eval_schedule.h"
#include "common/wire/checks.h"
#include "fmt/format.h"
#include "plimsoll/v1/plan.pb.h"
#include "plimsoll/v1/records.pb.h"

namespace plimsoll::wire {
namespace {

static_assert(static_cast<int>(EvalOutcome::kUnanswered) == v1::EVAL_OUTCOME_UNANSWERED);

void ToProto(const EvalRecord& record, v1::EvalRecord* out) {
  // kEvalMiniRun is the one value that wraps to 0.
  static_assert(kEvalMiniRun + 1u == 0);
  out->set_step_plus_one(record.step + 1);
  out->set_lane(record.lane);
  out->set_case_index(record.case_index);
  out->set_turn(record.turn);
  out->set_block_code(BlockCode(record.block));
  out->set_released_ns(record.released);
  out->set_duration_ns(static_cast<std::uint64_t>(record.end) -
                       static_cast<std::uint64_t>(record.released));
  out->set_http_status(record.http_status);
  out->set_call(static_cast<v1::CallOutcome>(record.call));
  out->set_outcome(static_cast<v1::EvalOutcome>(record.outcome));
  out->set_tool_faults(record.tool_faults);
}

StatusOr<EvalRecord> FromProto(const v1::EvalRecord& in) {
  constexpr std::uint64_t kSpan = static_cast<std::uint64_t>(Duration(kSpanMax).count());
  Checks checks("EvalRecord");
  EvalRecord record;
  record.step = checks.Below(in.step_plus_one(), limits::kStepsMax + 1, "step_plus_one") - 1;
  record.lane = checks.Below(in.lane(), limits::kLanesMax, "lane");
  record.case_index = checks.Below(in.case_index(), limits::kEvalCasesMax, "case_index");
  record.turn = in.turn();
  record.block = BlockOf(in.block_code(), "block_code", &checks);
  record.released = checks.Offset(in.released_ns(), "released_ns");
  checks.Require(in.duration_ns() <= kSpan, "duration_ns", "at most 30 days");
  const std::uint32_t status = in.http_status();
  checks.Require(status == 0 || (status >= 100 && status <= 999), "http_status", "0 or 100 to 999");
  const auto call = static_cast<unsigned>(in.call());
  const auto outcome = static_cast<unsigned>(in.outcome());
  checks.Require(IsOutcome(call), "call", "a known outcome");
  checks.Require(IsEvalOutcome(outcome), "outcome", "a known outcome");
  checks.Require(AreToolFaultBits(in.tool_faults()), "tool_faults", "known bits");
  if (!checks.ok()) return checks.status();
  record.end = record.released + static_cast<std::int64_t>(in.duration_ns());
  record.http_status = static_cast<std::uint16_t>(status);
  record.call = static_cast<Outcome>(call);
  record.outcome = static_cast<EvalOutcome>(outcome);
  record.tool_faults = static_cast<ToolFaultBits>(in.tool_faults());
  return record;
}

}  // namespace

void ToProto(const EvalPlan& plan, v1::EvalPlan* out) {
  out->set_set_text(plan.set_text);
  out->set_share(plan.share);
  out->set_repeats(plan.repeats);
  out->set_deadline_ns(plan.deadline.count());
}

StatusOr<EvalPlan> FromProto(const v1::EvalPlan& in) {
  Checks checks("EvalPlan");
  EvalPlan plan;
  checks.Require(!in.set_text().empty() && in.set_text().size() <= limits::kEvalSetBytesMax,
                 "set_text", "1 byte to 4 MiB");
  checks.Require(CheckEvalShare(in.share()).ok(), "share", "0.0001 to 0.2");
  plan.repeats = checks.Between(in.repeats(), 1, kEvalRepeatsMax, "repeats");
  plan.deadline = checks.PositiveSpan(in.deadline_ns(), "deadline_ns");
  checks.Require(plan.deadline <= kEvalDeadlineMax, "deadline_ns", "at most an hour");
  if (!checks.ok()) return checks.status();
  plan.set_text = in.set_text();
  plan.share = in.share();
  return plan;
}

void WriteEvals(const std::vector<EvalRecord>& evals, v1::RecordBatch* out) {
  for (const EvalRecord& record : evals) ToProto(record, out->add_evals());
}

StatusOr<std::vector<EvalRecord>> ReadEvals(const v1::RecordBatch& in) {
  const auto size = static_cast<std::size_t>(in.evals_size());
  if (size > limits::kBatchRecordsMax) {
    return absl::InvalidArgumentError("RecordBatch.evals: must be at most 512");
  }
  std::vector<EvalRecord> evals;
  evals.reserve(size);
  for (const v1::EvalRecord& one : in.evals()) {
    auto record = FromProto(one);
    if (!record.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("{} (eval {} of {})", MessageOf(record.status()), evals.size() + 1, size));
    }
    evals.push_back(*record);
  }
  return evals;
}

void WriteEvalCounts(const EvalCounts& counts, v1::StepTally* out) {
  for (std::size_t outcome = 1; outcome < kEvalOutcomes; ++outcome) {
    if (counts.by_outcome[outcome] == 0) continue;
    v1::EvalOutcomeCount* entry = out->add_evals();
    entry->set_outcome(static_cast<v1::EvalOutcome>(outcome));
    entry->set_count(counts.by_outcome[outcome]);
  }
}

StatusOr<EvalCounts> ReadEvalCounts(const v1::StepTally& in) {
  Checks checks("StepTally");
  EvalCounts counts;
  std::bitset<kEvalOutcomes> seen;
  for (const v1::EvalOutcomeCount& entry : in.evals()) {
    const auto outcome = static_cast<unsigned>(entry.outcome());
    checks.Require(IsEvalOutcome(outcome), "evals.outcome", "a known outcome");
    if (!checks.ok()) break;
    checks.Require(!seen[outcome], "evals.outcome", "listed once");
    checks.Require(entry.count() <= kCallsOfLaneMax, "evals.count", "at most 2^40");
    seen.set(outcome);
    counts.by_outcome[outcome] = entry.count();
  }
  if (!checks.ok()) return checks.status();
  return counts;
}

}  // namespace plimsoll::wire
