#include "coordinator/cli/export_command.h"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>

#include "common/wire/record_codec.h"
#include "coordinator/api/run_view.h"
#include "coordinator/cli/export_pages.h"
#include "coordinator/cli/output_file.h"
#include "coordinator/report/agent_rows.h"
#include "coordinator/report/export_rows.h"
#include "coordinator/report/junit_report.h"
#include "coordinator/report/markdown_report.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/store/rocks_store.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {
namespace {

int Fail(const Status& status) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(status)).c_str());
  return static_cast<int>(absl::IsInternal(status) ? ExitCode::kInternal : ExitCode::kUsage);
}

Status WriteSteps(const RunRepo& repo, const RunInfo& run, RowForm form, OutputFile& out) {
  ASSIGN_OR_RETURN(const std::vector<StepRow> steps, repo.Steps(run.id));  // At most some dozens.
  std::string text = StepHeader(form);
  for (const StepRow& step : steps) AppendStep(form, step, &text, run.cost);
  return out.Write(text);
}

Status WriteParts(const RunRepo& repo, const std::string& run, RowForm form, OutputFile& out) {
  ASSIGN_OR_RETURN(const std::vector<StepRow> steps, repo.Steps(run));
  std::string text = PartHeader(form);
  for (const StepRow& step : steps) AppendParts(form, step, &text);
  return out.Write(text);
}

Status WriteAgents(const RunRepo& repo, const std::string& run, RowForm form, OutputFile& out) {
  ASSIGN_OR_RETURN(const std::vector<StepRow> steps, repo.Steps(run));
  std::string text = AgentHeader(form);
  for (const StepRow& step : steps) AppendAgents(form, step, &text);
  return out.Write(text);
}

// A batch at a time: 512 records, some hundred kilobytes of text.
Status WriteRecords(const RunRepo& repo, const std::string& run, RowForm form, bool evals,
                    OutputFile& out) {
  RETURN_IF_ERROR(out.Write(evals ? EvalHeader(form) : RecordHeader(form)));
  std::string text;
  return repo.ScanBatches(run, [&](const keys::BatchKey& key, std::string_view bytes) {
    auto batch = DecodeBatch(bytes);
    if (!batch.ok()) {
      return absl::DataLossError(fmt::format("batch {} of slot {} is damaged: {}", key.sequence,
                                             key.agent_slot, MessageOf(batch.status())));
    }
    text.clear();
    if (evals) {
      for (const EvalRecord& record : batch->evals) AppendEval(form, key, record, &text);
    } else {
      for (const CallRecord& record : batch->records) AppendRecord(form, key, record, &text);
    }
    return out.Write(text);
  });
}

Status WriteReport(const RunRepo& repo, const std::string& run, bool junit, OutputFile& out) {
  ASSIGN_OR_RETURN(const RunView view, ReadRunView(repo, run, std::nullopt));
  return out.Write(junit ? JunitReport(view.model) : MarkdownReport(view.model));
}

Status Export(const ExportFlags& flags) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                   OpenRocksStore(flags.store, StoreAccess::kReadOnly));
  const RunRepo repo(*store);
  const auto run = repo.FindRun(flags.id);
  if (!run.ok()) return WithLatestRuns(repo, run.status());
  auto created = flags.out.empty() ? OutputFile::StandardOutput() : OutputFile::Create(flags.out);
  if (!created.ok()) return created.status();
  OutputFile out = *std::move(created);
  const auto form_of = [](const std::string& name) {
    return name == "csv" ? RowForm::kCsv : RowForm::kJsonl;
  };
  if (flags.junit || flags.markdown) {
    RETURN_IF_ERROR(WriteReport(repo, run->id, flags.junit, out));
  } else if (!flags.pages.empty()) {
    RETURN_IF_ERROR(WritePages(*store, run->id, out));
  } else if (!flags.steps.empty()) {
    RETURN_IF_ERROR(WriteSteps(repo, *run, form_of(flags.steps), out));
  } else if (!flags.parts.empty()) {
    RETURN_IF_ERROR(WriteParts(repo, run->id, form_of(flags.parts), out));
  } else if (!flags.agents.empty()) {
    RETURN_IF_ERROR(WriteAgents(repo, run->id, form_of(flags.agents), out));
  } else {
    const bool evals = !flags.evals.empty();
    const RowForm form = form_of(evals ? flags.evals : flags.records);
    RETURN_IF_ERROR(WriteRecords(repo, run->id, form, evals, out));
  }
  return out.Finish();
}

}  // namespace

int ExportRun(const ExportFlags& flags) {
  std::signal(SIGPIPE, SIG_IGN);  // `… | head` sees an error instead.
  const Status status = Export(flags);
  if (status.ok() || absl::IsCancelled(status)) return 0;
  return Fail(status);
}

}  // namespace plimsoll
