#include "coordinator/cli/window_runner.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/loop/logging.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/cli/corpus_files.h"
#include "coordinator/cli/endpoint_file.h"
#include "coordinator/cli/program_beside.h"
#include "coordinator/scenario/scenario_reader.h"

namespace plimsoll {
namespace {

constexpr Duration kLookEvery = 1s;  // Also what a step of the wall clock costs.
constexpr std::size_t kScenarioBytesMax = std::size_t{1} << 20;
constexpr std::size_t kLogHeadBytes = std::size_t{64} << 10;
constexpr std::size_t kLogBytesMax = std::size_t{64} << 20;

// "20261201-220000-recipe-7": as the run's first line says; empty if it came to none.
std::string RunIdIn(const std::string& log) {
  auto text = ReadWholeFile(log, kLogBytesMax);
  if (!text.ok()) return {};
  const std::string_view head = std::string_view(*text).substr(0, kLogHeadBytes);
  constexpr std::string_view kBefore = "  run ";
  const std::size_t after = head.find(" (seed ");
  if (after == std::string_view::npos) return {};
  const std::size_t before = head.rfind(kBefore, after);
  if (before == std::string_view::npos) return {};
  return std::string(head.substr(before + kBefore.size(), after - before - kBefore.size()));
}

std::string EndWords(const ChildExit& exit, const std::string& run_id, const std::string& log) {
  const std::string run = run_id.empty() ? "no run" : "run " + run_id;
  if (exit.signal != 0) return fmt::format("{}, ended by signal {}; {}", run, exit.signal, log);
  return fmt::format("{}, exit {}; {}", run, exit.code, log);
}

}  // namespace

ScenarioNow LookAtScenario(const WindowEntry& entry) {
  const auto text = ReadWholeFile(entry.scenario_path, kScenarioBytesMax);
  if (!text.ok()) return ScenarioNow::kUnreadable;
  return Sha256Hex(*text) == entry.scenario_digest ? ScenarioNow::kSame : ScenarioNow::kChanged;
}

WindowRunner::WindowRunner(EventLoop& loop, std::string folder)
    : loop_(loop), folder_(std::move(folder)), http_(loop), files_(folder_) {}

WindowRunner::~WindowRunner() = default;

void WindowRunner::Start() {
  next_ = loop_.After(Duration{0}, [this] { Look(); });
}

bool WindowRunner::HaveLock() {
  if (lock_) return true;
  if (auto lock = files_.TryLock()) lock_.emplace(*std::move(lock));
  if (!lock_) {
    if (files_.Locked() && !std::exchange(said_locked_, true)) {
      LogInfo("windows: another server of this store runs its queue");
    }
    return false;
  }
  up_since_ = clock_.WallNow();
  // What ran when the server before this one died: its child died with it.
  for (WindowFiles::Kept& kept : files_.List().windows) {
    if (!kept.state.running) continue;
    kept.state.running = false;
    AddNote(kept.state, up_since_, "broken off: the server that ran it died");
    LogInfo("windows: {}: {}", kept.entry.id, kept.state.notes.front().text);
    (void)Keep(kept.entry.id, kept.state);
  }
  LogInfo("windows: this server runs the queue of {}", folder_);
  return true;
}

void WindowRunner::Look() {
  std::erase_if(notifiers_, [](const auto& notifier) { return notifier->idle(); });
  Duration wait = kLookEvery;
  if (HaveLock()) {
    QueueView view = View();
    const WallTime now = clock_.WallNow();
    const QueueDecision decision = DecideQueue(view, now, LookAtScenario);
    bool kept = true;
    for (const QueueAction& action : decision.actions) kept = Carry(action, view) && kept;
    if (!decision.actions.empty()) {
      if (kept) wait = Duration{0};  // What was done may allow more.
    } else if (decision.wake) {
      wait = std::clamp(*decision.wake - now, Duration{0}, kLookEvery);
    }
  }
  next_ = loop_.After(std::max<Duration>(wait, 1ms), [this] { Look(); });
}

QueueView WindowRunner::View() {
  QueueView view{.windows = {},
                 .running = {},
                 .store_held_by = {},
                 .up_since = up_since_,
                 .stopping = stopping_};
  WindowFiles::Listing listing = files_.List();
  for (const std::string& line : listing.unusable) SayOnce("windows: " + line);
  for (WindowFiles::Kept& kept : listing.windows) {
    const auto zone = ZoneOf(kept.entry.spec.zone);
    if (!zone) continue;
    view.windows.push_back({std::move(kept.entry), std::move(kept.state), *zone});
  }
  if (running_) {
    view.running = running_->window;
  } else {
    view.store_held_by = HolderOfTheStore();
  }
  return view;
}

std::string WindowRunner::HolderOfTheStore() const {
  if (!StoreIsHeld(folder_)) return {};
  const auto endpoint = FindCoordinator(folder_);
  return endpoint ? "run " + endpoint->run_id : std::string("another process");
}

std::optional<TimeZone> WindowRunner::ZoneOf(const std::string& name) {
  if (const auto it = zones_.find(name); it != zones_.end()) return it->second;
  auto zone = TimeZone::Load(name);
  if (!zone.ok()) {
    SayOnce(fmt::format("windows: {}", MessageOf(zone.status())));
    return std::nullopt;
  }
  return zones_.emplace(name, *std::move(zone)).first->second;
}

void WindowRunner::SayOnce(const std::string& line) {
  if (said_.insert(line).second) LogError("{}", line);
}

bool WindowRunner::Carry(const QueueAction& action, const QueueView& view) {
  if (action.kind == QueueAction::Kind::kTell) {
    if (!running_) return true;
    LogInfo("windows: {}: {}", action.id, action.why);
    running_->window.told = action.told;
    running_->child->Kill(SIGTERM);
    return true;
  }
  const auto it =
      std::find_if(view.windows.begin(), view.windows.end(),
                   [&action](const QueuedWindow& one) { return one.entry.id == action.id; });
  WindowEntry entry = it->entry;
  WindowState state = it->state;
  // What was settled for this window within the same decision.
  for (const WindowFiles::Kept& kept : files_.List().windows) {
    if (kept.entry.id == action.id) state = kept.state;
  }
  Settle(action, clock_.WallNow(), entry, state);
  if (action.kind == QueueAction::Kind::kStart) {
    return Begin(action, std::move(entry), std::move(state));
  }
  if (!Keep(entry.id, state)) return false;
  LogInfo("windows: {}: {} missed: {}", entry.id, it->zone.Text(action.opening.opens), action.why);
  TellMissed(entry, fmt::format("the window of {} was missed: {}",
                                it->zone.Text(action.opening.opens), action.why));
  return true;
}

// Settled on disk first: a server that dies in between has not run it, and never runs it twice.
bool WindowRunner::Begin(const QueueAction& action, WindowEntry entry, WindowState state) {
  if (!Keep(entry.id, state)) return false;
  const std::string log = files_.LogPath(entry.id, state.runs);
  if (LookAtScenario(entry) == ScenarioNow::kChanged) {
    LogInfo("windows: {}: its scenario has changed since it was added; it is followed", entry.id);
  }
  auto child = ChildProcess::Start(
      loop_,
      {.argv = {ProgramBeside("plimsoll"), "run", entry.scenario_path, "--store", folder_,
                "--color", "never", "--window", PrintDuration(OwnLength(entry.spec.length))},
       .env = {},
       .output_file = log,
       .on_lines = {}},
      [this](const ChildExit& exit) { Ended(exit); });
  if (!child.ok()) {
    state.running = false;
    AddNote(state, clock_.WallNow(),
            fmt::format("could not be started: {}", MessageOf(child.status())));
    LogError("windows: {}: {}", entry.id, state.notes.front().text);
    (void)Keep(entry.id, state);
    return true;
  }
  LogInfo("windows: {}: started, its output goes to {}", entry.id, log);
  running_.emplace(Run{.window = action.running,
                       .entry = std::move(entry),
                       .state = std::move(state),
                       .log = log,
                       .child = *std::move(child)});
  return true;
}

void WindowRunner::Ended(const ChildExit& exit) {
  Run run = *std::move(running_);
  running_.reset();
  const std::string words = EndWords(exit, RunIdIn(run.log), run.log);
  LogInfo("windows: {}: {}", run.entry.id, words);
  run.state.running = false;
  AddNote(run.state, clock_.WallNow(), words);
  (void)Keep(run.entry.id, run.state);
  if (stopped_) return loop_.Post(std::exchange(stopped_, nullptr));
  if (!stopping_) Start();  // What waited for the fleet need not wait for the next look.
}

bool WindowRunner::Keep(const std::string& id, const WindowState& state) {
  const Status status = files_.PutState(id, state);
  if (!status.ok()) SayOnce(fmt::format("windows: {}", MessageOf(status)));
  return status.ok();
}

// To whom the scenario would have told of the run.
void WindowRunner::TellMissed(const WindowEntry& entry, const std::string& why) {
  const auto text = ReadWholeFile(entry.scenario_path, kScenarioBytesMax);
  if (!text.ok()) return;
  const auto scenario =
      ParseScenario(*text, entry.scenario_path,
                    std::filesystem::path(entry.scenario_path).parent_path().string());
  if (!scenario.ok() || scenario->notify.empty()) return;
  auto webhooks = ReadWebhooks(scenario->notify);
  if (!webhooks.ok()) return SayOnce(fmt::format("windows: {}", MessageOf(webhooks.status())));
  notifiers_.push_back(std::make_unique<Notifier>(
      http_, loop_, *std::move(webhooks),
      [id = entry.id](const std::string& line) { LogInfo("windows: {}: {}", id, line); }));
  notifiers_.back()->Send({.event = NotifyEvent::kWindowMissed,
                           .run_id = {},
                           .run_name = entry.scenario_name,
                           .phase = "window",
                           .verdict = {},
                           .exit_code = {},
                           .capacity = {},
                           .text = why});
}

void WindowRunner::Stop(std::function<void()> done) {
  stopping_ = true;
  stopped_ = std::move(done);
  if (!running_) return loop_.Post(std::exchange(stopped_, nullptr));
  ++running_->window.told;
  LogInfo("windows: {}: told to stop, since this server ends", running_->entry.id);
  running_->child->Kill(SIGTERM);
}

}  // namespace plimsoll
