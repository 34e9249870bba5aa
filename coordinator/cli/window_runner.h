// Runs the queue of windows of a store: decides once a second (coordinator/windows/decide), starts
// each run as `plimsoll run`, a child in a process group of its own, and keeps what became of it. A
// child and not a run within this process: a run that crashes leaves the queue, and one that is
// started by hand and one that is started here are the same thing.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/real_clock.h"
#include "common/http/curl_transport.h"
#include "common/loop/child_process.h"
#include "common/loop/event_loop.h"
#include "coordinator/notify/notifier.h"
#include "coordinator/windows/decide.h"
#include "coordinator/windows/window_files.h"

namespace plimsoll {

class WindowRunner {
 public:
  // Of the store in `folder`. `loop` outlives it.
  WindowRunner(EventLoop& loop, std::string folder);
  ~WindowRunner();

  // Looks at the queue once a second from now on. Of several servers of one store one runs it.
  void Start();
  // Begins nothing more. A run that is going on is told to stop, once more with each call (drain,
  // abort, leave); `done`, later, once it has ended.
  void Stop(std::function<void()> done);
  bool running() const { return running_.has_value(); }

 private:
  struct Run {
    RunningWindow window;
    WindowEntry entry;
    WindowState state;  // As it was settled.
    std::string log;
    std::unique_ptr<ChildProcess> child;
  };

  void Look();
  bool HaveLock();
  QueueView View();
  // False: it could not be kept, so it is not done either.
  bool Carry(const QueueAction& action, const QueueView& view);
  bool Begin(const QueueAction& action, WindowEntry entry, WindowState state);
  void Ended(const ChildExit& exit);
  bool Keep(const std::string& id, const WindowState& state);
  void TellMissed(const WindowEntry& entry, const std::string& why);
  std::optional<TimeZone> ZoneOf(const std::string& name);
  std::string HolderOfTheStore() const;
  void SayOnce(const std::string& line);

  EventLoop& loop_;
  const std::string folder_;
  RealClock clock_;
  CurlTransport http_;
  WindowFiles files_;
  std::optional<WindowFiles::Lock> lock_;
  bool said_locked_ = false;  // That another process runs the queue.
  WallTime up_since_{};
  bool stopping_ = false;
  std::function<void()> stopped_;
  std::optional<Run> running_;
  std::map<std::string, TimeZone> zones_;
  std::set<std::string> said_;
  std::vector<std::unique_ptr<Notifier>> notifiers_;  // With something under way.
  Timer next_;
};

// What a scenario file is by now, against the digest that was kept.
ScenarioNow LookAtScenario(const WindowEntry& entry);

}  // namespace plimsoll
