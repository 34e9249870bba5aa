// How a fake deployment answers evals: by what their cases hold, after a fixed time.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/base/scheduler.h"
#include "common/chat/call_transport.h"
#include "common/evals/eval_set.h"

namespace plimsoll {

// The right answer to the case, or its `wrong`-th wrong one.
inline CallResult RightAnswer(const EvalCase& eval) {
  CallResult result{.outcome = Outcome::kOk, .http_status = 200};
  result.content = eval.reference.content;
  result.tools = eval.reference.tools;
  return result;
}
inline CallResult WrongAnswer(const EvalCase& eval) {
  CallResult result{.outcome = Outcome::kOk, .http_status = 200};
  if (eval.wrong.empty()) {
    result.content = "certainly not";
  } else {
    result.content = eval.wrong.front().content;
    result.tools = eval.wrong.front().tools;
  }
  return result;
}
inline CallResult Refusal() {
  return {.outcome = Outcome::kRefused, .http_status = 429};
}

// The evals that a fake transport was sent, and what it makes of them.
class EvalAnswers {
 public:
  struct Sent {
    MonoTime at;
    MonoTime released;
    Duration deadline;
    std::string id;  // Of the case.
    std::uint64_t play_id;
    std::uint64_t call_key;
  };
  // How the n-th one (from 0) ends.
  std::function<CallResult(const EvalCase&, MonoTime now, std::size_t n)> answer =
      [](const EvalCase& eval, MonoTime, std::size_t) { return RightAnswer(eval); };
  Duration service{300ms};
  std::vector<Sent> sent;
  std::size_t in_flight = 0;
  std::size_t in_flight_max = 0;

  std::unique_ptr<CallTransport::Call> Start(Scheduler& scheduler, const CallRequest& request,
                                             CallObserver& observer) {
    const std::size_t n = sent.size();
    sent.push_back({scheduler.Now(), request.released, request.deadline, request.eval->id,
                    request.play_id, request.call_key});
    return std::make_unique<Call>(*this, scheduler, *request.eval, n, observer);
  }

 private:
  class Call final : public CallTransport::Call {
   public:
    Call(EvalAnswers& owner, Scheduler& scheduler, const EvalCase& eval, std::size_t n,
         CallObserver& observer)
        : owner_(owner) {
      owner_.in_flight_max = std::max(owner_.in_flight_max, ++owner_.in_flight);
      const MonoTime sent = scheduler.Now();
      timer_ = scheduler.After(owner.service, [this, sent, &scheduler, &eval, n, &observer] {
        ended_ = true;
        --owner_.in_flight;
        CallResult result = owner_.answer(eval, scheduler.Now(), n);
        result.sent = sent;
        result.end = scheduler.Now();
        if (result.outcome == Outcome::kOk) result.first_token = result.last_token = result.end;
        observer.OnCallEnded(result);  // May destroy this.
      });
    }
    ~Call() override {
      if (!ended_) --owner_.in_flight;
    }

   private:
    EvalAnswers& owner_;
    bool ended_ = false;
    Timer timer_;
  };
};

}  // namespace plimsoll
