#include "gateway/faults/engine_faults.h"

namespace plimsoll {

EngineFaults::EngineFaults(Scheduler& scheduler, Engine& engine, std::span<const FaultRule> rules)
    : scheduler_(scheduler), engine_(engine), start_(scheduler.Now()), set_(engine.copies()) {
  for (const FaultRule& rule : rules) {
    const bool engines = rule.kind == FaultKind::kSlower || rule.kind == FaultKind::kCacheOff ||
                         rule.kind == FaultKind::kKvFull || rule.kind == FaultKind::kStuckQueue;
    if (engines) rules_.push_back(rule);
  }
  Apply();
}

void EngineFaults::OnFirstRequest() {
  if (first_request_) return;
  first_request_ = scheduler_.Now() - start_;
  Apply();
}

void EngineFaults::Apply() {
  const FaultMoment moment = Moment();
  for (std::uint32_t copy = 0; copy < engine_.copies(); ++copy) {
    const EngineCondition condition = ConditionAt(rules_, copy, moment);
    if (condition == set_[copy]) continue;
    set_[copy] = condition;
    engine_.SetCondition(copy, condition);
  }
  next_ = Timer();
  if (const auto at = NextChange(rules_, moment)) {
    next_ = scheduler_.At(start_ + *at, [this] { Apply(); });
  }
}

}  // namespace plimsoll
