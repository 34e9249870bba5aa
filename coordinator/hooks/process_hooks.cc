#include "coordinator/hooks/process_hooks.h"

#include <algorithm>

#include <fmt/format.h>
#include <signal.h>

#include "coordinator/hooks/durable_file.h"

namespace plimsoll {
namespace {

constexpr Duration kBoundEvery = 1s;

std::vector<std::string> ArgvOf(const HookSpec& hook) {
  if (!hook.shell) return hook.argv;
  std::vector<std::string> argv = {"sh", "-c", hook.argv[0], "hook"};
  argv.insert(argv.end(), hook.argv.begin() + 1, hook.argv.end());
  return argv;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> HookEnvironment(const Intent& intent,
                                                                 const HookCall& call) {
  const IntentSpec& spec = intent.spec;
  auto env = spec.hooks.of(call.phase).env;
  env.insert(env.end(), {{"PLIMSOLL_RUN_ID", spec.run_id},
                         {"PLIMSOLL_SCENARIO", spec.scenario},
                         {"PLIMSOLL_RECIPE", spec.recipe},
                         {"PLIMSOLL_RECIPE_DIGEST", spec.recipe_digest},
                         {"PLIMSOLL_PHASE", Name(call.phase)},
                         {"PLIMSOLL_ATTEMPT", fmt::format("{}", call.attempt)},
                         {"PLIMSOLL_VERDICT", call.verdict},
                         {"PLIMSOLL_REASON", call.reason},
                         {kHookTokenName, intent.token}});
  return env;
}

ProcessHooks::ProcessHooks(EventLoop& loop, const Clock& clock, RunIntent& intent)
    : loop_(loop),
      clock_(clock),
      intent_(intent),
      ender_(loop, intent.trail(), intent.facts().spec.rules.kill_after) {}

ProcessHooks::~ProcessHooks() {
  if (!done_) return;
  child_.reset();
  SignalProcesses(intent_.trail(), ProcessesOn(intent_.trail()), SIGKILL);
}

void ProcessHooks::Run(const HookCall& call, std::function<void(HookOutcome)> done) {
  call_ = call;
  done_ = std::move(done);
  exit_.reset();
  stopped_.reset();
  outcome_ = {.phase = call.phase, .attempt = call.attempt, .started = clock_.WallNow()};
  begun_ = loop_.Now();
  const HookSpec& hook = intent_.facts().spec.hooks.of(call.phase);
  const Status started =
      hook.empty() ? absl::InvalidArgumentError("there is no such hook") : Start(hook);
  if (started.ok()) {
    deadline_ = loop_.After(hook.deadline, [this] { Stop(HookState::kTimedOut); });
    KeepBounded();
    return;
  }
  child_.reset();
  outcome_.state = HookState::kCouldNotStart;
  outcome_.note = std::string(MessageOf(started));
  done_soon_ = loop_.After(Duration{}, [this] { Done(); });
}

// Every process of the hook inherits the lock; we let go of ours, so that it is theirs alone.
Status ProcessHooks::Start(const HookSpec& hook) {
  ASSIGN_OR_RETURN(const FileLock lock, FileLock::Take(intent_.HookLockPath()));
  ChildOptions options{.argv = ArgvOf(hook),
                       .env = HookEnvironment(intent_.facts(), call_),
                       .output_file = intent_.OutputPath(call_.phase, call_.attempt),
                       .directory = hook.directory,
                       .keep_fd = lock.fd(),
                       .die_with_parent = false};
  options.before_exec = [this](int pid) {
    Status noted = intent_.NoteStart(call_.phase, call_.attempt, pid, outcome_.started);
    if (call_.phase != HookPhase::kRollBack) return noted;
    if (!noted.ok()) outcome_.note = std::string(MessageOf(noted));
    return absl::OkStatus();
  };
  auto child = ChildProcess::Start(loop_, options, [this](const ChildExit& exit) { OnExit(exit); });
  if (!child.ok() && options.output_file.size() > 0 && call_.phase == HookPhase::kRollBack &&
      absl::IsUnavailable(child.status())) {
    // No file for its output: the rollback is worth more.
    options.output_file.clear();
    child = ChildProcess::Start(loop_, options, [this](const ChildExit& exit) { OnExit(exit); });
  }
  RETURN_IF_ERROR(child.status());
  child_ = *std::move(child);
  return absl::OkStatus();
}

void ProcessHooks::Abort() {
  if (done_ && child_ != nullptr) Stop(HookState::kKilled);
}

void ProcessHooks::Stop(HookState why) {
  deadline_.Cancel();
  if (stopped_ || exit_) return;
  stopped_ = why;
  child_->Kill(SIGTERM);  // The group, also those that cannot be seen.
  kill_ = loop_.After(intent_.facts().spec.rules.kill_after, [this] { child_->Kill(SIGKILL); });
  EndRest();
}

void ProcessHooks::OnExit(const ChildExit& exit) {
  exit_ = exit;
  deadline_.Cancel();
  kill_.Cancel();
  if (!ender_.busy()) EndRest();
}

// The processes outside its group too; once they are gone and it has been seen to end, it is over.
void ProcessHooks::EndRest() {
  const bool after_exit = exit_.has_value();
  ender_.End([this, after_exit](bool any) {
    if (!exit_) return;  // Seen soon: OnExit() looks again.
    if (!after_exit) return EndRest();
    if (any && !stopped_) {
      if (!outcome_.note.empty()) outcome_.note += "; ";
      outcome_.note += "it left processes in the background, which were ended";
    }
    Finish();
  });
}

void ProcessHooks::KeepBounded() {
  BoundFile(intent_.OutputPath(call_.phase, call_.attempt), kHookFileBytesMax, kHookTailBytesMax);
  bound_ = loop_.After(kBoundEvery, [this] { KeepBounded(); });
}

void ProcessHooks::Finish() {
  bound_.Cancel();
  child_.reset();
  if (exit_->signal != 0) {
    outcome_.signal = exit_->signal;
  } else {
    outcome_.exit_code = exit_->code;
  }
  const bool ok = exit_->signal == 0 && exit_->code == 0;
  outcome_.state = stopped_ ? *stopped_ : ok ? HookState::kOk : HookState::kFailed;
  outcome_.duration = loop_.Now() - begun_;
  Done();
}

void ProcessHooks::Done() {
  outcome_ = intent_.WithOutput(std::move(outcome_));
  if (const Status noted = intent_.NoteEnd(outcome_); !noted.ok()) {
    if (!outcome_.note.empty()) outcome_.note += "; ";
    outcome_.note += std::string(MessageOf(noted));
  }
  const auto done = std::exchange(done_, nullptr);
  done(outcome_);
}

}  // namespace plimsoll
