// The driver's evals: the mini run asked for, records taken in, a step's evals judged.
#include <utility>

#include <fmt/format.h>

#include "common/evals/eval_set.h"
#include "coordinator/evals/eval_step.h"
#include "coordinator/run/run_driver.h"

namespace plimsoll {

std::unique_ptr<EvalIngest> RunDriver::MakeEvalIngest(const EvalSet* set) {
  if (set == nullptr) return nullptr;
  std::vector<std::uint8_t> kind_of_case;
  for (const EvalCase& one : set->cases) {
    std::uint8_t kind = 0;
    while (set->kinds[kind] != one.kind) ++kind;
    kind_of_case.push_back(kind);
  }
  return std::make_unique<EvalIngest>(set->kinds, std::move(kind_of_case));
}

void RunDriver::Do(const action::AskEvals& a) {
  const MiniRunSettings& mini = a.settings;
  deps_.say("evals without load: each case is asked before the first step");
  for (std::uint32_t slot = 0; slot < mini.askers; ++slot) {
    fleet_.Send(
        slot,
        AskEvals{.part = slot, .parts = mini.askers, .at_once = mini.at_once, .limit = mini.limit});
  }
}

// Once its last record is here.
void RunDriver::EvalsIfComplete(std::uint32_t slot) {
  SlotState& state = slots_[slot];
  if (!state.evals_asked || state.gate.accepted() < state.evals_asked->last_sequence) return;
  const EvalsAsked asked = *std::exchange(state.evals_asked, std::nullopt);
  if (asked.left > 0) {
    deps_.say(fmt::format("agent {}: {} evals of the mini run were not asked, its time was over",
                          slot, asked.left));
  }
  if (!servers_.asks()) return Feed(event::EvalsAskedBy{slot});
  // Servers' level before the run is the one without these calls.
  evals_over_.push_back(slot);
  servers_.QuietBeforeLoad([this] {
    for (const std::uint32_t over : std::exchange(evals_over_, {})) {
      Feed(event::EvalsAskedBy{over});
    }
  });
}

void RunDriver::SayMiniRun() const {
  const EvalEvidence& evals = evals_->mini_run();
  const EvalCounts counts = evals.total();
  const auto rate = PassRate(counts);
  std::string text = "evals without load: ";
  text +=
      rate ? fmt::format("{} of {} right ({:.1f}%)", counts.passed(), counts.judged(), *rate * 100)
           : std::string("none was answered");
  if (counts.of(EvalOutcome::kUnanswered) > 0) {
    text += fmt::format(", {} unanswered", counts.of(EvalOutcome::kUnanswered));
  }
  const EvalSummary asked = SummarizeEvals({.pass_rate = spec_.bar.evals.pass_rate, .drop = {}},
                                           evals_->kinds(), evals, evals);
  if (asked.verdict == Verdict::kFail) {
    text = fmt::format("warning: {}; the bar asks for {:.4g}%, which it misses before any load",
                       text, *spec_.bar.evals.pass_rate * 100);
  }
  deps_.say(text);
}

void RunDriver::TakeEvals() {
  if (evals_ == nullptr) return;
  const bool extends = machine_.state().origin.kind == StepKind::kExtension;
  last_evals_ = extends ? JoinEvals(std::move(last_evals_), evals_->step()) : evals_->step();
}

// After every other part of the verdict is known.
void RunDriver::JudgeEvals(StepVerdict* verdict, RunStep* step) {
  if (evals_ == nullptr) return;
  step->summary.evals =
      SummarizeEvals(spec_.bar.evals, evals_->kinds(), last_evals_, evals_->mini_run());
  EnterVerdict(&*step->summary.evals, verdict);
  step->summary.verdict = *verdict;
}

}  // namespace plimsoll
