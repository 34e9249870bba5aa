// The driver's step at its end: judged, or broken off by a stop.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "coordinator/judge/judge_step.h"
#include "coordinator/run/run_driver.h"

namespace plimsoll {

void RunDriver::Do(const action::JudgeStep&) {
  commit_.Cancel();
  StepEvidence evidence = ingest_->Close(AgentsOfStep());
  evidence.identities.push_back({.name = "records acked = records kept by the store",
                                 .left = static_cast<std::int64_t>(records_acked_),
                                 .right = static_cast<std::int64_t>(deps_.journal.records_kept())});
  replay_facts_.Describe(&evidence.replay);
  if (wall_) {
    wall_->Look();
    evidence.suspicion.wall_moved_ns = wall_->moved().count();
  }
  const StepVerdict verdict = JudgeStep(evidence, spec_.bar);
  steps_.push_back({.summary = Summarize(evidence, verdict), .note = machine_.state().step_note});
  steps_.back().summary.suspicions = LookAt(evidence, verdict);
  const RunStep& step = steps_.back();
  if (const Status kept = deps_.journal.CloseStep(step.summary, step.note, ingest_->cells());
      !kept.ok()) {
    return FailStore(kept);
  }
  deps_.step_judged(step);
  Feed(event::StepJudged{verdict, evidence.requests_in_flight_mean});
}

std::vector<Suspicion> RunDriver::LookAt(const StepEvidence& evidence, const StepVerdict& verdict) {
  std::vector<Suspicion> found =
      SuspicionsOf(evidence, verdict.is_void, {.others = figures_, .server = std::nullopt});
  figures_.push_back(FiguresOf(evidence, verdict.is_void));
  return found;
}

void RunDriver::Do(const action::BreakOffStep&) {
  commit_.Cancel();
  ingest_->BreakOff();
  const StepPlan& plan = machine_.state().step;
  const MonoTime now = deps_.scheduler.Now();
  const MonoTime from = times_.step_start.value_or(now) + plan.warm_up;
  broken_off_ = std::clamp<Duration>(now - from, Duration{0}, plan.measure);
}

// Once nothing of it will come any more. A journal that takes it no longer has said so, or says so
// by the missing step.
void RunDriver::KeepBrokenOffStep() {
  if (!broken_off_.has_value()) return;
  std::vector<AgentEvidence> agents = AgentsOfStep();
  for (AgentEvidence& agent : agents) agent.lost = slots_[agent.slot].lost;
  StepEvidence evidence = ingest_->SoFar(std::move(agents));
  replay_facts_.Describe(&evidence.replay);
  RunStep step{.summary = SummarizeBrokenOff(evidence, spec_.bar, *broken_off_),
               .note = machine_.state().step_note};
  if (ingest_->hung_up() > 0) {
    if (!step.note.empty()) step.note += "; ";
    step.note +=
        fmt::format("{} calls were hung up by the stop and are not counted", ingest_->hung_up());
  }
  steps_.push_back(std::move(step));
  if (store_failed_) return;
  const RunStep& kept = steps_.back();
  if (const Status status = deps_.journal.CloseStep(kept.summary, kept.note, ingest_->cells());
      !status.ok()) {
    deps_.say(fmt::format("the interrupted step was not kept: {}", MessageOf(status)));
  }
}

std::vector<AgentEvidence> RunDriver::AgentsOfStep() const {
  std::vector<AgentEvidence> agents;
  // A loss ends the step before the others have closed it, and they are not to blame. Without one,
  // whoever has not closed it in time counts as lost.
  const bool any_lost =
      std::any_of(slots_.begin(), slots_.end(), [](const SlotState& s) { return s.lost; });
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    AgentEvidence agent;
    agent.slot = slot;
    agent.name = fleet_.hello(slot).name;
    agent.lanes = static_cast<std::uint32_t>(
        std::count_if(lanes_.begin(), lanes_.end(),
                      [&](const LaneSpec& lane) { return lane.agent_slot == slot; }));
    const std::optional<StepTally>& tally = slots_[slot].tally;
    agent.lost = any_lost ? slots_[slot].lost : !tally.has_value();
    agent.no_tally = !tally.has_value();
    if (tally.has_value()) {
      agent.attempts = tally->attempts_released;
      agent.skew_ns = std::abs(tally->start_error_ns) + slots_[slot].clock_uncertainty.count();
      agent.lateness_p99_ns = tally->lateness_p99_ns;
      agent.lateness_max_ns = tally->lateness_max_ns;
      agent.loop_lag_max_ns = tally->loop_lag_max_ns;
      agent.loop_stalled_ns = tally->loop_stalled_ns;
      agent.wall_moved_ns = tally->wall_moved_ns;
      agent.cpu_share_max = tally->cpu_share_max;
      agent.records_lost = tally->records_lost;
    }
    agents.push_back(std::move(agent));
  }
  return agents;
}

}  // namespace plimsoll
