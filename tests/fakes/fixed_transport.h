// CallTransport whose calls take a fixed time and end as a test says, with a log of what was sent.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/base/scheduler.h"
#include "common/chat/call_transport.h"

namespace plimsoll {

class FixedTransport final : public CallTransport {
 public:
  struct Sent {
    MonoTime at;
    MonoTime released;
    std::uint64_t play_id;
    std::uint64_t parent_play_id;
    std::uint32_t max_tokens;
    Prompt prompt;
  };
  // How the n-th call (from 0) ends; by default ok after `service` with 10 tokens.
  struct Answer {
    Outcome outcome = Outcome::kOk;
    Duration service{1s};
    Duration retry_after{-1};
  };

  explicit FixedTransport(Scheduler& scheduler) : scheduler_(scheduler) {}

  std::function<Answer(std::size_t n)> answer = [](std::size_t) { return Answer{}; };
  std::vector<Sent> sent;
  std::size_t hung_up = 0;  // Calls destroyed before they ended.
  std::size_t in_flight = 0;
  std::size_t in_flight_max = 0;

  std::unique_ptr<Call> Start(const CallRequest& request, CallObserver& observer) override {
    const std::size_t n = sent.size();
    sent.push_back({scheduler_.Now(), request.released, request.play_id, request.parent_play_id,
                    request.max_tokens, *request.prompt});
    return std::make_unique<FixedCall>(*this, answer(n), request.max_tokens, observer);
  }

 private:
  class FixedCall final : public Call {
   public:
    FixedCall(FixedTransport& owner, const Answer& answer, std::uint32_t tokens,
              CallObserver& observer)
        : owner_(owner) {
      owner_.in_flight_max = std::max(owner_.in_flight_max, ++owner_.in_flight);
      CallResult result;
      result.outcome = answer.outcome;
      result.sent = owner.scheduler_.Now();
      result.retry_after = answer.retry_after;
      end_ = owner.scheduler_.After(
          answer.service, [this, result, tokens, answer, &observer]() mutable {
            ended_ = true;
            --owner_.in_flight;
            result.end = owner_.scheduler_.Now();
            if (result.outcome == Outcome::kOk) {
              result.first_chunk = result.first_token = result.end - answer.service / 2;
              result.last_token = result.end;
              result.chunks = result.tokens_out = tokens;
            }
            const CallResult copy = result;
            observer.OnCallEnded(copy);
          });
    }
    ~FixedCall() override {
      if (ended_) return;
      ++owner_.hung_up;
      --owner_.in_flight;
    }

   private:
    FixedTransport& owner_;
    Timer end_;
    bool ended_ = false;
  };

  Scheduler& scheduler_;
};

}  // namespace plimsoll
