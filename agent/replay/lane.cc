#include "agent/replay/lane.h"

#include <algorithm>
#include <utility>

#include "agent/replay/back_off.h"
#include "agent/replay/lane_call.h"
#include "common/base/check.h"
#include "common/base/rng.h"

namespace plimsoll {

Lane::Lane(LaneContext& context, const LaneSpec& spec)
    : context_(context),
      spec_(spec),
      first_share_(StartShare(context.plan.seed, spec.lane, spec.first_play)),
      ended_plays_(spec.lane),
      next_play_(spec.first_play) {}

Lane::~Lane() = default;

std::optional<std::uint32_t> Lane::first_session() const {
  return context_.index.rotation().SessionFor(spec_.tier, spec_.rank, spec_.first_play);
}

void Lane::Begin(MonoTime at, Duration spread) {
  begun_ = true;
  StartPlay(at, first_share_, spread);
}

void Lane::StartPlay(MonoTime at, double share, Duration spread) {
  const auto session = context_.index.rotation().SessionFor(spec_.tier, spec_.rank, next_play_);
  if (!session.has_value()) {
    account_.Enter(LaneState::kNoSession, at);
    return;
  }
  play_ = std::make_unique<Play>(context_.index, *session, next_play_++);
  due_.clear();
  live_history_.Clear();
  play_->Start(at, share, &due_);
  for (Play::Due& d : due_) {
    d.at = spread > Duration{0} ? at + (d.at - at) % spread : at;
  }
  Schedule(due_);
  UpdateState(at);
}

Lane::ActiveCall& Lane::NewCall(const Play::Due& due) {
  if (spare_.empty()) spare_.push_back(std::make_unique<ActiveCall>(*this));
  active_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  ActiveCall& fresh = *active_.back();
  fresh.call = due.call;
  fresh.attempt = 1;
  fresh.due = due.at;
  fresh.pause = due;
  fresh.window = fresh.call_window = nullptr;
  fresh.released = fresh.in_flight = false;
  return fresh;
}

void Lane::Release(ActiveCall& call) {
  call.timer.Cancel();
  call.transfer.reset();
  const auto it = std::find_if(active_.begin(), active_.end(),
                               [&](const auto& owned) { return owned.get() == &call; });
  PLIMSOLL_CHECK(it != active_.end());
  spare_.push_back(std::move(*it));
  active_.erase(it);
}

void Lane::Schedule(const std::vector<Play::Due>& due) {
  if (stopping() || play_->failed()) return;
  const MonoTime now = context_.scheduler.Now();
  for (const Play::Due& d : due) {
    ActiveCall& call = NewCall(d);
    if (d.at <= now) {
      Fire(call);
    } else {
      call.timer = context_.scheduler.At(d.at, [this, &call] { Fire(call); });
    }
  }
}

void Lane::Fire(ActiveCall& call) {
  const MonoTime now = context_.scheduler.Now();
  if (context_.paused) return;  // Resume() fires what is due.
  if (context_.plan.failure.silence == Silence::kLane && hold_until_ > now) {
    // After a failure the whole lane is silent; what would have come meanwhile is released at its
    // end.
    call.due = hold_until_;
    call.timer = context_.scheduler.At(hold_until_, [this, &call] { Fire(call); });
    return;
  }
  StepWindow& window = *context_.window;
  call.window = &window;
  const bool measured = window.Measures(call.due);
  const bool first = !call.released;
  if (first) FirstRelease(call, measured);
  if (measured) {
    ++window.attempts;
    ++window.attempts_open;
    window.lateness_ns.Record((now - call.due).count());
    fidelity_.turns_live += call.live.size();
    fidelity_.turns_recorded += call.answers.size() - call.live.size();
  }
  EndHold(call.due);
  if (in_flight_ == 0) account_.Enter(LaneState::kLate, call.due);
  call.in_flight = true;
  ++in_flight_;
  context_.in_flight.Set(now, context_.in_flight.count() + 1);
  Send(call);
  UpdateState(now);
  if (first && context_.call_released) context_.call_released(spec_);
}

void Lane::OnEnded(ActiveCall& call, const CallResult& result) {
  PLIMSOLL_CHECK(call.in_flight);
  call.in_flight = false;
  --in_flight_;
  const MonoTime now = context_.scheduler.Now();
  context_.in_flight.Set(now, context_.in_flight.count() - 1);
  const MonoTime ended = std::min(result.end, now);  // The result may die with its call below.
  const bool measured = call.window->Measures(call.due);
  if (measured) {
    ++call.window->outcomes[static_cast<std::size_t>(result.outcome)];
    --call.window->attempts_open;
  }
  if (result.outcome != Outcome::kOk) {
    OnFailed(call, result);
  } else {
    failures_in_row_ = 0;
    Record(call, result, /*last_attempt=*/true);
    if (context_.plan.history == History::kLive) KeepAnswer(call, result);
    CompleteCall(call, ended, ended);
  }
  FinishPlayIfDone();
  UpdateState(ended);
  context_.settled();
}

void Lane::CompleteCall(ActiveCall& call, MonoTime at, MonoTime not_before) {
  const std::uint32_t index = call.call;
  CloseCall(call);
  due_.clear();
  play_->Complete(index, at, &due_);
  for (Play::Due& due : due_) due.at = std::max(due.at, not_before);
  Schedule(due_);
}

void Lane::OnFailed(ActiveCall& call, const CallResult& result) {
  const MonoTime now = context_.scheduler.Now();
  if (call.attempt == 1) call.first_failed = now;
  ++failures_in_row_;
  const FailurePolicy& policy = context_.plan.failure;
  const Duration wait = BackOff(policy, failures_in_row_, result.retry_after,
                                MixKey(context_.plan.seed, HashBytes("back-off"), spec_.lane,
                                       next_play_, call.call, call.attempt));
  hold_until_ = std::max(hold_until_, now + wait);
  hold_state_ =
      result.outcome == Outcome::kClientError ? LaneState::kClientError : LaneState::kRefused;
  // A silent lane waits for the longest of its waits, a stream for its own.
  const MonoTime silent_until = policy.silence == Silence::kLane ? hold_until_ : now + wait;
  const bool goes_on = !play_->failed() && !stopping();
  const bool again =
      goes_on && policy.retry.Contains(result.outcome) && call.attempt < policy.attempts_max;
  Record(call, result, !again);
  if (again) {
    RetryLater(call, silent_until);
  } else if (goes_on && !EndsPlay(policy, result.outcome)) {
    CompleteCall(call, now, silent_until);
  } else {
    FailPlay(call, result.outcome == Outcome::kClientError);
    CloseCall(call);
  }
}

void Lane::RetryLater(ActiveCall& call, MonoTime at) {
  // The transfer that just ended is destroyed here, in its own last callback, as its contract
  // allows.
  call.transfer.reset();
  ++call.attempt;
  call.due = at;
  call.timer = context_.scheduler.At(at, [this, &call] { Fire(call); });
}

void Lane::FailPlay(const ActiveCall& call, bool client_fault) {
  if (play_->failed()) return;
  // In the current window, which is not the call's where its step was abandoned or is over: this
  // step then has no cell for it, and its blocks would mean another time.
  const StepWindow& window = *context_.window;
  play_->Fail(window.BlockOf(call.first_released), call.first_failed, client_fault);
  // Nothing of this play is released any more; what is in flight runs to its end.
  for (std::size_t i = active_.size(); i-- > 0;) {
    ActiveCall& other = *active_[i];
    if (&other != &call && !other.in_flight) CloseCall(other);
  }
}

void Lane::CloseCall(ActiveCall& call) {
  if (call.call_window != nullptr) --call.call_window->calls_open;
  Release(call);
}

void Lane::FinishPlayIfDone() {
  if (play_ == nullptr || in_flight_ > 0 || stopping()) return;
  if (play_->failed() ? !active_.empty() : !play_->done()) return;
  const MonoTime now = context_.scheduler.Now();
  const MonoTime next = std::max(hold_until_, now);
  EndPlay(next);
  if (next > now) {
    next_play_timer_ =
        context_.scheduler.At(next, [this, next] { StartPlay(next, 0, Duration{0}); });
  } else {
    StartPlay(now, 0, Duration{0});
  }
}

void Lane::EndPlay(MonoTime next_play_at) {
  ended_plays_.Add(*context_.window, play_->tally(), play_->started_at(), next_play_at);
  play_.reset();
}

void Lane::EndHold(MonoTime at) {
  // A hold ends without an event of its own; from then on the lane was only waiting for its delay.
  if (in_flight_ == 0 && account_.state() == hold_state_ && hold_until_ < at) {
    account_.Enter(LaneState::kPlannedDelay, hold_until_);
  }
}

void Lane::UpdateState(MonoTime at) {
  LaneState state = LaneState::kPlannedDelay;
  if (in_flight_ > 0) {
    state = LaneState::kInFlight;
  } else if (context_.paused) {
    state = LaneState::kDeadMan;
  } else if (hold_until_ > at) {
    state = hold_state_;
  } else if (active_.empty() && !next_play_timer_.armed()) {
    state = LaneState::kNoSession;
  }
  account_.Enter(state, at);
}

void Lane::OpenWindow(const StepWindow& window) {
  account_.Settle(window.start);
  account_.SetWindow(window.measure_begin, window.measure_end);
  ended_plays_.Clear();
  fidelity_ = {};
  if (play_ != nullptr) play_->OpenWindow();
}

LaneTally Lane::Tally(const StepWindow& window) {
  EndHold(window.measure_end);
  account_.Settle(std::max(window.measure_end, context_.scheduler.Now()));
  PlayBook plays = ended_plays_;
  if (play_ != nullptr) {
    const MonoTime next = play_->failed() ? hold_until_ : MonoTime::max();
    plays.Add(window, play_->tally(), play_->started_at(), next);
  }
  return {.lane = spec_.lane,
          .tier = spec_.tier,
          .state_ns = account_.spent(),
          .plays = plays.sums(),
          .failed_plays = plays.failed(),
          .fidelity = fidelity_};
}

void Lane::CutMeasured(StepWindow& window) {
  const MonoTime now = context_.scheduler.Now();
  // Ending one call may close others, so look again after each.
  for (bool found = true; found;) {
    found = false;
    for (const auto& call : active_) {
      const bool attempt_open =
          call->in_flight && call->window == &window && window.Measures(call->due);
      if (call->call_window != &window && !attempt_open) continue;
      found = true;
      if (call->in_flight) {
        OnEnded(*call, {.outcome = Outcome::kCut, .end = now});
      } else {
        ActiveCall& waiting = *call;
        FailPlay(waiting, /*client_fault=*/false);
        CloseCall(waiting);
        FinishPlayIfDone();
        UpdateState(now);
      }
      break;
    }
  }
}

void Lane::StopReleases() {
  next_play_timer_.Cancel();
  for (std::size_t i = active_.size(); i-- > 0;) {
    if (!active_[i]->in_flight) CloseCall(*active_[i]);
  }
}

void Lane::Retire() {
  retired_ = true;
  StopReleases();
}

void Lane::CutAll() {
  StopReleases();
  while (!active_.empty()) {
    OnEnded(*active_.back(), {.outcome = Outcome::kCut, .end = context_.scheduler.Now()});
  }
}

void Lane::Pause() {
  const MonoTime now = context_.scheduler.Now();
  EndHold(now);
  UpdateState(now);
}

void Lane::Resume() {
  const MonoTime now = context_.scheduler.Now();
  UpdateState(now);
  for (std::size_t i = 0; i < active_.size(); ++i) {
    ActiveCall& call = *active_[i];
    if (call.in_flight || call.due > now) continue;
    call.timer.Cancel();  // It may be due in this very turn, and would fire the call again.
    call.due = now;
    Fire(call);
  }
}

}  // namespace plimsoll
