#include "coordinator/report/eval_rows.h"

#include <fmt/format.h>

namespace plimsoll {

void EvalFields(const std::optional<EvalSummary>& evals, Line& line) {
  const bool there = evals.has_value();
  const EvalSummary e = evals.value_or(EvalSummary{});
  const bool any = there && e.loaded.judged() > 0;
  const auto real = [&line](const char* name, bool known, std::optional<double> value) {
    line.Real(name, known ? value : std::nullopt);
  };
  there ? line.Text("evals_verdict", Name(e.verdict)) : line.Absent("evals_verdict");
  line.Text("evals_reason", there ? e.reason : "");
  there ? line.Count("evals_asked", Asked(e.loaded)) : line.Absent("evals_asked");
  there ? line.Count("evals_n", e.loaded.judged()) : line.Absent("evals_n");
  real("evals_pass_share", any, PassRate(e.loaded));
  real("evals_pass_share_low_95", any, e.interval.low);
  real("evals_pass_share_high_95", any, e.interval.high);
  there ? line.Count("evals_unloaded_n", e.unloaded.judged()) : line.Absent("evals_unloaded_n");
  real("evals_unloaded_pass_share", there, PassRate(e.unloaded));
  real("evals_change_low_95", e.change.has_value(), e.change.value_or(Interval{}).low);
  real("evals_change_high_95", e.change.has_value(), e.change.value_or(Interval{}).high);
  for (std::size_t o = 1; o < kEvalOutcomes; ++o) {
    const std::string name = fmt::format("evals_{}", Name(static_cast<EvalOutcome>(o)));
    there ? line.Count(name, e.loaded.by_outcome[o]) : line.Absent(name);
  }
}

void ToolFaultFields(const FaultyAnswers& faults, Line& line) {
  for (std::size_t kind = 1; kind < kToolFaults; ++kind) {
    line.Count(fmt::format("tool_call_{}", Name(static_cast<ToolFault>(kind))),
               faults.by_kind[kind]);
  }
}

std::string FaultNames(ToolFaultBits faults) {
  std::string names;
  for (std::size_t kind = 1; kind < kToolFaults; ++kind) {
    if ((faults >> kind & 1) == 0) continue;
    names += fmt::format("{}{}", names.empty() ? "" : " ", Name(static_cast<ToolFault>(kind)));
  }
  return names;
}

void AppendEvalLine(LineKind kind, const keys::BatchKey& batch, const EvalRecord& eval,
                    std::string* out) {
  Line line(kind, out);
  const bool mini = eval.step == kEvalMiniRun;
  const bool measured = eval.block != kWarmUpBlock && eval.block != kCoolDownBlock;
  line.Count("agent_slot", batch.agent_slot);
  // Beyond what a double holds, so a text where that matters.
  line.Text("incarnation", fmt::format("{}", batch.incarnation));
  line.Count("sequence", batch.sequence);
  mini ? line.Absent("step") : line.Count("step", eval.step);
  mini ? line.Absent("lane") : line.Count("lane", eval.lane);
  line.Count("case", eval.case_index);
  line.Count("turn", eval.turn);
  line.Text("released_in", mini                           ? "mini_run"
                           : measured                     ? "measured"
                           : eval.block == kCoolDownBlock ? "cool_down"
                                                          : "warm_up");
  measured ? line.Count("block", eval.block) : line.Absent("block");
  line.Count("released_ns", eval.released);
  line.Count("end_ns", eval.end);
  eval.http_status == 0 ? line.Absent("http_status") : line.Count("http_status", eval.http_status);
  line.Text("call_outcome", Name(eval.call));
  line.Text("outcome", Name(eval.outcome));
  line.Text("tool_call_faults", FaultNames(eval.tool_faults));
  line.End();
}

}  // namespace plimsoll
