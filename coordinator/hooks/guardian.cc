#include "coordinator/hooks/guardian.h"

#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/real_clock.h"
#include "common/base/text.h"
#include "common/loop/detached_process.h"
#include "common/loop/process_watch.h"
#include "common/loop/signals.h"
#include "coordinator/hooks/durable_file.h"
#include "coordinator/hooks/recovery.h"
#include "coordinator/hooks/run_intent.h"

namespace plimsoll {
namespace {

constexpr int kOver = 0;
constexpr int kRollbackFailed = 6;
constexpr Duration kLookEvery = 500ms;
constexpr Duration kLookEveryInGrace = 100ms;
constexpr Duration kStartPatience = 30s;
constexpr int kLostMax = 5;

// Whoever reads our standard error may have stopped: a line that a pipe has no room for is left
// out rather than waited with.
void Shout(const std::string& text) {
  pollfd look{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&look, 1, 0) <= 0) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

class Guardian {
 public:
  Guardian(std::string store_folder, std::string run_id)
      : folder_(std::move(store_folder)),
        run_id_(std::move(run_id)),
        log_(HookFolder(folder_, run_id_) + "/guardian.log") {}

  int Run() {
    // A polite signal does not end it, it makes it look: it is there for when all else ends.
    const Signals signals(loop_, [this](int, int) { Look(); });
    Look();
    std::printf("watching %d\n", ::getpid());
    std::fflush(stdout);
    if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
      ::dup2(nowhere, STDOUT_FILENO);
      ::close(nowhere);
    }
    loop_.Run();
    return code_;
  }

 private:
  void Look();
  void WatchHolder(const Intent& intent);
  void Act();
  void Say(const std::string& text);
  void End(int code);
  void LookIn(Duration wait) {
    next_ = loop_.After(wait, [this] { Look(); });
  }

  const std::string folder_;
  const std::string run_id_;
  const std::string log_;
  RealClock clock_;
  EventLoop loop_;
  Timer next_;
  ProcessMark watched_;
  std::unique_ptr<ProcessWatch> watch_;
  std::optional<MonoTime> unheld_since_;
  std::unique_ptr<Recovery> recovery_;
  int code_ = kOver;
};

void Guardian::Look() {
  if (recovery_ != nullptr) return;
  // In this order: who lets go has written everything before.
  const bool held = IsHeld(folder_, run_id_);
  const auto intent = ReadIntent(folder_, run_id_);
  if (absl::IsNotFound(intent.status())) return End(kOver);
  if (held) {
    unheld_since_.reset();
    if (intent.ok()) WatchHolder(*intent);
    return LookIn(kLookEvery);
  }
  if (!intent.ok()) {
    Say(std::string(MessageOf(intent.status())));
    Shout(fmt::format("plimsoll guardian: run {} cannot be rolled back: {}\n", run_id_,
                      MessageOf(intent.status())));
    return End(kRollbackFailed);
  }
  if (intent->state == IntentState::kFailed) return End(kRollbackFailed);
  if (intent->state != IntentState::kOpen) return End(kOver);
  if (!unheld_since_) {
    unheld_since_ = loop_.Now();
    watch_.reset();
    watched_ = {};
    Say(fmt::format("the {} of run {} (process {}) died; rolling back in {} unless it is restarted",
                    Name(intent->holder_kind), run_id_, intent->holder.pid,
                    ShortTime(intent->spec.rules.grace)));
  }
  if (loop_.Now() - *unheld_since_ >= intent->spec.rules.grace) return Act();
  LookIn(std::min(kLookEveryInGrace, *unheld_since_ + intent->spec.rules.grace - loop_.Now()));
}

// Its end is seen at once; the lock alone would say so at the next look.
void Guardian::WatchHolder(const Intent& intent) {
  if (intent.holder == watched_ || intent.holder.place != ThisPlace()) return;
  watch_.reset();
  watched_ = intent.holder;
  auto watch = ProcessWatch::Start(loop_, intent.holder.pid, [this] { LookIn(Duration{}); });
  if (watch.ok() && Lives(intent.holder)) watch_ = *std::move(watch);
}

void Guardian::Act() {
  auto intent = RunIntent::TakeOver(folder_, run_id_, HolderKind::kGuardian);
  if (!intent.ok()) {
    unheld_since_.reset();  // Somebody was quicker, or it is over: the next look says.
    if (!absl::IsUnavailable(intent.status()) && !absl::IsNotFound(intent.status())) {
      Say(std::string(MessageOf(intent.status())));
    }
    return LookIn(kLookEvery);
  }
  recovery_ = std::make_unique<Recovery>(loop_, clock_, *std::move(intent),
                                         [this](const std::string& text) { Say(text); });
  recovery_->Start([this](IntentState state) {
    if (state != IntentState::kFailed) return End(kOver);
    Shout(fmt::format(
        "plimsoll guardian: ROLLBACK FAILED for run {}: the deployment may still be what the run "
        "left. {} says more; try again with: plimsoll recover {} --store {}\n",
        run_id_, log_, run_id_, folder_));
    End(kRollbackFailed);
  });
}

void Guardian::Say(const std::string& text) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(clock_.WallNow().time_since_epoch()).count();
  AppendLine(log_,
             fmt::format("{:%Y-%m-%d %H:%M:%S} UTC  {}", fmt::gmtime(seconds), Printable(text)));
}

void Guardian::End(int code) {
  code_ = code;
  if (recovery_ != nullptr || code != kOver) Say(fmt::format("exit code {}", code));
  loop_.Stop();
}

}  // namespace

int GuardRun(const std::string& store_folder, const std::string& run_id) {
  return Guardian(store_folder, run_id).Run();
}

GuardianKeeper::GuardianKeeper(EventLoop& loop, std::vector<std::string> argv,
                               std::function<void(const std::string&)> say)
    : loop_(loop), argv_(std::move(argv)), say_(std::move(say)) {}

GuardianKeeper::~GuardianKeeper() = default;

StatusOr<std::unique_ptr<GuardianKeeper>> GuardianKeeper::Start(
    EventLoop& loop, const std::string& program, const std::string& store_folder,
    const std::string& run_id, std::function<void(const std::string&)> say) {
  auto keeper = std::unique_ptr<GuardianKeeper>(new GuardianKeeper(
      loop, {program, "guardian", "--store", store_folder, "--run", run_id}, std::move(say)));
  RETURN_IF_ERROR(keeper->Begin());
  return keeper;
}

Status GuardianKeeper::Begin() {
  ASSIGN_OR_RETURN(const std::string line, StartDetached(argv_, kStartPatience));
  constexpr std::string_view kWord = "watching ";
  int pid = 0;
  if (line.starts_with(kWord)) {
    std::from_chars(line.data() + kWord.size(), line.data() + line.size(), pid);
  }
  if (pid <= 0) return absl::UnavailableError("the guardian says odd things: " + Printable(line));
  ASSIGN_OR_RETURN(watch_, ProcessWatch::Start(loop_, pid, [this] { OnGone(); }));
  pid_ = pid;
  return absl::OkStatus();
}

void GuardianKeeper::OnGone() {
  watch_.reset();
  pid_ = 0;
  if (++lost_ > kLostMax) return say_("warning: the guardian was killed again; none is left");
  const Status begun = Begin();
  say_(begun.ok() ? std::string("warning: the guardian was killed; another one watches the run")
                  : fmt::format("warning: the guardian was killed, and no other begins: {}",
                                MessageOf(begun)));
}

void GuardianKeeper::Dismiss() {
  watch_.reset();
  if (pid_ > 0) ::kill(std::exchange(pid_, 0), SIGTERM);
}

}  // namespace plimsoll
