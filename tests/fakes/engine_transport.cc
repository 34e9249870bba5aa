#include "tests/fakes/engine_transport.h"

#include <string>
#include <utility>

namespace plimsoll {

class EngineTransport::EngineCall final : public Call, public EngineObserver {
 public:
  EngineCall(Scheduler& scheduler, Engine& engine, const CallRequest& request,
             CallObserver& observer)
      : scheduler_(scheduler), engine_(engine), observer_(observer), tokens_(request.max_tokens) {
    result_.sent = result_.upload_done = scheduler.Now();
    // The model takes the recorded blocks; live history only changes their count.
    result_.tokens_in =
        request.planned_tokens > 0 ? request.planned_tokens : request.prompt->tokens;
    content_bytes_max_ = request.content_bytes_max;
    call_key_ = request.call_key;
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
    if (content_bytes_max_ > 0) Say();
    observer_.OnCallEnded(result_);  // May destroy this.
  }

 private:
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
  std::size_t content_bytes_max_ = 0;
  std::uint64_t call_key_ = 0;
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
  const std::uint64_t context = std::uint64_t{request.prompt->tokens} + request.max_tokens;
  if (options_.context_limit > 0 && context > options_.context_limit &&
      scheduler_.Now() >= options_.context_from) {
    const EngineTransportOptions::Fault over{.outcome = Outcome::kContextOverflow, .status = 400};
    return std::make_unique<EngineCall>(scheduler_, engine_, over, observer);
  }
  return std::make_unique<EngineCall>(scheduler_, engine_, request, observer);
}

}  // namespace plimsoll
