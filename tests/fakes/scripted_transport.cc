#include "tests/fakes/scripted_transport.h"

namespace plimsoll {

ScriptedAnswer& ScriptedAnswer::Connecting(Duration at) {
  steps_.push_back({at, [](TransferObserver& o, MonoTime now) { o.OnConnecting(now); }});
  return *this;
}

ScriptedAnswer& ScriptedAnswer::Sent(Duration at) {
  steps_.push_back({at, [](TransferObserver& o, MonoTime now) { o.OnSent(now); }});
  return *this;
}

ScriptedAnswer& ScriptedAnswer::UploadDone(Duration at) {
  steps_.push_back({at, [](TransferObserver& o, MonoTime now) { o.OnUploadDone(now); }});
  return *this;
}

ScriptedAnswer& ScriptedAnswer::Headers(Duration at, std::uint16_t status,
                                        std::vector<std::pair<std::string, std::string>> headers) {
  steps_.push_back({at, [status, headers = std::move(headers)](TransferObserver& o, MonoTime now) {
                      for (const auto& [name, value] : headers) o.OnHeader(name, value);
                      o.OnHeaders(status, now);
                    }});
  return *this;
}

ScriptedAnswer& ScriptedAnswer::Body(Duration at, std::string bytes) {
  steps_.push_back({at, [bytes = std::move(bytes)](TransferObserver& o, MonoTime now) {
                      o.OnBody(bytes, now);
                    }});
  return *this;
}

ScriptedAnswer& ScriptedAnswer::End(Duration at, TransferResult result, bool new_connection) {
  steps_.push_back({at, [result, new_connection](TransferObserver& o, MonoTime now) {
                      const std::string message =
                          result == TransferResult::kOk ? "" : "as scripted";
                      o.OnEnd(TransferEnd{result, message, new_connection, now});
                    }});
  return *this;
}

class ScriptedTransfer final : public HttpTransport::Transfer {
 public:
  ScriptedTransfer(Scheduler& scheduler, ScriptedAnswer answer, TransferObserver& observer,
                   std::shared_ptr<std::size_t> open)
      : scheduler_(scheduler),
        steps_(std::make_shared<std::vector<ScriptedAnswer::Step>>(std::move(answer.steps_))),
        observer_(observer),
        open_(std::move(open)),
        start_(scheduler.Now()) {
    ++*open_;
    Arm();
  }
  ~ScriptedTransfer() override { --*open_; }

 private:
  void Arm() {
    if (next_ == steps_->size()) return;
    timer_ = scheduler_.At(start_ + (*steps_)[next_].at, [this] {
      const auto steps = steps_;  // The step may destroy this transfer.
      const std::size_t step = next_++;
      Arm();
      (*steps)[step].run(observer_, scheduler_.Now());
    });
  }

  Scheduler& scheduler_;
  std::shared_ptr<std::vector<ScriptedAnswer::Step>> steps_;
  TransferObserver& observer_;
  std::shared_ptr<std::size_t> open_;
  MonoTime start_;
  std::size_t next_ = 0;
  Timer timer_;
};

std::unique_ptr<HttpTransport::Transfer> ScriptedTransport::Start(HttpRequest request,
                                                                  TransferObserver& observer) {
  Seen seen;
  if (const auto body = std::move(request.body)) {
    char piece[1000];
    while (const std::size_t n = body->Read(piece, sizeof(piece))) seen.body.append(piece, n);
  }
  seen.request = std::move(request);
  seen_.push_back(std::move(seen));
  ScriptedAnswer answer;
  if (!answers_.empty()) {
    answer = std::move(answers_.front());
    answers_.pop_front();
  }
  return std::make_unique<ScriptedTransfer>(scheduler_, std::move(answer), observer, open_);
}

}  // namespace plimsoll
