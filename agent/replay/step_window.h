// One step's phases on this agent's clock, and what its measured time counts. Every attempt is
// booked in the window that was current when it was released.
#pragma once

#include <cstdint>

#include "common/plan/plan.h"
#include "common/record/call_record.h"
#include "common/record/eval_outcome.h"
#include "common/record/outcome.h"
#include "common/stats/histogram.h"

namespace plimsoll {

struct StepWindow {
  StepWindow(const StepPlan& step, MonoTime start_at)
      : plan(step),
        start(start_at),
        measure_begin(start_at + step.warm_up),
        measure_end(measure_begin + step.measure) {}

  bool Measures(MonoTime t) const { return t >= measure_begin && t < measure_end; }
  StepNanos Offset(MonoTime t) const { return (t - start).count(); }
  std::uint32_t BlockOf(MonoTime t) const {
    if (t < measure_begin) return kWarmUpBlock;
    if (t >= measure_end) return kCoolDownBlock;
    return static_cast<std::uint32_t>((t - measure_begin) / plan.block);
  }

  const StepPlan plan;
  const MonoTime start;
  const MonoTime measure_begin;
  MonoTime measure_end;  // Earlier than planned where the step was decided.

  // Of attempts released in the measured time.
  std::uint64_t attempts = 0;
  OutcomeCounts outcomes{};
  Histogram lateness_ns;
  // Calls first released in the measured time that have not come to their last attempt's end.
  std::uint64_t calls_open = 0;
  // An attempt of such a call, or an attempt released in the measured time, is still in flight.
  std::uint64_t attempts_open = 0;
  // Evals asked in the measured time, in no count above: how they were judged, and which are open.
  std::uint64_t evals_asked = 0;
  EvalCounts evals;
  std::uint64_t evals_open = 0;
  bool drained() const { return calls_open == 0 && attempts_open == 0 && evals_open == 0; }
};

}  // namespace plimsoll
