#include "tests/fakes/call_batch.h"

#include <memory>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

class Batch {
 public:
  Batch(EventLoop& loop, CallTransport& transport, const CallBatchOptions& options)
      : loop_(loop), transport_(transport), options_(options) {
    prompt_.tokens = options.prompt_tokens;
    prompt_.spans = {{.key = 9, .first = 0, .count = (options.prompt_tokens + 63) / 64}};
    prompt_.messages = {{Role::kUser, 0, options.prompt_tokens}};
  }

  std::vector<CallResult> Run() {
    const Timer limit = loop_.After(options_.limit, [this] { loop_.Stop(); });
    loop_.Post([this] {
      for (std::size_t i = 0; i < options_.parallel; ++i) StartNext();
    });
    loop_.Run();
    return std::move(results_);
  }

 private:
  struct One final : CallObserver {
    explicit One(Batch& of) : batch(of) {}
    void OnCallEnded(const CallResult& result) override { batch.OnEnded(result, *this); }
    Batch& batch;
    std::unique_ptr<CallTransport::Call> call;
    Timer next;
  };

  void StartNext() {
    if (started_ == options_.calls) return;
    ones_.push_back(std::make_unique<One>(*this));
    const CallRequest request{.prompt = &prompt_,
                              .max_tokens = options_.max_tokens,
                              .min_tokens = true,
                              .ignore_eos = true,
                              .play_id = MixKey(17, ++started_),
                              .call_key = started_,
                              .released = loop_.Now()};
    ones_.back()->call = transport_.Start(request, *ones_.back());
  }

  void OnEnded(const CallResult& result, One& one) {
    results_.push_back(result);
    one.call.reset();
    if (results_.size() == options_.calls) return loop_.Stop();
    one.next = loop_.After(options_.pause, [this] { StartNext(); });
  }

  EventLoop& loop_;
  CallTransport& transport_;
  const CallBatchOptions options_;
  Prompt prompt_;
  std::size_t started_ = 0;
  std::vector<CallResult> results_;
  std::vector<std::unique_ptr<One>> ones_;
};

}  // namespace

std::vector<CallResult> MakeCalls(EventLoop& loop, CallTransport& transport,
                                  const CallBatchOptions& options) {
  return Batch(loop, transport, options).Run();
}

}  // namespace plimsoll
