#include "agent/replay/eval_asker.h"

#include <algorithm>
#include <utility>

#include "common/base/limits.h"
#include "common/base/rng.h"

namespace plimsoll {
namespace {

// How the driver numbers plays of a lane that is made again: far beyond what one can play.
constexpr std::uint32_t kGenerationBit = 20;

EvalJudgement JudgementOf(const EvalCase& eval, const CallResult& result) {
  if (result.outcome == Outcome::kOk) {
    return Judge(eval, {.content = result.content,
                        .content_too_long = result.content_too_long,
                        .tools = result.tools});
  }
  // It ended in order, and there was nothing: an answer, if none of use.
  if (result.outcome == Outcome::kEmpty) return {.outcome = EvalOutcome::kEmpty, .faults = {}};
  return {.outcome = EvalOutcome::kUnanswered, .faults = {}};
}

}  // namespace

// One eval in flight.
class EvalAsker::Ask final : public CallObserver {
 public:
  // `in_trickle`: the lane's number there.
  Ask(EvalAsker& asker, std::uint32_t of_lane, std::uint32_t in_trickle, const EvalTurn& which,
      StepWindow* current)
      : lane(of_lane),
        number(in_trickle),
        turn(which),
        window(current),
        released(asker.scheduler_.Now()),
        measured(window != nullptr && window->Measures(released)),
        asker_(asker) {}

  void Start(std::uint64_t play, std::uint64_t key) {
    CallRequest request;
    request.eval = &asker_.set_.cases[turn.case_index];
    request.max_tokens = request.eval->max_tokens;
    request.play_id = play;
    request.call_key = key;
    request.released = released;
    request.deadline = asker_.plan_.evals->deadline;
    call_ = asker_.transport_.Start(request, *this);
  }
  void OnCallEnded(const CallResult& result) override { asker_.OnEnded(*this, result); }

  const std::uint32_t lane;
  const std::uint32_t number;
  const EvalTurn turn;
  StepWindow* const window;  // Null of the mini run.
  const MonoTime released;
  const bool measured;

 private:
  EvalAsker& asker_;
  std::unique_ptr<CallTransport::Call> call_;
};

EvalAsker::EvalAsker(Scheduler& scheduler, CallTransport& transport, RecordSink& sink,
                     const RunPlan& plan, EvalSet set)
    : scheduler_(scheduler),
      transport_(transport),
      sink_(sink),
      plan_(plan),
      set_(std::move(set)),
      trickle_(static_cast<std::uint32_t>(set_.cases.size()), plan.evals->share, plan.seed) {}

EvalAsker::~EvalAsker() = default;

void EvalAsker::AskMiniRun(const MiniRunPart& part,
                           std::function<void(const MiniRunResult&)> done) {
  mini_run_ = std::make_unique<MiniRunState>();
  mini_run_->at_once = part.at_once;
  mini_run_->begun = scheduler_.Now();
  mini_run_->done = std::move(done);
  const std::vector<EvalTurn> all =
      MiniRun(static_cast<std::uint32_t>(set_.cases.size()), plan_.evals->repeats, plan_.seed);
  for (std::size_t i = part.part; i < all.size(); i += part.parts) {
    mini_run_->turns.push_back(all[i]);
  }
  mini_run_->limit = scheduler_.After(part.limit, [this] { EndMiniRun(); });
  AskMore();
}

void EvalAsker::AskMore() {
  MiniRunState& run = *mini_run_;
  while (!paused_ && !stopped_ && !run.turns.empty() && run.open < run.at_once) {
    const EvalTurn turn = run.turns.front();
    run.turns.pop_front();
    ++run.open;
    ++run.result.asked;
    const std::uint64_t play =
        MixKey(plan_.nonce, HashBytes("eval-mini-run"), turn.case_index, turn.repeat);
    asks_.push_back(std::make_unique<Ask>(*this, 0, 0, turn, nullptr));
    asks_.back()->Start(play, MixKey(play, 1));
  }
  if (!run.turns.empty() || run.open > 0 || run.finish.armed()) return;
  run.finish = scheduler_.After(Duration{0}, [this] { EndMiniRun(); });
}

void EvalAsker::EndMiniRun() {
  // Taken first: what is cut asks for no more.
  const std::unique_ptr<MiniRunState> run = std::move(mini_run_);
  run->limit.Cancel();
  run->result.left = static_cast<std::uint32_t>(run->turns.size());
  const MonoTime begun = run->begun;
  mini_run_ = std::make_unique<MiniRunState>();
  mini_run_->begun = begun;
  Cut([](const Ask& ask) { return ask.window == nullptr; });
  mini_run_.reset();
  if (run->done) run->done(run->result);
}

std::uint32_t EvalAsker::TrickleLane(std::uint32_t lane, const LaneTurns& turns) {
  return lane + limits::kLanesMax * (turns.first_play >> kGenerationBit);
}

void EvalAsker::OnCall(const LaneSpec& lane) {
  if (stopped_ || window_ == nullptr) return;
  LaneTurns& turns = lanes_.try_emplace(lane.lane).first->second;
  if (turns.first_play != lane.first_play) turns = {.first_play = lane.first_play};
  ++turns.calls;
  AskIfDue(lane.lane);
}

void EvalAsker::AskIfDue(std::uint32_t lane) {
  const auto at = lanes_.find(lane);
  if (at == lanes_.end() || stopped_ || paused_) return;
  LaneTurns& turns = at->second;
  if (turns.open || turns.planned) return;
  if (trickle_.DueAfter(TrickleLane(lane, turns), turns.asked) > turns.calls) return;
  turns.planned = true;
  due_.push_back(lane);
  if (ask_.armed()) return;
  ask_ = scheduler_.After(Duration{0}, [this] {
    ask_.Cancel();
    const std::vector<std::uint32_t> due = std::exchange(due_, {});
    for (const std::uint32_t one : due) AskTurn(one);
  });
}

void EvalAsker::AskTurn(std::uint32_t lane) {
  const auto at = lanes_.find(lane);
  if (at == lanes_.end() || !at->second.planned) return;
  LaneTurns& turns = at->second;
  turns.planned = false;
  if (stopped_ || paused_) return;
  const std::uint32_t number = TrickleLane(lane, turns);
  const EvalTurn turn = trickle_.At(number, turns.asked++);
  turns.open = true;
  asks_.push_back(std::make_unique<Ask>(*this, lane, number, turn, window_));
  Ask& ask = *asks_.back();
  if (ask.measured) {
    ++window_->evals_asked;
    ++window_->evals_open;
  }
  const std::uint64_t play = MixKey(plan_.nonce, HashBytes("eval"), number);
  ask.Start(play, MixKey(play, turn.repeat));
}

void EvalAsker::OnEnded(Ask& ask, const CallResult& result) {
  const EvalJudgement judgement = JudgementOf(set_.cases[ask.turn.case_index], result);
  const MonoTime end = std::max(ask.released, std::min(result.end, scheduler_.Now()));
  const MonoTime origin = ask.window != nullptr ? ask.window->start : mini_run_->begun;
  sink_.AddEval({.step = ask.window != nullptr ? ask.window->plan.step : kEvalMiniRun,
                 .lane = ask.lane,
                 .case_index = ask.turn.case_index,
                 .turn = ask.turn.repeat,
                 .block = ask.window != nullptr ? ask.window->BlockOf(ask.released) : kWarmUpBlock,
                 .released = (ask.released - origin).count(),
                 .end = (end - origin).count(),
                 .http_status = result.http_status,
                 .call = result.outcome,
                 .outcome = judgement.outcome,
                 .tool_faults = judgement.faults.bits()});
  const bool mini = ask.window == nullptr;
  const bool measured = ask.measured;
  const std::uint32_t lane = ask.lane;
  const std::uint32_t number = ask.number;
  if (measured) {
    ask.window->evals.Add(judgement.outcome);
    --ask.window->evals_open;
  }
  const auto owned =
      std::find_if(asks_.begin(), asks_.end(), [&](const auto& one) { return one.get() == &ask; });
  const std::unique_ptr<Ask> ended = std::move(*owned);  // Destroyed last: `result` may be its.
  asks_.erase(owned);
  if (mini) {
    if (mini_run_->open > 0) --mini_run_->open;
    if (mini_run_->done) AskMore();
    return;
  }
  const auto at = lanes_.find(lane);  // Perhaps ended, or made again.
  if (at != lanes_.end() && TrickleLane(lane, at->second) == number) {
    at->second.open = false;
    AskIfDue(lane);
  }
  if (measured && settled) settled();
}

template <typename Which>
void EvalAsker::Cut(Which which) {
  const MonoTime now = scheduler_.Now();
  // Ending one changes the list, so look again after each.
  for (;;) {
    const auto open =
        std::find_if(asks_.begin(), asks_.end(), [&](const auto& ask) { return which(*ask); });
    if (open == asks_.end()) return;
    OnEnded(**open, {.outcome = Outcome::kCut, .end = now});
  }
}

void EvalAsker::CutMeasured(const StepWindow& window) {
  Cut([&](const Ask& ask) { return ask.measured && ask.window == &window; });
}

void EvalAsker::Stop() {
  stopped_ = true;
  ask_.Cancel();
  if (mini_run_ != nullptr) {
    mini_run_->limit.Cancel();
    mini_run_->finish.Cancel();
    mini_run_->done = nullptr;
  }
  Cut([](const Ask&) { return true; });
}

void EvalAsker::Resume() {
  paused_ = false;
  if (mini_run_ != nullptr) AskMore();
  std::vector<std::uint32_t> lanes;
  for (const auto& [lane, turns] : lanes_) lanes.push_back(lane);
  std::sort(lanes.begin(), lanes.end());
  for (const std::uint32_t lane : lanes) AskIfDue(lane);
}

}  // namespace plimsoll
