#include "coordinator/report/report_model.h"

namespace plimsoll {

SweepHistory HistoryOf(const ReportModel& model) {
  SweepHistory history;
  history.reserve(model.steps.size());
  for (const ReportedStep& step : model.steps) {
    history.push_back({.sessions = step.summary.plan.sessions,
                       .verdict = step.summary.verdict,
                       .requests_in_flight = step.summary.requests_in_flight_mean});
  }
  return history;
}

void Conclude(ReportModel& model) {
  const SweepHistory history = HistoryOf(model);
  model.verdict = JudgeTarget(history, model.target);
  model.capacity = CapacityOf(history);
  std::vector<const StepSummary*> steps;
  for (const ReportedStep& step : model.steps) {
    if (!step.summary.broken_off_after) steps.push_back(&step.summary);
  }
  model.cost = CostOfRun(steps, model.capacity, model.price);
}

}  // namespace plimsoll
