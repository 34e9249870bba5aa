#include "tests/fakes/engine_transport.h"

#include <utility>

namespace plimsoll {

class EngineTransport::EngineCall final : public Call, public EngineObserver {
 public:
  EngineCall(Scheduler& scheduler, Engine& engine, const CallRequest& request,
             CallObserver& observer)
      : scheduler_(scheduler), engine_(engine), observer_(observer), tokens_(request.max_tokens) {
    result_.sent = result_.upload_done = scheduler.Now();
    result_.tokens_in = request.prompt->tokens;
    ticket_ = engine.Submit(
        {.blocks = request.prompt->spans,
         .prompt_tokens = request.prompt->tokens,
         .output_tokens = tokens_,
         .session_key = request.parent_play_id != 0 ? request.parent_play_id : request.play_id,
         .call_key = request.call_key},
        *this);
  }
  EngineCall(Scheduler& scheduler, Engine& engine, const EngineTransportOptions::Fault& fault,
             CallObserver& observer)
      : scheduler_(scheduler), engine_(engine), observer_(observer) {
    result_.sent = result_.upload_done = scheduler.Now();
    result_.outcome = fault.outcome;
    result_.http_status = fault.status;
    result_.retry_after = fault.retry_after;
    fault_ = scheduler.After(fault.after, [this] {
      result_.headers = result_.end = scheduler_.Now();
      observer_.OnCallEnded(result_);
    });
  }
  ~EngineCall() override {
    if (ticket_ != 0) engine_.Cancel(ticket_);
  }

  // The engine speaks of its own clock; a record is stamped on the agent's.
  void OnFirstToken(MonoTime, std::uint32_t cached_tokens) override {
    result_.headers = result_.first_chunk = result_.first_token = scheduler_.Now();
    result_.tokens_cached = cached_tokens;
  }
  void OnFinished(MonoTime) override {
    ticket_ = 0;
    result_.last_token = result_.end = scheduler_.Now();
    result_.tokens_out = result_.chunks = tokens_;
    result_.http_status = 200;
    result_.outcome = Outcome::kOk;
    result_.flags = kCapReached;
    observer_.OnCallEnded(result_);  // May destroy this.
  }

 private:
  Scheduler& scheduler_;
  Engine& engine_;
  CallObserver& observer_;
  std::uint32_t tokens_ = 0;
  Engine::Ticket ticket_ = 0;
  CallResult result_;
  Timer fault_;
};

std::unique_ptr<CallTransport::Call> EngineTransport::Start(const CallRequest& request,
                                                            CallObserver& observer) {
  if (options_.on_start) options_.on_start(scheduler_.Now(), request);
  if (options_.fault) {
    if (const auto fault = options_.fault(scheduler_.Now())) {
      return std::make_unique<EngineCall>(scheduler_, engine_, *fault, observer);
    }
  }
  return std::make_unique<EngineCall>(scheduler_, engine_, request, observer);
}

}  // namespace plimsoll
