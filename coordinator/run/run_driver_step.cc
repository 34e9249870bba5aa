// The driver's step at its end: judged, or broken off by a stop.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/text.h"
#include "coordinator/evals/eval_step.h"
#include "coordinator/judge/join_evidence.h"
#include "coordinator/judge/judge_step.h"
#include "coordinator/judge/server_words.h"
#include "coordinator/run/run_driver.h"

namespace plimsoll {
namespace {

void AddNote(std::string& note, const std::string& more) {
  if (!note.empty()) note += "; ";
  note += more;
}

std::string EarlyWords(const EarlyFinding& finding, Duration measured, std::uint64_t hung_up) {
  return fmt::format(
      "ended early, after {} of {} blocks: {} were measured; {} calls were hung up at the end and "
      "are not counted as failed",
      finding.after_blocks, finding.of_blocks, ShortTime(measured), hung_up);
}

}  // namespace

StepEvidence RunDriver::EvidenceOfStep() {
  StepEvidence evidence = ingest_->Close(AgentsOfStep());
  evidence.identities.push_back({.name = "records acked = records kept by the store",
                                 .left = static_cast<std::int64_t>(records_acked_),
                                 .right = static_cast<std::int64_t>(deps_.journal.records_kept())});
  const bool any_lost = std::any_of(evidence.agents.begin(), evidence.agents.end(),
                                    [](const AgentEvidence& agent) { return agent.lost; });
  if (evals_ != nullptr && !any_lost) {
    for (Identity& one : evals_->Identities()) evidence.identities.push_back(std::move(one));
  }
  replay_facts_.Describe(&evidence.replay);
  if (wall_) {
    wall_->Look();
    evidence.suspicion.wall_moved_ns = wall_->moved().count();
  }
  const bool extends = machine_.state().origin.kind == StepKind::kExtension;
  if (!extends) return evidence;
  return JoinEvidence(last_evidence_, evidence);
}

void RunDriver::Do(const action::JudgeStep&) {
  commit_.Cancel();
  looks_.clear();
  StepEvidence evidence = EvidenceOfStep();
  StepVerdict verdict = JudgeStep(evidence, spec_.bar);
  if (finding_) verdict = FailedEarly(std::move(verdict), *finding_);
  judging_ = Judging{std::move(evidence), std::move(verdict), deps_.scheduler.Now()};
  // Of a step that never began there is nothing to ask about.
  if (!servers_.asks() || !times_.step_start) return FinishJudging();
  servers_.WhenAsked([this] { FinishJudging(); });
}

// Also early, where the run ends meanwhile: with the pages that there are.
void RunDriver::FinishJudging() {
  if (!judging_) return;
  const Judging judging = *std::exchange(judging_, std::nullopt);
  const StepEvidence& evidence = judging.evidence;
  StepVerdict verdict = judging.verdict;
  RunStep step{.summary = Summarize(evidence, verdict), .note = machine_.state().step_note};
  step.summary.origin = machine_.state().origin;
  TakeEvals();
  std::optional<ServerCounts> counts;
  if (servers_.asks() && times_.step_start) {
    StepPlan plan = machine_.state().step;
    if (step.summary.origin.failed_early_after) plan.measure = step.summary.origin.measured;
    ServerJudgement judged =
        servers_.Judge(*times_.step_start, plan, step.summary.origin.kind == StepKind::kExtension,
                       judging.ended, verdict, LoadOf(evidence, verdict, last_evals_.traffic));
    verdict = step.summary.verdict = std::move(judged.verdict);
    step.summary.server = std::move(judged.summary);
    counts = judged.counts;
  }
  step.summary.suspicions = LookAt(evidence, verdict, counts);
  JudgeEvals(&verdict, &step);
  if (finding_) {
    step.summary.plan.measure = spec_.settings.step.measure;  // As planned; origin says the rest.
    AddNote(step.note, EarlyWords(*finding_, evidence.plan.measure, ingest_->hung_up()));
  }
  last_evidence_ = evidence;
  steps_.push_back(std::move(step));
  const RunStep& kept = steps_.back();
  if (const Status stored = deps_.journal.CloseStep(kept.summary, kept.note, ingest_->cells());
      !stored.ok()) {
    return FailStore(stored);
  }
  deps_.step_judged(kept);
  Feed(event::StepJudged{
      verdict, evidence.requests_in_flight_mean, deps_.scheduler.Now() - *steps_from_,
      kept.summary.server ? kept.summary.server->ends_sweep : SweepEvent::kNone});
}

void RunDriver::Do(const action::AwaitBack&) {
  times_.settle_from = deps_.scheduler.Now();
  servers_.AwaitBack([this] { Feed(event::DeploymentBack{}); });
}

void RunDriver::SayDrain() {
  if (!servers_.drain()) return;
  const bool back = servers_.drain()->state == DrainState::kBack;
  deps_.say((back ? "" : "warning: ") + Words(*servers_.drain()));
}

// After each block from the second to the last but one.
void RunDriver::PlanLooks() {
  const MachineState& state = machine_.state();
  if (!spec_.settings.fail_early || !servers_.client_decides() || !state.look ||
      state.origin.kind == StepKind::kExtension)
    return;
  const MonoTime begin = *times_.step_start + state.step.warm_up;
  const std::uint32_t blocks = state.step.blocks();
  for (std::uint32_t done = 1; done < blocks; ++done) {
    if (ErrorSpentAt(done, blocks) <= 0) continue;
    looks_.push_back(
        deps_.scheduler.At(begin + done * state.step.block, [this, done] { Look(done); }));
  }
}

// What servers say is read at the edges of blocks too, whatever their own turn.
void RunDriver::PlanReads() {
  reads_.clear();
  if (deps_.signals == nullptr) return;
  const StepPlan& plan = machine_.state().step;
  const MonoTime begin = *times_.step_start + plan.warm_up;
  for (Duration at{0}; at <= plan.measure; at += plan.block) {
    reads_.push_back(deps_.scheduler.At(begin + at, [this] { deps_.signals->AskNow(); }));
  }
}

void RunDriver::Look(std::uint32_t done) {
  const MachineState& state = machine_.state();
  if (state.phase != RunPhase::kStep || state.judging || finding_) return;
  // As far ahead as a start, so that every agent hears of it in time.
  const MonoTime begin = *times_.step_start + state.step.warm_up;
  const Duration measure = deps_.scheduler.Now() + limits::kStartAhead - begin;
  if (measure >= state.step.measure) return;
  finding_ = LookEarly(ingest_->SoFar({}), spec_.bar, done, fleet_.calls_in_flight());
  if (!finding_) return;
  Feed(event::LookFailed{state.step.step, done, measure, finding_->failed.front().reason});
}

void RunDriver::Do(const action::EndMeasure& a) {
  if (deps_.signals != nullptr) {
    const MonoTime end = *times_.step_start + machine_.state().step.warm_up + a.measure;
    reads_.push_back(deps_.scheduler.At(end, [this] { deps_.signals->AskNow(); }));
  }
  ingest_->EndEarly(a.measure);
  fleet_.SendAll(EndMeasure{.step = machine_.state().step.step, .measure = a.measure});
}

std::vector<Suspicion> RunDriver::LookAt(const StepEvidence& evidence, const StepVerdict& verdict,
                                         const std::optional<ServerCounts>& server) {
  // Figures of another ladder are of another load, and those of a step that was cut short lack the
  // calls that were open.
  const bool other_ladder =
      !steps_.empty() && steps_.back().summary.origin.ladder != machine_.state().origin.ladder;
  if (other_ladder) figures_.clear();
  const bool partial = verdict.is_void || finding_.has_value();
  std::vector<Suspicion> found =
      SuspicionsOf(evidence, partial, {.others = figures_, .server = server});
  figures_.push_back(FiguresOf(evidence, partial));
  return found;
}

void RunDriver::Do(const action::BreakOffStep&) {
  commit_.Cancel();
  looks_.clear();
  ingest_->BreakOff();
  if (evals_ != nullptr) evals_->BreakOff();
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
  step.summary.origin = machine_.state().origin;
  if (evals_ != nullptr) {
    step.summary.evals = SummarizeEvalsSoFar(evals_->kinds(), evals_->step(), evals_->mini_run(),
                                             FirstReason(step.summary.verdict));
  }
  if (ingest_->hung_up() > 0) {
    AddNote(step.note, fmt::format("{} calls were hung up by the stop and are not counted",
                                   ingest_->hung_up()));
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
      agent.host = tally->host;
      agent.records_lost = tally->records_lost;
    }
    agents.push_back(std::move(agent));
  }
  return agents;
}

}  // namespace plimsoll
