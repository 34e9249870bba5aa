#include "coordinator/cli/live_client.h"

#include <fmt/format.h>

#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"

namespace plimsoll {
namespace {

// It answers within milliseconds; a stopped process, never.
constexpr Duration kPatience = 5s;
constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;

class Question final : public TransferObserver {
 public:
  explicit Question(EventLoop& loop) : loop_(loop) {}

  void OnSent(MonoTime) override {}
  void OnUploadDone(MonoTime) override {}
  void OnHeader(std::string_view, std::string_view) override {}
  void OnHeaders(std::uint16_t status, MonoTime) override { status_ = status; }
  void OnBody(std::string_view bytes, MonoTime) override {
    if (body_.size() + bytes.size() <= kBodyBytesMax) return void(body_ += bytes);
    loop_.Stop();
  }
  void OnEnd(const TransferEnd& end) override {
    ended_ = end.result == TransferResult::kOk;
    loop_.Stop();
  }

  StatusOr<std::string> Answer(const std::string& address) && {
    if (!ended_) {
      return absl::UnavailableError(fmt::format("the coordinator at {} does not answer", address));
    }
    if (status_ == 200) return std::move(body_);
    while (!body_.empty() && body_.back() == '\n') body_.pop_back();
    if (status_ == 404) return absl::NotFoundError(body_);
    if (status_ == 400 || status_ == 414) return absl::InvalidArgumentError(body_);
    return absl::InternalError(fmt::format("the coordinator at {} says: {}", address, body_));
  }

 private:
  EventLoop& loop_;
  std::uint16_t status_ = 0;
  std::string body_;
  bool ended_ = false;
};

}  // namespace

StatusOr<std::string> AskCoordinator(const std::string& address, std::string_view target,
                                     AnswerForm form) {
  EventLoop loop;
  CurlTransport http(loop);
  Question question(loop);
  HttpRequest request;
  request.url = fmt::format("http://{}{}", address, target);
  const bool text = form == AnswerForm::kText;
  request.headers.emplace_back("Accept", text ? "text/plain" : "application/json");
  request.connect_timeout = kPatience;
  const Timer limit = loop.After(kPatience, [&loop] { loop.Stop(); });
  const auto transfer = http.Start(std::move(request), question);
  loop.Run();
  return std::move(question).Answer(address);
}

std::string EscapeSegment(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    escaped += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

}  // namespace plimsoll
