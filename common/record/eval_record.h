// The record of one eval that was asked: which case, when, and how its answer was judged. A type of
// its own, beside the records of the load's calls, so that nothing that counts those can count it.
#pragma once

#include <cstdint>

#include "common/record/call_record.h"
#include "common/record/eval_outcome.h"
#include "common/record/tool_fault.h"

namespace plimsoll {

// Step of the evals that are asked before the first one: the mini run.
inline constexpr std::uint32_t kEvalMiniRun = 0xFFFFFFFFu;

struct EvalRecord {
  std::uint32_t step = 0;              // As of a call: that of its release; or kEvalMiniRun.
  std::uint32_t lane = 0;              // Whose trickle; of the mini run 0.
  std::uint32_t case_index = 0;        // Into EvalSet::cases.
  std::uint32_t turn = 0;              // As EvalTurn::repeat counts them.
  std::uint32_t block = kWarmUpBlock;  // By the instant of release; of the mini run kWarmUpBlock.
  StepNanos released = 0;  // From the step's start; of the mini run from the agent's part of it.
  StepNanos end = 0;       // Not before `released`.
  std::uint16_t http_status = 0;                   // 0: no status line came.
  Outcome call = Outcome::kClientError;            // How its call ended.
  EvalOutcome outcome = EvalOutcome::kUnanswered;  // How the answer was judged.
  ToolFaultBits tool_faults = 0;                   // Of the answer's tool calls.
  friend bool operator==(const EvalRecord&, const EvalRecord&) = default;
};

}  // namespace plimsoll
