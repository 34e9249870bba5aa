#include "agent/replay/lane.h"

#include <algorithm>
#include <utility>

#include "agent/replay/back_off.h"
#include "common/base/check.h"
#include "common/base/rng.h"
#include "common/plan/output_length.h"

namespace plimsoll {

// One call between the moment it may be released and the end of its last attempt.
class Lane::ActiveCall final : public CallObserver {
 public:
  explicit ActiveCall(Lane& lane) : lane_(lane) {}
  void OnCallEnded(const CallResult& result) override { lane_.OnEnded(*this, result); }

  std::uint32_t call = 0;
  std::uint8_t attempt = 1;
  MonoTime due{};                     // Of this attempt.
  MonoTime first_released{};          // Of the first attempt.
  StepWindow* window = nullptr;       // At this attempt's release.
  StepWindow* call_window = nullptr;  // At the first release, if it lies in the measured time.
  bool released = false;              // At least once.
  bool in_flight = false;
  Prompt prompt;
  std::unique_ptr<CallTransport::Call> transfer;
  Timer timer;

 private:
  Lane& lane_;
};

Lane::Lane(LaneContext& context, const LaneSpec& spec)
    : context_(context),
      spec_(spec),
      first_share_(StartShare(context.plan.seed, spec.lane, spec.first_play)),
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
  play_->Start(at, share, context_.index.session(*session), &due_);
  for (Play::Due& d : due_) {
    d.at = spread > Duration{0} ? at + (d.at - at) % spread : at;
  }
  Schedule(due_);
  UpdateState(at);
}

Lane::ActiveCall& Lane::NewCall(std::uint32_t call, MonoTime due) {
  if (spare_.empty()) spare_.push_back(std::make_unique<ActiveCall>(*this));
  active_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  ActiveCall& fresh = *active_.back();
  fresh.call = call;
  fresh.attempt = 1;
  fresh.due = due;
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
  if (context_.stopping || play_->failed()) return;
  const MonoTime now = context_.scheduler.Now();
  for (const Play::Due& d : due) {
    ActiveCall& call = NewCall(d.call, d.at);
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
  if (hold_until_ > now) {
    // After a failure the whole lane is silent; what would have come meanwhile is released at its
    // end.
    call.due = hold_until_;
    call.timer = context_.scheduler.At(hold_until_, [this, &call] { Fire(call); });
    return;
  }
  const PromptKeys keys = KeysFor(context_.plan, spec_.lane, play_->number());
  StepWindow& window = *context_.window;
  call.window = &window;
  const bool measured = window.Measures(call.due);
  if (!call.released) {
    call.released = true;
    call.first_released = call.due;
    play_->CountRelease(call.due, window.measure_begin, window.measure_end);
    if (measured) {
      call.call_window = &window;
      ++window.calls_open;
    }
    context_.index.prompts(play_->session()).Build(call.call, keys, &call.prompt);
  }
  if (measured) {
    ++window.attempts;
    ++window.attempts_open;
    window.lateness_ns.Record((now - call.due).count());
  }
  EndHold(call.due);
  if (in_flight_ == 0) account_.Enter(LaneState::kLate, call.due);
  call.in_flight = true;
  ++in_flight_;
  context_.in_flight.Set(now, context_.in_flight.count() + 1);

  const Session& session = context_.index.session(play_->session());
  const Call& recorded = session.calls[call.call];
  const StreamIds ids = IdsOf(keys, recorded.stream);
  CallRequest request;
  request.prompt = &call.prompt;
  const OutputAsk ask = AskFor(context_.plan, recorded.tokens_out);
  request.max_tokens = ask.max_tokens;
  request.min_tokens = ask.min_tokens;
  request.ignore_eos = ask.ignore_eos;
  request.play_id = ids.own;
  request.parent_play_id = ids.parent;
  request.call_key = MixKey(keys.play, call.call, call.attempt);
  request.released = call.due;
  call.transfer = context_.transport.Start(request, call);
  UpdateState(now);
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
    const std::uint32_t index = call.call;
    CloseCall(call);
    due_.clear();
    play_->Complete(index, ended, &due_);
    Schedule(due_);
  }
  FinishPlayIfDone();
  UpdateState(ended);
  context_.settled();
}

void Lane::OnFailed(ActiveCall& call, const CallResult& result) {
  const MonoTime now = context_.scheduler.Now();
  ++failures_in_row_;
  const FailurePolicy& policy = context_.plan.failure;
  const Duration wait = BackOff(policy, failures_in_row_, result.retry_after,
                                MixKey(context_.plan.seed, HashBytes("back-off"), spec_.lane,
                                       next_play_, call.call, call.attempt));
  hold_until_ = std::max(hold_until_, now + wait);
  hold_state_ =
      result.outcome == Outcome::kClientError ? LaneState::kClientError : LaneState::kRefused;
  const bool again = MayRetry(result.outcome) && call.attempt < policy.attempts_max &&
                     !play_->failed() && !context_.stopping;
  Record(call, result, !again);
  if (again) {
    RetryLater(call, hold_until_);
  } else {
    FailPlay(call, now);
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

void Lane::FailPlay(const ActiveCall& call, MonoTime at) {
  if (play_->failed()) return;
  // In the current window, which is not the call's where its step was abandoned or is over: this
  // step then has no cell for it, and its blocks and offsets would mean another time.
  const StepWindow& window = *context_.window;
  play_->Fail(window.BlockOf(call.first_released), window.Offset(at));
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
  if (play_ == nullptr || in_flight_ > 0 || context_.stopping) return;
  if (play_->failed() ? !active_.empty() : !play_->done()) return;
  const MonoTime now = context_.scheduler.Now();
  const MonoTime next = play_->failed() ? std::max(hold_until_, now) : now;
  EndPlay(next);
  if (next > now) {
    next_play_timer_ =
        context_.scheduler.At(next, [this, next] { StartPlay(next, 0, Duration{0}); });
  } else {
    StartPlay(now, 0, Duration{0});
  }
}

void Lane::EndPlay(MonoTime next_play_at) {
  play_->SetNextPlayAt(context_.window->Offset(next_play_at));
  if (play_->started_at() < context_.window->measure_end) ended_plays_.push_back(play_->tally());
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

void Lane::Record(const ActiveCall& call, const CallResult& result, bool last_attempt) {
  const StepWindow& window = *call.window;
  const Session& session = context_.index.session(play_->session());
  const auto offset = [&](MonoTime t) {
    return t == CallResult::kNever ? kAbsentNanos : window.Offset(t);
  };
  CallRecord r;
  r.step = window.plan.step;
  r.lane = spec_.lane;
  r.play = play_->number();
  r.session = play_->session();
  r.call = call.call;
  r.stream = static_cast<std::uint16_t>(session.calls[call.call].stream);
  r.attempt = call.attempt;
  r.tier = spec_.tier;
  r.block = window.BlockOf(call.due);
  r.first_released = window.Offset(call.first_released);
  r.released = window.Offset(call.due);
  r.sent = offset(result.sent);
  r.upload_done = offset(result.upload_done);
  r.headers = offset(result.headers);
  r.first_chunk = offset(result.first_chunk);
  r.first_token = offset(result.first_token);
  r.last_token = offset(result.last_token);
  r.end = window.Offset(result.end);
  r.tokens_in = result.tokens_in;
  r.tokens_cached = result.tokens_cached;
  r.tokens_out = result.tokens_out;
  r.tokens_first_chunk = result.tokens_first_chunk;
  r.chunks = result.chunks;
  r.tokens_planned = call.prompt.tokens;
  r.messages = static_cast<std::uint32_t>(call.prompt.messages.size());
  r.tokens_asked = AskFor(context_.plan, session.calls[call.call].tokens_out).asked;
  r.http_status = result.http_status;
  r.outcome = result.outcome;
  r.resends = result.resends;
  r.answer = result.answer;
  r.flags = static_cast<std::uint8_t>(result.flags | (last_attempt ? kLastAttempt : 0));
  context_.sink.Add(r);
}

void Lane::OpenWindow(const StepWindow& window) {
  account_.Settle(window.start);
  account_.SetWindow(window.measure_begin, window.measure_end);
  ended_plays_.clear();
  if (play_ != nullptr) play_->OpenWindow();
}

LaneTally Lane::Tally(const StepWindow& window) {
  EndHold(window.measure_end);
  account_.Settle(std::max(window.measure_end, context_.scheduler.Now()));
  LaneTally tally{.lane = spec_.lane, .tier = spec_.tier, .state_ns = account_.spent()};
  const std::int64_t begin = window.Offset(window.measure_begin);
  for (const PlayTally& play : ended_plays_) {
    // A play that ended in the warm-up was not alive in the measured time.
    if (play.next_play_at_ns >= begin) tally.plays.push_back(play);
  }
  if (play_ != nullptr && play_->started_at() < window.measure_end) {
    if (play_->failed()) play_->SetNextPlayAt(window.Offset(hold_until_));
    tally.plays.push_back(play_->tally());
  }
  return tally;
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
        FailPlay(waiting, now);
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
