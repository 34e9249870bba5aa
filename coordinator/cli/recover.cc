#include "coordinator/cli/recover.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/real_clock.h"
#include "common/loop/event_loop.h"
#include "coordinator/hooks/recovery.h"
#include "coordinator/hooks/run_intent.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {
namespace {

constexpr Duration kLookEvery = 200ms;
constexpr std::size_t kAllRuns = std::size_t{1} << 20;

// One run after another: two rollbacks at once may be of the same deployment.
class Recoverer {
 public:
  Recoverer(std::string folder, const RecoverOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  RecoveredKind Recover(const std::string& run_id);

 private:
  void Say(const std::string& run_id, const std::string& text) {
    options_.say(fmt::format("run {}: {}", run_id, text));
  }
  RecoveredKind Unreadable(const std::string& run_id, const Status& status);
  // Whether it was let go; false: it is to be left alone.
  bool AwaitHolder(const std::string& run_id, const Intent& intent);
  RecoveredKind Take(const std::string& run_id);

  const std::string folder_;
  const RecoverOptions& options_;
  RealClock clock_;
  EventLoop loop_;
};

RecoveredKind Recoverer::Unreadable(const std::string& run_id, const Status& status) {
  Say(run_id, fmt::format("cannot be rolled back: {}; roll back by hand, then remove the file",
                          MessageOf(status)));
  return RecoveredKind::kFailed;
}

bool Recoverer::AwaitHolder(const std::string& run_id, const Intent& intent) {
  if (intent.holder_kind == HolderKind::kCoordinator) {
    Say(run_id, fmt::format("its coordinator (process {}) lives: left alone", intent.holder.pid));
    return false;
  }
  Say(run_id, fmt::format("the {} (process {}) is at it{}", Name(intent.holder_kind),
                          intent.holder.pid, options_.wait ? ": waiting for it" : ""));
  if (!options_.wait) return false;
  Timer next;
  std::function<void()> look = [&] {
    if (!IsHeld(folder_, run_id)) return loop_.Stop();
    next = loop_.After(kLookEvery, look);
  };
  look();
  loop_.Run();
  return true;
}

RecoveredKind Recoverer::Take(const std::string& run_id) {
  auto intent = RunIntent::TakeOver(folder_, run_id, HolderKind::kRecover);
  if (absl::IsNotFound(intent.status())) return RecoveredKind::kRolledBack;
  if (absl::IsUnavailable(intent.status())) return RecoveredKind::kHeld;
  if (!intent.ok()) return Unreadable(run_id, intent.status());
  Say(run_id, (*intent)->facts().state == IntentState::kFailed
                  ? "its rollback failed before: trying again"
                  : "it broke off: its hooks are ended, then it is rolled back");
  (void)(*intent)->SetState(IntentState::kOpen);
  Recovery recovery(loop_, clock_, *std::move(intent),
                    [&](const std::string& text) { Say(run_id, text); });
  IntentState state = IntentState::kFailed;
  recovery.Start([&](IntentState end) {
    state = end;
    loop_.Stop();
  });
  loop_.Run();
  return state == IntentState::kRolledBack ? RecoveredKind::kRolledBack
         : state == IntentState::kPromoted ? RecoveredKind::kPromoted
                                           : RecoveredKind::kFailed;
}

RecoveredKind Recoverer::Recover(const std::string& run_id) {
  while (true) {
    const bool held = IsHeld(folder_, run_id);
    const auto intent = ReadIntent(folder_, run_id);
    if (absl::IsNotFound(intent.status())) return RecoveredKind::kRolledBack;
    if (!intent.ok() && !held) return Unreadable(run_id, intent.status());
    if (held) {
      if (!intent.ok() || !AwaitHolder(run_id, *intent)) return RecoveredKind::kHeld;
      // A guardian that failed has used up its tries just now; ours begin anew.
      continue;
    }
    if (intent->state == IntentState::kRolledBack) return RecoveredKind::kRolledBack;
    if (intent->state == IntentState::kPromoted) return RecoveredKind::kPromoted;
    const RecoveredKind kind = Take(run_id);
    if (kind != RecoveredKind::kHeld) return kind;
  }
}

bool Wanted(const RecoverOptions& options, const std::string& run_id) {
  return options.run.empty() || options.run == run_id;
}

// How the run stands after what was done about it.
void Close(RunInfo& run, IntentState state, WallTime now) {
  if (state == IntentState::kRolledBack) run.rollback = RollbackState::kDone;
  if (state == IntentState::kFailed) run.rollback = RollbackState::kFailed;
  if (run.state == RunState::kRunning) {
    run.state = RunState::kInterrupted;
    run.ended = now;
    run.message = "its coordinator died";
  }
  if (state == IntentState::kFailed) {
    run.exit_code = static_cast<int>(ExitCode::kRollbackFailed);
  } else if (run.state == RunState::kInterrupted) {
    run.exit_code.reset();
  }
}

// Hooks first, the run's header last: what breaks off in between is done again. Only lines that
// were written go from the intent.
Status Absorb(RunIntent& intent, RunRepo& repo, WallTime now) {
  const Intent& facts = intent.facts();
  const std::string& id = facts.spec.run_id;
  auto run = repo.GetRun(id);
  if (!run.ok() && !absl::IsNotFound(run.status())) return run.status();
  if (run.ok()) {
    for (const NotedHook& hook : facts.hooks) {
      if (hook.ended) RETURN_IF_ERROR(repo.PutHook(id, intent.WithOutput(hook.outcome)));
    }
    for (const IntentLine& line : facts.said) {
      RETURN_IF_ERROR(repo.PutEvent(id, {.at = line.at, .text = line.text}));
    }
    Close(*run, facts.state, now);
    RETURN_IF_ERROR(repo.PutRun(*run));
  }
  if (facts.state == IntentState::kFailed) return intent.ForgetSaid();
  return intent.Remove();
}

Status CloseInterrupted(RunRepo& repo, const std::set<std::string>& open, WallTime now,
                        const RecoverOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<RunInfo> runs, repo.ListRuns(kAllRuns));
  for (RunInfo run : runs) {
    if (run.state != RunState::kRunning || open.count(run.id) > 0) continue;
    run.state = RunState::kInterrupted;
    run.ended = now;
    run.message = "its coordinator died";
    RETURN_IF_ERROR(repo.PutRun(run));
    RETURN_IF_ERROR(repo.PutEvent(
        run.id, {.at = now, .text = "closed as interrupted: its coordinator had died"}));
    options.say(fmt::format("run {}: closed as interrupted: its coordinator had died", run.id));
  }
  return absl::OkStatus();
}

}  // namespace

bool RecoverReport::failed() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const RecoveredRun& run) { return run.kind == RecoveredKind::kFailed; });
}

RecoverReport RollBackUnfinished(const std::string& store_folder, const RecoverOptions& options) {
  RecoverReport report;
  Recoverer recoverer(store_folder, options);
  for (const std::string& run_id : ListIntents(store_folder)) {
    if (Wanted(options, run_id)) report.runs.push_back({run_id, recoverer.Recover(run_id)});
  }
  return report;
}

Status AbsorbRecovered(const std::string& store_folder, Store& store, const Clock& clock,
                       const RecoverOptions& options) {
  RunRepo repo(store);
  std::set<std::string> open;
  for (const std::string& run_id : ListIntents(store_folder)) {
    auto intent = RunIntent::TakeOver(store_folder, run_id, HolderKind::kRecover);
    if (absl::IsNotFound(intent.status())) continue;
    if (!intent.ok() || (*intent)->facts().state == IntentState::kOpen) {
      open.insert(run_id);
      continue;
    }
    RETURN_IF_ERROR(
        Annotate(Absorb(**intent, repo, clock.WallNow()), "keep what was done about " + run_id));
  }
  return CloseInterrupted(repo, open, clock.WallNow(), options);
}

StatusOr<RecoverReport> RecoverUnfinished(const std::string& store_folder, Store& store,
                                          const Clock& clock, const RecoverOptions& options) {
  RecoverReport report = RollBackUnfinished(store_folder, options);
  RETURN_IF_ERROR(AbsorbRecovered(store_folder, store, clock, options));
  return report;
}

}  // namespace plimsoll
