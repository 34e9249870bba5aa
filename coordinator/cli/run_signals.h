// The servers' signals of one run: the thread that reads them, what preflight makes of the first
// read, and the pages in the store.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/scheduler.h"
#include "coordinator/run/preflight_rules.h"
#include "coordinator/run/server_side.h"
#include "coordinator/run/signal_feed.h"
#include "coordinator/scenario/scenario.h"
#include "coordinator/scrape/scrape_thread.h"
#include "coordinator/store/page_repo.h"

namespace plimsoll {

class RunSignals {
 public:
  // Begins to ask at once. `store` and `clock` outlive it; the store's Commit is called from
  // another thread. NotFound: a token or a CA file that is not here.
  static StatusOr<std::unique_ptr<RunSignals>> Start(const Scenario& scenario, ScrapePlan plan,
                                                     Store& store, const std::string& run_id,
                                                     const Clock& clock, Scheduler& scheduler);
  // With the tokens in `plan`; see Start().
  RunSignals(const Scenario& scenario, ScrapePlan plan, Store& store, const std::string& run_id,
             const Clock& clock, Scheduler& scheduler);
  ~RunSignals();

  SignalFeed& feed() { return *thread_; }
  // All that was read until now.
  SignalHistory History() const;
  // Once every source was read or could not be: `report` with what was found added; its status, if
  // it was OK, is the first of these findings that blocks. `done` is called later.
  void AddFindings(PreflightReport report, std::function<void(PreflightReport)> done);
  // `done` after one more read of every page, at the latest after two seconds; nothing is read any
  // more then. For the end of the run, when all has drained.
  void Stop(std::function<void()> done);
  // After Stop(): "1,204 pages of metrics kept, 3.1 MB", and what was not.
  std::string KeptWords() const;

 private:
  // Calls `then` once all sources have been asked since `at`, or at `limit`.
  void WhenAsked(MonoTime at, MonoTime limit, std::function<void()> then);

  Scheduler& scheduler_;
  const Bar bar_;
  const JudgeMode judge_;
  const Duration patience_;  // For every source to be read once.
  PageRepo pages_;
  const MonoTime begun_;
  std::unique_ptr<ScrapeThread> thread_;
  Timer poll_;
};

// How a run's steps are judged by servers, as its section `signals` says.
ServerRules RulesOf(const Scenario& scenario);

}  // namespace plimsoll
