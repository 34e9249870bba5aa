// CallTransport whose calls take a fixed time and end as a test says, with a log of what was sent.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/scheduler.h"
#include "common/chat/call_transport.h"
#include "tests/fakes/eval_answers.h"

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
    std::uint32_t planned_tokens;
    std::uint64_t call_key;
    std::size_t content_bytes_max;
    std::vector<std::pair<std::uint32_t, std::string>> live;  // Message and its JSON text.
  };
  // How the n-th call (from 0) ends; by default ok after `service` with 10 tokens.
  struct Answer {
    Outcome outcome = Outcome::kOk;
    Duration service{1s};
    Duration retry_after{-1};
  };

  explicit FixedTransport(Scheduler& scheduler) : scheduler_(scheduler) {}

  std::function<Answer(std::size_t n)> answer = [](std::size_t) { return Answer{}; };
  // What an ok answer says, where the caller wants to know: a function of what was sent.
  std::function<std::string(const Sent&)> content = [](const Sent&) { return ""; };
  std::vector<Sent> sent;  // Calls; evals are logged by `evals`.
  EvalAnswers evals;
  std::size_t hung_up = 0;  // Calls destroyed before they ended.
  std::size_t in_flight = 0;
  std::size_t in_flight_max = 0;

  std::unique_ptr<Call> Start(const CallRequest& request, CallObserver& observer) override {
    if (request.eval != nullptr) return evals.Start(scheduler_, request, observer);
    const std::size_t n = sent.size();
    sent.push_back({scheduler_.Now(),
                    request.released,
                    request.play_id,
                    request.parent_play_id,
                    request.max_tokens,
                    *request.prompt,
                    request.planned_tokens,
                    request.call_key,
                    request.content_bytes_max,
                    {}});
    for (const LiveMessage& live : request.live) {
      sent.back().live.emplace_back(live.message, std::string(live.json));
    }
    return std::make_unique<FixedCall>(*this, answer(n), sent.back(), observer);
  }

 private:
  class FixedCall final : public Call {
   public:
    FixedCall(FixedTransport& owner, const Answer& answer, const Sent& sent, CallObserver& observer)
        : owner_(owner) {
      owner_.in_flight_max = std::max(owner_.in_flight_max, ++owner_.in_flight);
      CallResult result;
      result.outcome = answer.outcome;
      result.sent = owner.scheduler_.Now();
      result.retry_after = answer.retry_after;
      const std::uint32_t tokens = sent.max_tokens;
      if (sent.content_bytes_max > 0 && answer.outcome == Outcome::kOk) {
        result.content = owner.content(sent);
        result.content_tokens = tokens;
        result.content_too_long = result.content.size() > sent.content_bytes_max;
        if (result.content_too_long) result.content.clear();
      }
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
