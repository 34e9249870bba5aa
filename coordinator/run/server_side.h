// What servers say of the run's steps and of its end, as the driver asks for it: which pages, when,
// and what coordinator/serverjudge makes of them. Runs on one scheduler.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "common/base/scheduler.h"
#include "coordinator/run/signal_feed.h"
#include "coordinator/serverjudge/drain_check.h"
#include "coordinator/serverjudge/judge_server.h"

namespace plimsoll {

// How servers are judged, of a run whose scenario has them.
struct ServerRules {
  JudgeMode mode = JudgeMode::kBoth;
  KvFullRule kv_full;
  DrainRule drain;
};

class ServerSide {
 public:
  // `feed` may be null: then no server is asked.
  ServerSide(Scheduler& scheduler, SignalFeed* feed, ServerRules rules);

  bool asks() const { return feed_ != nullptr; }
  // Whether the client's records may fail a running step early.
  bool client_decides() const { return !asks() || rules_.mode != JudgeMode::kServer; }

  // Our own calls have ended, and the load has not begun: what servers show from now on is their
  // level before the run. To be called again when more of our calls have ended.
  void BeforeLoad();
  // Calls of ours have ended that are no load: that again, and `done` once servers were read
  // without them, or that took too long. Called again before, it begins anew, and only the last
  // `done` is told; nothing after Cancel() or in the destructor.
  void QuietBeforeLoad(std::function<void()> done);
  // The first step is prepared: what was seen until now is that level.
  void LoadBegins();

  // Once every target was asked since now, or that took too long. Nothing after Cancel() or in the
  // destructor.
  void WhenAsked(std::function<void()> done);
  void Cancel() { timer_.Cancel(); }

  // The step that began at `start` and whose plan is `plan`; its calls ended by `ended`. An
  // extension is judged with the step before it. Pages until now count. Only where asks().
  ServerJudgement Judge(MonoTime start, const StepPlan& plan, bool extends, MonoTime ended,
                        const StepVerdict& client, const ClientLoad& load);

  // Looks about every second whether the deployment is back, until it is: then `back` once.
  void AwaitBack(std::function<void()> back);
  // As it was last seen; absent: nobody looked.
  const std::optional<DrainSummary>& drain() const { return drain_; }

 private:
  void Poll(MonoTime asked, MonoTime until, std::function<void()> done);
  void LookIfBack(std::function<void()> back);

  Scheduler& scheduler_;
  SignalFeed* const feed_;
  const ServerRules rules_;
  std::vector<MeasuredSpan> spans_;  // Of the step judged last.
  MonoTime made_{};
  std::optional<MonoTime> quiet_from_;
  std::optional<SignalHistory> before_;
  MonoTime load_ended_{};
  std::optional<DrainSummary> drain_;
  Timer timer_;
};

}  // namespace plimsoll
