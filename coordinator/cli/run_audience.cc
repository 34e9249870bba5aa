#include "coordinator/cli/run_audience.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "coordinator/cli/corpus_files.h"
#include "coordinator/report/junit_report.h"
#include "coordinator/report/markdown_report.h"
#include "coordinator/report/run_report.h"

namespace plimsoll {
namespace {

// How a run ended, without a step's verdict where none counts (design section 10).
std::string EndWords(const ReportModel& model) {
  constexpr int kVerdictsMax = 3;
  const bool judged = model.exit_code && *model.exit_code <= kVerdictsMax && !model.steps.empty();
  const std::string& why = judged ? model.verdict.reason : model.stopped_because;
  return fmt::format("{}: {}", judged ? Name(model.verdict.verdict) : "no verdict",
                     why.empty() ? "no reason given" : why);
}

}  // namespace

Status CheckRunFiles(const RunFiles& files) {
  for (const std::string* path : {&files.markdown, &files.junit}) {
    if (!path->empty()) RETURN_IF_ERROR(CheckWritable(*path));
  }
  return absl::OkStatus();
}

StatusOr<std::unique_ptr<RunAudience>> RunAudience::Make(
    EventLoop& loop, HttpTransport& http, const LoadedScenario& loaded, RunFiles files,
    std::function<void(const std::string&)> say) {
  ASSIGN_OR_RETURN(std::vector<Webhook> webhooks, ReadWebhooks(loaded.scenario.notify));
  return std::make_unique<RunAudience>(loop, http, loaded, std::move(files), std::move(webhooks),
                                       std::move(say));
}

RunAudience::RunAudience(EventLoop& loop, HttpTransport& http, const LoadedScenario& loaded,
                         RunFiles files, std::vector<Webhook> webhooks,
                         std::function<void(const std::string&)> say)
    : loop_(loop),
      loaded_(loaded),
      files_(std::move(files)),
      say_(std::move(say)),
      notifier_(http, loop, std::move(webhooks), say_) {}

void RunAudience::Tell(const RunInfo& info, NotifyEvent event, const std::string& phase,
                       const std::string& verdict, const std::string& text) {
  notifier_.Send({.event = event,
                  .run_id = info.id,
                  .run_name = info.name,
                  .phase = phase,
                  .verdict = verdict,
                  .exit_code = {},
                  .capacity = {},
                  .text = text});
}

void RunAudience::Started(const RunInfo& info) {
  Tell(info, NotifyEvent::kStarted, "preflight", "",
       fmt::format("started: {} sessions of {}", fmt::join(loaded_.scenario.sweep.sessions, ", "),
                   loaded_.scenario.target.model));
  Grow(info);
}

void RunAudience::Changed(const RunInfo& info) {
  Grow(info);
}

void RunAudience::StepJudged(const RunInfo& info, const RunStep& step) {
  rows_.push_back({.summary = step.summary, .notes = {}});
  if (!step.note.empty()) rows_.back().notes.push_back(step.note);
  const StepVerdict& verdict = step.summary.verdict;
  const std::string word = verdict.is_void ? Name(Verdict::kNoData) : Name(verdict.verdict);
  const std::string phase = fmt::format("{} sessions", step.summary.plan.sessions);
  Tell(info, NotifyEvent::kPhaseEnded, phase, word,
       verdict.reasons.empty() ? fmt::format("{}: {}", phase, word)
                               : fmt::format("{}: {}: {}", phase, word, FirstReason(verdict)));
  Grow(info);
}

void RunAudience::HookEnded(const RunInfo& info, const HookOutcome& outcome) {
  hooks_.push_back(outcome);
  Tell(info, NotifyEvent::kPhaseEnded, Name(outcome.phase), "", HookSentence(outcome));
  Grow(info);
}

void RunAudience::Grow(const RunInfo& info) {
  if (files_.markdown.empty()) return;
  ReportModel model = ModelOf(info, loaded_.scenario, loaded_.recipe, rows_, loaded_.corpus_label);
  model.hooks = hooks_;
  const Status status = WriteMarkdown(model);
  if (status.ok() || std::exchange(file_failed_, true)) return;
  say_(fmt::format("warning: {}", MessageOf(status)));
}

Status RunAudience::WriteMarkdown(const ReportModel& model) {
  return WriteFileWhole(files_.markdown, MarkdownReport(model));
}

Status RunAudience::Ended(ReportModel* model) {
  Status status;
  if (!files_.markdown.empty()) {
    status = WriteMarkdown(*model);
    model->files_written.push_back(files_.markdown);
  }
  if (!files_.junit.empty()) {
    status.Update(WriteFileWhole(files_.junit, JunitReport(*model)));
    model->files_written.push_back(files_.junit);
  }
  if (model->rollback == RollbackState::kFailed) {
    notifier_.Send({.event = NotifyEvent::kRollbackFailed,
                    .run_id = model->run_id,
                    .run_name = model->run_name,
                    .phase = Name(HookPhase::kRollBack),
                    .verdict = {},
                    .exit_code = model->exit_code,
                    .capacity = {},
                    .text = "ROLLBACK FAILED: " + model->stopped_because});
  }
  notifier_.Send({.event = NotifyEvent::kVerdict,
                  .run_id = model->run_id,
                  .run_name = model->run_name,
                  .phase = "verdict",
                  .verdict = model->steps.empty() ? std::string() : Name(model->verdict.verdict),
                  .exit_code = model->exit_code,
                  .capacity = model->steps.empty() ? std::string() : model->capacity.sentence,
                  .text = EndWords(*model)});
  if (notifier_.idle()) return status;
  notifier_.Finish(kPatience, [this] { loop_.Stop(); });
  loop_.Run();
  return status;
}

}  // namespace plimsoll
