#include "coordinator/api/eval_messages.h"

#include <cmath>

#include "common/base/text.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

double Finite(double value) {
  return std::isfinite(value) ? value : 0;
}

void Fill(const EvalCounts& counts, v1::EvalCounts* out) {
  out->set_asked(Asked(counts));
  out->set_n(counts.judged());
  out->set_passed(counts.passed());
  for (std::size_t o = 1; o < kEvalOutcomes; ++o) {
    if (counts.by_outcome[o] == 0) continue;
    v1::AttemptCount* count = out->add_outcomes();
    count->set_outcome(std::string(Name(static_cast<EvalOutcome>(o))));
    count->set_count(counts.by_outcome[o]);
  }
}

template <typename Message>
void Fill(const FaultyAnswers& faults, Message* out) {
  for (std::size_t kind = 1; kind < kToolFaults; ++kind) {
    if (faults.by_kind[kind] == 0) continue;
    v1::ToolFaultCount* count = out->add_tool_call_faults();
    count->set_fault(std::string(Name(static_cast<ToolFault>(kind))));
    count->set_answers(faults.by_kind[kind]);
  }
}

}  // namespace

void FillEvals(const EvalSummary& evals, v1::Evals* out) {
  out->set_verdict(static_cast<v1::Verdict>(evals.verdict));
  out->set_lean(static_cast<v1::Lean>(evals.lean));
  out->set_reason(ValidUtf8(evals.reason));
  Fill(evals.loaded, out->mutable_loaded());
  Fill(evals.unloaded, out->mutable_unloaded());
  if (const auto rate = PassRate(evals.loaded)) {
    out->mutable_pass_share()->set_value(*rate);
    out->mutable_pass_share()->set_low_95(Finite(evals.interval.low));
    out->mutable_pass_share()->set_high_95(Finite(evals.interval.high));
  }
  const auto unloaded = PassRate(evals.unloaded);
  if (evals.change && unloaded) {
    out->mutable_change()->set_value(PassRate(evals.loaded).value_or(0) - *unloaded);
    out->mutable_change()->set_low_95(Finite(evals.change->low));
    out->mutable_change()->set_high_95(Finite(evals.change->high));
  }
  out->set_design_effect(Finite(evals.design_effect));
  Fill(evals.faults, out);
  for (const EvalKindSummary& kind : evals.kinds) {
    v1::EvalKind* to = out->add_kinds();
    to->set_kind(ValidUtf8(kind.kind));
    Fill(kind.loaded, to->mutable_loaded());
    Fill(kind.unloaded, to->mutable_unloaded());
  }
}

void FillEvalBar(const EvalBar& bar, v1::EvalBar* out) {
  if (bar.pass_rate) out->set_pass_share(*bar.pass_rate);
  if (bar.drop) out->set_drop_share(*bar.drop);
}

void FillFaults(const FaultyAnswers& faults, v1::Fidelity* out) {
  Fill(faults, out);
}

}  // namespace plimsoll
