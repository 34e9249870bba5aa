// Who is told of a run beside its terminal: webhooks, the growing Markdown file, the JUnit file.
// Nothing here keeps a run from going on; what went wrong is said.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/http/transport.h"
#include "common/loop/event_loop.h"
#include "coordinator/cli/scenario_files.h"
#include "coordinator/notify/notifier.h"
#include "coordinator/report/report_model.h"
#include "coordinator/run/run_driver.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

struct RunFiles {
  std::string markdown;  // Written anew after each phase; empty: none.
  std::string junit;     // At the end; empty: none.
};

// InvalidArgument: one that cannot be written. Found now, not after an hour of measuring.
Status CheckRunFiles(const RunFiles& files);

class RunAudience {
 public:
  // At a run's end webhooks get so long.
  static constexpr Duration kPatience = 15s;

  // Reads the webhooks' URLs; NotFound: one is not where the scenario says. `say` is the run's log:
  // it gets the outcome of each delivery, and of a file the first failure. All but the
  // result's own values outlive it.
  static StatusOr<std::unique_ptr<RunAudience>> Make(EventLoop& loop, HttpTransport& http,
                                                     const LoadedScenario& loaded, RunFiles files,
                                                     std::function<void(const std::string&)> say);
  // With the URLs; see Make().
  RunAudience(EventLoop& loop, HttpTransport& http, const LoadedScenario& loaded, RunFiles files,
              std::vector<Webhook> webhooks, std::function<void(const std::string&)> say);

  // Tells webhooks of something that happened in a phase; `verdict` may be empty.
  void Tell(const RunInfo& info, NotifyEvent event, const std::string& phase,
            const std::string& verdict, const std::string& text);
  void Started(const RunInfo& info);
  // Something of the run changed that is no step: preflight is done.
  void Changed(const RunInfo& info);
  void StepJudged(const RunInfo& info, const RunStep& step);
  void HookEnded(const RunInfo& info, const HookOutcome& outcome);
  // Writes the files and tells the verdict; runs the loop until webhooks have it, at most
  // kPatience. Names the files written in `model`. Internal: a file that could not be written.
  Status Ended(ReportModel* model);

 private:
  void Grow(const RunInfo& info);
  Status WriteMarkdown(const ReportModel& model);

  EventLoop& loop_;
  const LoadedScenario& loaded_;
  const RunFiles files_;
  const std::function<void(const std::string&)> say_;
  std::vector<StepRow> rows_;       // Judged so far.
  std::vector<HookOutcome> hooks_;  // Ended so far.
  bool file_failed_ = false;        // Said once.
  Notifier notifier_;
};

}  // namespace plimsoll
