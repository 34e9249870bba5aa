#include "agent/replay/primer.h"

#include <algorithm>
#include <utility>

#include "common/base/rng.h"

namespace plimsoll {

class Primer::Shot final : public CallObserver {
 public:
  Shot(Primer& primer, const Job& job) : primer_(primer) {
    LaneContext& context = primer.context_;
    const PromptKeys keys = KeysFor(context.plan, job.lane, job.play);
    context.index.prompts(job.session).Build(job.call, keys, &prompt_);
    const std::uint32_t stream = context.index.session(job.session).calls[job.call].stream;
    CallRequest request;
    request.prompt = &prompt_;
    request.max_tokens = 1;
    const StreamIds ids = IdsOf(keys, stream);
    request.play_id = ids.own;
    request.parent_play_id = ids.parent;
    request.call_key = MixKey(keys.play, HashBytes("primer"), job.call);
    request.released = context.scheduler.Now();
    call_ = context.transport.Start(request, *this);
  }

  void OnCallEnded(const CallResult& result) override {
    Primer& primer = primer_;
    if (result.outcome != Outcome::kOk) ++primer.result_.failed;
    const auto it = std::find_if(primer.shots_.begin(), primer.shots_.end(),
                                 [&](const auto& owned) { return owned.get() == this; });
    primer.shots_.erase(it);  // Destroys this.
    primer.StartMore();
  }

 private:
  Primer& primer_;
  Prompt prompt_;
  std::unique_ptr<CallTransport::Call> call_;
};

Primer::Primer(LaneContext& context) : context_(context) {}

Primer::~Primer() = default;

void Primer::Run(const std::vector<Lane*>& lanes, Duration limit,
                 std::function<void(const Result&)> done) {
  Cancel();
  done_ = std::move(done);
  result_ = {};
  for (const Lane* lane : lanes) {
    const auto session = lane->first_session();
    if (!session.has_value()) continue;
    for (const std::uint32_t call : Play::Primers(context_.index, *session, lane->first_share())) {
      jobs_.push_back({lane->spec().lane, lane->spec().first_play, *session, call});
    }
  }
  result_.wanted = static_cast<std::uint32_t>(jobs_.size());
  limit_ = context_.scheduler.After(limit, [this] {
    result_.failed += static_cast<std::uint32_t>(shots_.size() + jobs_.size());
    Finish();
  });
  StartMore();
}

void Primer::StartMore() {
  if (context_.paused || !done_) return;
  while (!jobs_.empty() && shots_.size() < kAtOnce) {
    const Job job = jobs_.front();
    jobs_.pop_front();
    shots_.push_back(std::make_unique<Shot>(*this, job));
  }
  if (jobs_.empty() && shots_.empty()) {
    finish_ = context_.scheduler.After(Duration{0}, [this] { Finish(); });
  }
}

void Primer::Finish() {
  const auto done = std::move(done_);
  Cancel();
  if (done) done(result_);
}

void Primer::Cancel() {
  done_ = nullptr;
  jobs_.clear();
  shots_.clear();
  limit_.Cancel();
  finish_.Cancel();
}

}  // namespace plimsoll
