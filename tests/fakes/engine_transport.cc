#include "tests/fakes/engine_transport.h"

#include <string>
#include <utility>

namespace plimsoll {

using Fault = EngineTransportOptions::Fault;

class EngineTransport::EngineCall final : public Call, public EngineObserver {
 public:
  EngineCall(Scheduler& scheduler, Engine& engine, const CallRequest& request,
             std::optional<Fault> fault, const Shape& shape, Duration idle_timeout,
             CallObserver& observer)
      : scheduler_(scheduler),
        engine_(engine),
        observer_(observer),
        fault_(fault),
        pause_(shape.pause),
        tokens_(shape.tokens) {
    result_.sent = result_.upload_done = scheduler.Now();
    if (fault_ && !fault_->after_first_token) {
      ArmFault();
      return;
    }
    if (idle_timeout != Duration::max()) {
      timer_ = scheduler_.After(idle_timeout, [this] { Fail(Outcome::kIdleTimeout); });
    }
    // The model takes the recorded blocks; live history only changes their count.
    result_.tokens_in =
        request.planned_tokens > 0 ? request.planned_tokens : request.prompt->tokens;
    content_bytes_max_ = request.content_bytes_max;
    call_key_ = request.call_key;
    ticket_ = engine.Submit({.blocks = request.prompt->spans,
                             .prompt_tokens = request.prompt->tokens,
                             .output_tokens = tokens_,
                             .session_key = SessionKey(request),
                             .call_key = request.call_key},
                            *this);
  }
  ~EngineCall() override {
    if (ticket_ != 0) engine_.Cancel(ticket_);
  }

  static std::uint64_t SessionKey(const CallRequest& request) {
    return request.parent_play_id != 0 ? request.parent_play_id : request.play_id;
  }

  // The engine speaks of its own clock; a record is stamped on the agent's.
  void OnFirstToken(MonoTime, std::uint32_t cached_tokens) override {
    result_.headers = result_.first_chunk = result_.first_token = scheduler_.Now();
    result_.last_token = result_.first_token;
    result_.chunks = 1;
    result_.tokens_cached = cached_tokens;
    timer_ = Timer();
    if (fault_) ArmFault();
  }
  void OnFinished(MonoTime) override {
    ticket_ = 0;
    if (fault_) return;  // Its end is the fault's.
    if (pause_ == Duration{0}) return Succeed();
    timer_ = scheduler_.After(pause_, [this] { Succeed(); });
  }

 private:
  void Succeed() {
    result_.last_token = result_.end = scheduler_.Now();
    result_.tokens_out = result_.chunks = tokens_;
    result_.http_status = 200;
    result_.outcome = Outcome::kOk;
    result_.flags = kCapReached;
    if (content_bytes_max_ > 0) Say();
    observer_.OnCallEnded(result_);  // May destroy this.
  }
  void ArmFault() {
    timer_ = scheduler_.After(fault_->after, [this] {
      if (result_.headers == CallResult::kNever && fault_->status != 0) {
        result_.headers = scheduler_.Now();
      }
      result_.http_status = fault_->status;
      result_.retry_after = fault_->retry_after;
      Fail(fault_->outcome);
    });
  }
  void Fail(Outcome outcome) {
    result_.outcome = outcome;
    result_.end = scheduler_.Now();
    observer_.OnCallEnded(result_);  // May destroy this.
  }
  // An answer that is a function of the call: four words of five bytes for each four tokens, the
  // first of them its key.
  void Say() {
    result_.content_tokens = tokens_;
    if (std::size_t{tokens_} * 5 > content_bytes_max_) {
      result_.content_too_long = true;
      return;
    }
    result_.content = std::to_string(call_key_).substr(0, 4) + "\n";
    while (result_.content.size() < std::size_t{tokens_} * 5) result_.content += "word ";
  }

  Scheduler& scheduler_;
  Engine& engine_;
  CallObserver& observer_;
  const std::optional<Fault> fault_;
  const Duration pause_;
  std::size_t content_bytes_max_ = 0;
  std::uint64_t call_key_ = 0;
  std::uint32_t tokens_ = 0;
  Engine::Ticket ticket_ = 0;
  CallResult result_;
  Timer timer_;
};

std::unique_ptr<CallTransport::Call> EngineTransport::Start(const CallRequest& request,
                                                            CallObserver& observer) {
  if (request.eval != nullptr) return options_.evals->Start(scheduler_, request, observer);
  if (options_.on_start) options_.on_start(scheduler_.Now(), request);
  return std::make_unique<EngineCall>(scheduler_, engine_, request, FaultOf(request),
                                      ShapeOf(request), options_.idle_timeout, observer);
}

FaultTarget EngineTransport::TargetOf(const CallRequest& request) const {
  const EngineGauges load = engine_.gauges();
  return {.number = request.call_key,
          .copy = engine_.CopyOf(EngineCall::SessionKey(request)),
          .in_flight = load.running + load.waiting};
}

EngineTransport::Shape EngineTransport::ShapeOf(const CallRequest& request) const {
  Shape shape{.tokens = request.max_tokens};
  if (options_.rules.empty()) return shape;
  const FaultTarget target = TargetOf(request);
  constexpr FaultKind kUncapped[] = {FaultKind::kUncapped};
  if (const auto* rule = FaultFor(options_.rules, kUncapped, 1, target, options_.moment())) {
    shape.tokens = rule->tokens;
  }
  const auto* rule = FaultFor(options_.rules, kAnswerFaults, 1, target, options_.moment());
  if (rule != nullptr && rule->kind == FaultKind::kStall && rule->pause != Duration::max()) {
    shape.pause = rule->pause;
  }
  return shape;
}

std::optional<Fault> EngineTransport::FaultOf(const CallRequest& request) {
  if (options_.fault) {
    if (const auto fault = options_.fault(scheduler_.Now())) return fault;
  }
  const std::uint64_t context = std::uint64_t{request.prompt->tokens} + request.max_tokens;
  if (options_.context_limit > 0 && context > options_.context_limit &&
      scheduler_.Now() >= options_.context_from) {
    return Fault{.outcome = Outcome::kContextOverflow, .status = 400};
  }
  return options_.rules.empty() ? std::nullopt : FaultByRule(request);
}

std::optional<Fault> EngineTransport::FaultByRule(const CallRequest& request) const {
  const FaultMoment moment = options_.moment();
  const FaultTarget target = TargetOf(request);
  if (const FaultRule* const rule = FaultFor(options_.rules, kGateFaults, 1, target, moment)) {
    // A copy that is gone is the gateway's to tell.
    if (OfCopies(*rule)) return Fault{.outcome = Outcome::kRefused, .status = 503};
    if (rule->kind == FaultKind::kCrash)
      return Fault{.outcome = Outcome::kConnectError, .status = 0};
    const bool busy = rule->status == 429 || rule->status == 503;
    return Fault{.outcome = busy ? Outcome::kRefused : Outcome::kHttpError,
                 .retry_after = rule->retry_after,
                 .status = static_cast<std::uint16_t>(rule->status)};
  }
  const FaultRule* const start = ActiveFault(options_.rules, FaultKind::kSlowStart, 0, moment);
  if (start != nullptr) return Fault{.retry_after = start->retry_after, .status = 503};
  if (ActiveFault(options_.rules, FaultKind::kHtml, target.copy, moment) != nullptr) {
    return Fault{.outcome = Outcome::kHttpError, .status = 200};
  }
  const FaultRule* const limit =
      ActiveFault(options_.rules, FaultKind::kContextLimit, target.copy, moment);
  if (limit != nullptr && request.prompt->tokens + request.max_tokens > limit->tokens) {
    return Fault{.outcome = Outcome::kContextOverflow, .status = 400};
  }
  const FaultRule* const rule = FaultFor(options_.rules, kAnswerFaults, 1, target, moment);
  if (rule == nullptr) return std::nullopt;
  const bool stall = rule->kind == FaultKind::kStall;
  if (stall && rule->pause != Duration::max()) return std::nullopt;  // Late, and whole: a shape.
  // Garbage instead of a stream comes before any token of one.
  const bool no_stream = rule->form == FaultForm::kBytes || rule->form == FaultForm::kJson ||
                         rule->form == FaultForm::kPage;
  Fault fault{.status = 200, .after_first_token = !no_stream};
  fault.outcome = stall                                ? Outcome::kIdleTimeout
                  : rule->kind == FaultKind::kTruncate ? Outcome::kTruncated
                  : rule->form == FaultForm::kBytes    ? Outcome::kTruncated
                  : rule->form == FaultForm::kPage     ? Outcome::kHttpError
                                                       : Outcome::kStreamError;
  if (rule->kind == FaultKind::kStall) fault.after = options_.idle_timeout;
  return fault;
}

}  // namespace plimsoll
