#include "coordinator/scenario/scenario.h"

namespace plimsoll {

StepPlan MakeStepPlan(const Sweep& sweep, std::uint32_t step, std::uint32_t sessions) {
  return {.step = step,
          .sessions = sessions,
          .warm_up = sweep.warm_up,
          .measure = sweep.measure,
          .block = sweep.block,
          .drain_limit = sweep.drain_limit,
          .prime_limit = sweep.prime_limit};
}

const char* BetweenStepsWord(const Sweep& sweep) {
  return sweep.drain_between_steps ? "drain" : "keep";
}

}  // namespace plimsoll
