#include "coordinator/cli/fetch.h"

#include <utility>

#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"

namespace plimsoll {
namespace {

class WholeAnswer final : public TransferObserver {
 public:
  WholeAnswer(EventLoop& loop, std::size_t bytes_max) : loop_(loop), bytes_max_(bytes_max) {}

  void OnSent(MonoTime) override {}
  void OnUploadDone(MonoTime) override {}
  void OnHeader(std::string_view, std::string_view) override {}
  void OnHeaders(std::uint16_t status, MonoTime) override { fetched.status = status; }
  void OnBody(std::string_view bytes, MonoTime) override {
    if (fetched.body.size() + bytes.size() <= bytes_max_) return void(fetched.body += bytes);
    fetched.failed = "its answer is too large";
    loop_.Stop();
  }
  void OnEnd(const TransferEnd& end) override {
    fetched.ended = end.result == TransferResult::kOk;
    if (!fetched.ended) fetched.failed = end.message;
    loop_.Stop();
  }

  Fetched fetched;

 private:
  EventLoop& loop_;
  const std::size_t bytes_max_;
};

}  // namespace

Fetched Fetch(HttpRequest request, Duration patience, std::size_t bytes_max) {
  EventLoop loop;
  CurlTransport http(loop);
  WholeAnswer answer(loop, bytes_max);
  const Timer limit = loop.After(patience, [&loop] { loop.Stop(); });
  const auto transfer = http.Start(std::move(request), answer);
  loop.Run();
  return std::move(answer.fetched);
}

}  // namespace plimsoll
