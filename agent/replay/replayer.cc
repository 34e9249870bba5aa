#include "agent/replay/replayer.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace plimsoll {

Replayer::Replayer(Scheduler& scheduler, CallTransport& transport, RecordSink& sink,
                   SelfLoad& self_load, const RunPlan& plan, const CorpusIndex& index,
                   EvalAsker* evals)
    : context_{scheduler, transport, sink, plan, index},
      self_load_(self_load),
      evals_(evals),
      primer_(context_) {
  context_.settled = [this] { OnSettled(); };
  if (evals_ == nullptr) return;
  evals_->settled = [this] { OnSettled(); };
  context_.call_released = [this](const LaneSpec& lane) { evals_->OnCall(lane); };
}

Replayer::~Replayer() = default;

Status Replayer::PrepareStep(const StepPlan& step, const std::vector<LaneSpec>& specs,
                             std::function<void(const Primer::Result&)> ready, bool fresh) {
  if (context_.stopping) return absl::FailedPreconditionError("a step after the stop");
  measuring_ = false;
  start_timer_.Cancel();
  measure_timer_.Cancel();
  measured_timer_.Cancel();
  drain_timer_.Cancel();
  close_timer_.Cancel();
  closed_ = nullptr;
  primer_.Cancel();
  prepared_ = step;
  has_prepared_ = true;
  wanted_ = specs;
  ready_ = std::move(ready);
  Retire(specs, fresh, step.drain_limit);
  if (retiring_.empty()) MakeLanes();
  return absl::OkStatus();
}

void Replayer::Retire(const std::vector<LaneSpec>& wanted, bool fresh, Duration drain_limit) {
  std::unordered_set<std::uint32_t> kept;
  for (const LaneSpec& spec : wanted) kept.insert(spec.lane);
  if (retiring_.empty()) retired_ = {};
  for (auto& lane : lanes_) {
    if (!fresh && kept.contains(lane->spec().lane)) continue;
    lane->Retire();
    if (evals_ != nullptr) evals_->Retire(lane->spec().lane);
    ++retired_.lanes;
    retiring_.push_back(std::move(lane));
  }
  std::erase(lanes_, nullptr);
  if (retiring_.empty()) return;
  retire_limit_timer_ = context_.scheduler.After(drain_limit, [this] {
    for (const auto& lane : retiring_) {
      retired_.calls_cut += lane->in_flight();
      lane->CutAll();
    }
    OnSettled();
  });
  OnSettled();
}

// Those of the prepared step that are not there yet, once the surplus ones are gone.
void Replayer::MakeLanes() {
  for (const auto& lane : lanes_) {
    std::erase_if(wanted_, [&](const LaneSpec& s) { return s.lane == lane->spec().lane; });
  }
  for (const LaneSpec& spec : wanted_) lanes_.push_back(std::make_unique<Lane>(context_, spec));
  wanted_.clear();
  std::vector<Lane*> added;
  for (const auto& lane : lanes_) {
    if (!lane->begun()) added.push_back(lane.get());
  }
  primer_.Run(added, prepared_.prime_limit, std::move(ready_));
}

Status Replayer::CommitStep(std::uint32_t step, MonoTime start,
                            std::function<void(StepTally)> closed) {
  if (context_.stopping) return absl::FailedPreconditionError("a start after the stop");
  if (!has_prepared_ || prepared_.step != step) {
    return absl::FailedPreconditionError(fmt::format("step {} was not prepared", step));
  }
  has_prepared_ = false;
  closed_ = std::move(closed);
  windows_.push_back(std::make_unique<StepWindow>(prepared_, start));
  StepWindow* window = windows_.back().get();
  start_timer_ = context_.scheduler.At(start, [this, window] { OnStart(window); });
  return absl::OkStatus();
}

void Replayer::OnStart(StepWindow* window) {
  start_error_ns_ = (context_.scheduler.Now() - window->start).count();
  context_.window = window;
  if (evals_ != nullptr) evals_->OpenWindow(*window);
  measuring_ = true;
  ended_ = false;
  context_.in_flight.SetWindow(window->measure_begin, window->measure_end);
  for (const auto& lane : lanes_) {
    lane->OpenWindow(*window);
    if (!lane->begun()) lane->Begin(window->start, window->plan.warm_up);
  }
  measured_timer_ = context_.scheduler.At(window->measure_end, [this] {
    OnMeasured();
    OnSettled();
  });
  measure_timer_ = context_.scheduler.At(window->measure_begin, [this] { self_load_.Reset(); });
  drain_timer_ = context_.scheduler.At(window->measure_end + window->plan.drain_limit, [this] {
    CutMeasured();
    OnSettled();
  });
}

void Replayer::CutMeasured() {
  for (const auto& lane : lanes_) lane->CutMeasured(*context_.window);
  if (evals_ != nullptr) evals_->CutMeasured(*context_.window);
}

void Replayer::OnMeasured() {
  ended_ = true;
  loop_lag_max_ = self_load_.loop_lag_max();
  loop_stalled_ = self_load_.loop_stalled();
  wall_moved_ = self_load_.wall_moved();
  cpu_share_max_ = self_load_.cpu_share_max();
  host_ = self_load_.host();  // Last: it takes a moment to look.
}

void Replayer::EndMeasure(std::uint32_t step, Duration measure) {
  StepWindow* window = context_.window;
  if (!measuring_ || ended_ || context_.stopping || window->plan.step != step) return;
  const MonoTime end = std::max(window->measure_begin + measure, context_.scheduler.Now());
  if (end >= window->measure_end) return;
  window->measure_end = end;
  context_.in_flight.ShortenTo(end);
  for (const auto& lane : lanes_) lane->ShortenWindow(end);
  drain_timer_.Cancel();
  measured_timer_ = context_.scheduler.At(end, [this] {
    OnMeasured();
    CutMeasured();
    OnSettled();
  });
}

void Replayer::OnSettled() {
  const auto open = [](const auto& lane) { return lane->in_flight() > 0; };
  if (!retiring_.empty() && !context_.stopping && !retire_timer_.armed() &&
      std::none_of(retiring_.begin(), retiring_.end(), open)) {
    retire_timer_ = context_.scheduler.After(Duration{0}, [this] {
      retire_timer_.Cancel();
      retire_limit_timer_.Cancel();
      retiring_.clear();
      MakeLanes();
    });
  }
  // Closing waits for a turn of its own: the lane that settled is still in its callback.
  if (measuring_ && ended_ && context_.window->drained() && !close_timer_.armed()) {
    close_timer_ = context_.scheduler.After(Duration{0}, [this] { CloseStep(); });
  }
  if (context_.stopping && context_.in_flight.count() == 0 && stopped_ && !stop_timer_.armed()) {
    stop_timer_ = context_.scheduler.After(Duration{0}, [this] {
      stop_timer_.Cancel();  // Disarmed: another Stop() is answered too.
      stop_limit_timer_.Cancel();
      if (const auto stopped = std::move(stopped_)) stopped();
    });
  }
}

void Replayer::CloseStep() {
  close_timer_.Cancel();
  drain_timer_.Cancel();
  measuring_ = false;
  StepTally tally = MakeTally();
  if (const auto closed = std::move(closed_)) closed(std::move(tally));
}

StepTally Replayer::MakeTally() {
  const StepWindow& window = *context_.window;
  StepTally tally;
  tally.step = window.plan.step;
  tally.attempts_released = window.attempts;
  tally.outcomes = window.outcomes;
  context_.in_flight.Settle(window.measure_end);
  tally.in_flight_request_ns = context_.in_flight.request_ns();
  tally.start_error_ns = start_error_ns_;
  tally.lateness_max_ns = window.lateness_ns.max();
  tally.lateness_p99_ns = window.lateness_ns.Quantile(0.99).value_or(0);
  tally.loop_lag_max_ns = loop_lag_max_.count();
  tally.loop_stalled_ns = loop_stalled_.count();
  tally.wall_moved_ns = wall_moved_.count();
  tally.cpu_share_max = cpu_share_max_;
  tally.evals_asked = window.evals_asked;
  tally.evals = window.evals;
  tally.host = host_;
  tally.lanes.reserve(lanes_.size());
  for (const auto& lane : lanes_) tally.lanes.push_back(lane->Tally(window));
  return tally;
}

void Replayer::Stop(Duration drain_limit, std::function<void()> stopped) {
  context_.stopping = true;
  stopped_ = std::move(stopped);
  primer_.Cancel();
  start_timer_.Cancel();
  measured_timer_.Cancel();
  retire_limit_timer_.Cancel();
  retire_timer_.Cancel();
  for (const auto& lane : lanes_) lane->StopReleases();
  if (evals_ != nullptr) evals_->Stop();
  // Not the step's drain timer, which a step that closes meanwhile cancels.
  stop_by_ = std::min(stop_by_, context_.scheduler.Now() + drain_limit);
  stop_limit_timer_ = context_.scheduler.At(stop_by_, [this] {
    for (const auto& lane : lanes_) lane->CutAll();
    for (const auto& lane : retiring_) lane->CutAll();
    OnSettled();
  });
  OnSettled();
}

void Replayer::Pause() {
  context_.paused = true;
  if (evals_ != nullptr) evals_->Pause();
  for (const auto& lane : lanes_) lane->Pause();
}

void Replayer::Resume() {
  context_.paused = false;
  primer_.Resume();
  for (const auto& lane : lanes_) lane->Resume();
  if (evals_ != nullptr) evals_->Resume();
}

}  // namespace plimsoll
