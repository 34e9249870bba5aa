#include "coordinator/cli/stop_command.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/base/text.h"
#include "common/config/quantities.h"
#include "common/loop/event_loop.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/cli/stop_file.h"
#include "coordinator/report/run_list.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/store/rocks_store.h"
#include "coordinator/store/run_repo.h"
#include "coordinator/windows/window_files.h"

namespace plimsoll {
namespace {

constexpr Duration kLookEvery = 250ms;
// A coordinator looks several times a second; one that does not take a request for so long is
// frozen, or starved.
constexpr Duration kTakeLimit = 15s;
constexpr int kGoesOn = 1;

// The run as the store has it now.
StatusOr<RunInfo> ReadRun(const std::string& store, const std::string& id) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Store> opened,
                   OpenRocksStore(store, StoreAccess::kReadOnly));
  return RunRepo(*opened).FindRun(id);
}

// The one that is going on; a store holds one at a time, and it began last.
StatusOr<std::optional<std::string>> RunningRun(const std::string& store) {
  if (!StoreIsHeld(store)) return std::optional<std::string>();
  ASSIGN_OR_RETURN(const std::unique_ptr<Store> opened,
                   OpenRocksStore(store, StoreAccess::kReadOnly));
  ASSIGN_OR_RETURN(const std::vector<RunInfo> latest, RunRepo(*opened).ListRuns(1));
  if (latest.empty() || latest.front().state != RunState::kRunning) {
    return std::optional<std::string>();
  }
  return std::optional<std::string>(latest.front().id);
}

std::string HowItEnded(const RunInfo& run) {
  return fmt::format("{}{}{}", Ending(run, Liveness::kDead), run.message.empty() ? "" : ": ",
                     Printable(run.message));
}

// The id of the run to stop, or why there is nothing to stop.
StatusOr<std::string> RunToStop(const std::string& store, const std::string& id) {
  ASSIGN_OR_RETURN(const auto running, RunningRun(store));
  const std::string goes_on = running ? fmt::format("; what goes on here is {}", *running)
                                      : std::string("; nothing runs here");
  if (id.empty()) {
    return absl::InvalidArgumentError("stop which run?" + (running ? goes_on.substr(1) : "") +
                                      (running ? "" : " nothing runs here"));
  }
  auto run = ReadRun(store, id);
  if (!run.ok()) {
    return absl::InvalidArgumentError(std::string(MessageOf(run.status())) + goes_on);
  }
  if (run->state != RunState::kRunning) {
    return absl::InvalidArgumentError(
        fmt::format("run {} has ended already ({})", run->id, HowItEnded(*run)));
  }
  if (running != run->id) {
    return absl::InvalidArgumentError(
        fmt::format("run {} does not go on: its coordinator died{}", run->id, goes_on));
  }
  return run->id;
}

// Waits on a loop of its own, and prints how it went.
class Waiting {
 public:
  Waiting(std::string store, std::string id, StopKind kind, Duration wait)
      : store_(std::move(store)), id_(std::move(id)), kind_(kind), wait_(wait) {}

  int Run() {
    asked_ = loop_.Now();
    Look();
    loop_.Run();
    return code_;
  }

 private:
  void End(int code) {
    code_ = code;
    loop_.Stop();
  }
  // True once the run has ended, however.
  bool Ended() {
    const auto run = ReadRun(store_, id_);
    // A store that is written while it is opened may be missed once.
    if (run.ok() && run->state != RunState::kRunning) {
      std::printf("run %s has ended: %s\n", id_.c_str(), HowItEnded(*run).c_str());
      return true;
    }
    if (StoreIsHeld(store_)) return false;
    // It is written before the lock goes.
    const auto last = ReadRun(store_, id_);
    if (!last.ok()) return false;
    std::printf("run %s has ended: %s\n", id_.c_str(), HowItEnded(*last).c_str());
    return true;
  }
  void Look() {
    if (!taken_ && !StopRequestWaits(store_, id_)) {
      taken_ = true;
      std::printf("run %s was asked to %s\n", id_.c_str(),
                  kind_ == StopKind::kAbort ? "abort: its calls are hung up"
                                            : "drain: calls in flight may finish");
      std::fflush(stdout);
    }
    if (Ended()) {
      WithdrawStopRequest(store_, id_);
      return End(0);
    }
    const Duration waited = loop_.Now() - asked_;
    if (!taken_ && waited >= kTakeLimit) {
      WithdrawStopRequest(store_, id_);
      std::fprintf(stderr,
                   "plimsoll: run %s did not take the request within %s, and it was withdrawn: is "
                   "its coordinator frozen?\n",
                   id_.c_str(), ShortTime(waited).c_str());
      return End(kGoesOn);
    }
    if (taken_ && waited >= wait_) {
      std::fprintf(stderr, "plimsoll: run %s goes on after %s%s\n", id_.c_str(),
                   ShortTime(waited).c_str(),
                   kind_ == StopKind::kAbort ? "" : "; --abort hangs up on its calls");
      return End(kGoesOn);
    }
    timer_ = loop_.After(kLookEvery, [this] { Look(); });
  }

  const std::string store_;
  const std::string id_;
  const StopKind kind_;
  const Duration wait_;
  EventLoop loop_;
  Timer timer_;
  MonoTime asked_{};
  bool taken_ = false;
  int code_ = 0;
};

int Fail(const Status& status) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(status)).c_str());
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace

int StopMain(int argc, const char* const* argv) {
  CLI::App app(
      "Asks the run that goes on in a store to end: calls in flight may finish, as after one\n"
      "Ctrl-C; with --abort they are hung up, as after two. Waits until it has ended.",
      "stop");
  std::string id;
  std::string store = "plimsoll-store";
  std::string wait = "10m";
  bool abort = false;
  app.add_option("RUN", id, "Its id, or an unambiguous beginning");
  app.add_flag("--abort", abort, "Hang up on its calls");
  app.add_option("--store", store, "Folder that keeps runs (./plimsoll-store)");
  app.add_option("--wait", wait, "How long to wait for its end (10m); 0s: until it was taken");
  app.footer("Exit codes: 0 it has ended, 1 it goes on after the wait, 64 nothing to stop.");
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  const auto limit = ParseDuration(wait);
  if (!limit.ok()) {
    return Fail(absl::InvalidArgumentError("--wait: " + std::string(MessageOf(limit.status()))));
  }
  const auto run = RunToStop(store, id);
  if (!run.ok()) return Fail(run.status());
  const StopKind kind = abort ? StopKind::kAbort : StopKind::kDrain;
  if (const Status asked = AskToStop(store, *run, kind); !asked.ok()) return Fail(asked);
  return Waiting(store, *run, kind, *limit).Run();
}

}  // namespace plimsoll
