// CallTransport straight into the engine model: milestones, no bytes. With it a whole run plays in
// virtual time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/scheduler.h"
#include "common/chat/call_transport.h"
#include "gateway/engine/engine.h"
#include "gateway/faults/faults.h"
#include "tests/fakes/eval_answers.h"

namespace plimsoll {

// What stands between the agents and the engine. May refuse or break a call instead of passing it
// on.
struct EngineTransportOptions {
  struct Fault {
    Outcome outcome = Outcome::kRefused;
    Duration after{1ms};
    Duration retry_after{-1};
    std::uint16_t status = 429;
    bool after_first_token = false;  // `after` runs from there; the engine has the call till then.
  };
  std::function<std::optional<Fault>(MonoTime now)> fault;  // Empty: none.
  // From `context_from` on, calls whose prompt and asked output exceed it are refused as too long;
  // 0: none is.
  std::uint32_t context_limit = 0;
  MonoTime context_from{};
  // Told of every call handed over, before it can be refused.
  std::function<void(MonoTime now, const CallRequest&)> on_start;
  // The gateway's own faults of requests, by their rules, with the outcomes that its bytes have at
  // the client (tests/gateway/server/fault_outcome_test). Those of the engine are EngineFaults'.
  std::vector<FaultRule> rules;
  std::function<FaultMoment()> moment;      // Of the rules; needed with them.
  Duration idle_timeout = Duration::max();  // Without a first token; the client hangs up.
  EvalAnswers* evals = nullptr;             // How evals are answered, beside the engine.
};

class EngineTransport final : public CallTransport {
 public:
  EngineTransport(Scheduler& scheduler, Engine& engine, EngineTransportOptions options)
      : scheduler_(scheduler), engine_(engine), options_(std::move(options)) {}

  std::unique_ptr<Call> Start(const CallRequest& request, CallObserver& observer) override;

 private:
  class EngineCall;
  // What an answer that comes whole is like.
  struct Shape {
    std::uint32_t tokens = 0;
    Duration pause{0};  // Between its first and its last token.
  };

  std::optional<EngineTransportOptions::Fault> FaultOf(const CallRequest& request);
  std::optional<EngineTransportOptions::Fault> FaultByRule(const CallRequest& request) const;
  FaultTarget TargetOf(const CallRequest& request) const;
  Shape ShapeOf(const CallRequest& request) const;

  Scheduler& scheduler_;
  Engine& engine_;
  EngineTransportOptions options_;
};

}  // namespace plimsoll
