#include "coordinator/api/watch_hub.h"

#include <utility>

#include <fmt/format.h>

#include "coordinator/api/api_messages.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

void SendRun(const RunView& view, WatchSink& sink) {
  v1::RunEvent event;
  ToApi(view, event.mutable_run());
  sink.Send(event);
}

}  // namespace

WatchHub::WatchHub(Scheduler& scheduler, const Results& results)
    : scheduler_(scheduler), results_(results) {}

WatchHub::~WatchHub() = default;

StatusOr<WatchHub::WatchId> WatchHub::Add(std::string_view id_start,
                                          std::shared_ptr<WatchSink> sink) {
  if (watches_.size() >= kWatchesMax) {
    return absl::ResourceExhaustedError(
        fmt::format("{} readers watch already, which is the most; try again later", kWatchesMax));
  }
  ASSIGN_OR_RETURN(const RunView view, results_.Get(id_start));
  const WatchId id = next_++;
  SendRun(view, *sink);
  if (!view.live) {
    sink->End(absl::OkStatus());
    return id;
  }
  watches_.emplace(id, Watch{.run = view.info.id,
                             .sink = std::move(sink),
                             .steps_sent = view.model.steps.size(),
                             .preflight_sent = view.model.preflight.has_value(),
                             .said = scheduler_.Now()});
  if (!tick_.armed()) Arm();
  return id;
}

void WatchHub::Remove(WatchId id) {
  watches_.erase(id);
  if (watches_.empty()) tick_.Cancel();
}

void WatchHub::Arm() {
  tick_ = scheduler_.After(kPeriod, [this] { Look(); });
}

void WatchHub::Look() {
  tick_.Cancel();
  std::map<std::string, StatusOr<RunView>> views;  // Each run is read once, however many watch it.
  for (auto it = watches_.begin(); it != watches_.end();) {
    Watch& watch = it->second;
    auto view = views.find(watch.run);
    if (view == views.end()) view = views.emplace(watch.run, results_.Get(watch.run)).first;
    it = Show(watch, view->second) ? std::next(it) : watches_.erase(it);
  }
  if (!watches_.empty()) Arm();
}

bool WatchHub::Show(Watch& watch, const StatusOr<RunView>& view) {
  if (HasLagged(watch)) {
    watch.sink->Cut();
    return false;
  }
  if (!view.ok()) {
    if (++watch.failures < kFailuresMax) return true;
    watch.sink->End(view.status());
    return false;
  }
  watch.failures = 0;
  return ShowProgress(watch, *view);
}

bool WatchHub::ShowProgress(Watch& watch, const RunView& view) {
  for (; watch.steps_sent < view.model.steps.size(); ++watch.steps_sent) {
    v1::RunEvent event;
    ToApi(view.model.steps[watch.steps_sent], event.mutable_step());
    watch.sink->Send(event);
    watch.said = scheduler_.Now();
  }
  if (!view.live) {
    SendRun(view, *watch.sink);
    watch.sink->End(absl::OkStatus());
    return false;
  }
  if (watch.sink->lagging()) return true;
  if (view.model.preflight && !std::exchange(watch.preflight_sent, true)) {
    SendRun(view, *watch.sink);
    watch.said = scheduler_.Now();
  }
  if (view.status.has_value()) {
    v1::RunEvent event;
    ToApi(*view.status, event.mutable_live());
    watch.sink->Send(event);
    watch.said = scheduler_.Now();
  } else if (scheduler_.Now() - watch.said >= kKeepAlive) {
    watch.sink->KeepAlive();
    watch.said = scheduler_.Now();
  }
  return true;
}

bool WatchHub::HasLagged(Watch& watch) {
  if (!watch.sink->lagging()) {
    watch.lags_from.reset();
    return false;
  }
  if (!watch.lags_from.has_value()) watch.lags_from = scheduler_.Now();
  return scheduler_.Now() - *watch.lags_from > kLagMax;
}

void WatchHub::EndAll(const Status& status) {
  Look();
  for (auto& [id, watch] : std::exchange(watches_, {})) watch.sink->End(status);
  tick_.Cancel();
}

}  // namespace plimsoll
