#include "coordinator/report/report_model.h"

#include <algorithm>

namespace plimsoll {

SweepHistory HistoryOf(const ReportModel& model) {
  SweepHistory history;
  history.reserve(model.steps.size());
  for (const ReportedStep& step : model.steps) {
    history.push_back(
        {.sessions = step.summary.plan.sessions,
         .verdict = step.summary.verdict,
         .requests_in_flight = step.summary.requests_in_flight_mean,
         .origin = step.summary.origin,
         .ended_by = step.summary.server ? step.summary.server->ends_sweep : SweepEvent::kNone});
  }
  return history;
}

void Conclude(ReportModel& model) {
  const SweepHistory all = HistoryOf(model);
  const SweepHistory history = OfLadder(all, kMixLadder);
  model.verdict = JudgeTarget(history, model.target);
  model.capacity = CapacityOf(history, StoppedBy(history));
  model.tier_ladders.clear();
  for (const StepResult& step : all) {
    const std::string& name = step.origin.ladder;
    const bool known =
        name == kMixLadder || std::any_of(model.tier_ladders.begin(), model.tier_ladders.end(),
                                          [&](const LadderResult& l) { return l.tier == name; });
    if (!known) model.tier_ladders.push_back({name, BracketOf(OfLadder(all, name))});
  }
  std::vector<const StepSummary*> steps;
  for (const ReportedStep& step : model.steps) {
    const StepSummary& s = step.summary;
    if (!s.broken_off_after && s.origin.ladder == kMixLadder) steps.push_back(&s);
  }
  model.cost = CostOfRun(steps, model.capacity, model.price);
}

}  // namespace plimsoll
