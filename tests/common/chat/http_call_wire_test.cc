// The call transport on real sockets: what virtual time cannot show.
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "common/base/real_clock.h"
#include "common/chat/http_call_transport.h"
#include "common/http/curl_transport.h"
#include "common/loop/event_loop.h"
#include "tests/common/http/raw_server.h"

namespace plimsoll {
namespace {

constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string Chunk(const std::string& text) {
  char size[20];
  std::snprintf(size, sizeof(size), "%zx\r\n", text.size());
  return size + text + "\r\n";
}
std::string Token() {
  return Chunk("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
}

class HttpCallWireTest : public testing::Test, public CallObserver {
 protected:
  HttpCallWireTest() {
    prompt_.tokens = 300'000;  // 1.5 MB of text.
    prompt_.spans = {{9, 0, 4688}};
    prompt_.messages = {{Role::kUser, 0, 300'000}};
  }
  void OnCallEnded(const CallResult& result) override {
    result_ = result;
    call_.reset();
    loop_.Stop();
  }
  const CallResult& Run(const RawServer& server) {
    if (transport_ == nullptr) {
      TargetPlan target;
      target.url = server.url().substr(0, server.url().rfind("/chat"));
      target.model = "m";
      transport_ = std::make_unique<HttpCallTransport>(http_, loop_, target, HttpCallOptions{});
    }
    CallRequest request;
    request.prompt = &prompt_;
    request.released = loop_.Now();
    call_ = transport_->Start(request, *this);
    const Timer stuck = loop_.After(30s, [this] { loop_.Stop(); });
    loop_.Run();
    EXPECT_TRUE(result_.has_value());
    if (!result_) result_ = CallResult{};
    return *result_;
  }

  Prompt prompt_;
  EventLoop loop_;
  CurlTransport http_{loop_};
  std::unique_ptr<HttpCallTransport> transport_;
  std::unique_ptr<CallTransport::Call> call_;
  std::optional<CallResult> result_;
};

TEST_F(HttpCallWireTest, StampsFollowTheServersOwn) {
  const RealClock clock;
  MonoTime read{}, first{}, last{};
  std::size_t body = 0;
  RawServer server([&](RawConnection& c) {
    if (!c.ReadRequest()) return;
    read = clock.MonoNow();
    body = c.body().size();
    c.Pause(20);
    first = clock.MonoNow();
    c.Write(std::string(kHead) + Token());
    c.Pause(20);
    c.Write(Token());
    c.Pause(20);
    last = clock.MonoNow();
    c.Write(Token() + Chunk("data: [DONE]\n\n") + Chunk(""));
    c.AwaitHangUp();
  });
  const CallResult r = Run(server);
  EXPECT_EQ(r.outcome, Outcome::kOk) << r.message;
  EXPECT_GT(body, 1'500'000u);
  EXPECT_EQ(r.chunks, 3u);
  // Never before the server, and not long after: generous, since the machine may be busy.
  ASSERT_NE(r.connecting, CallResult::kNever);
  EXPECT_LE(r.connecting, r.sent);
  EXPECT_LE(r.sent, r.upload_done);
  EXPECT_LE(r.upload_done, read);
  EXPECT_GE(r.first_token, first);
  EXPECT_LT(r.first_token - first, 300ms);
  EXPECT_GE(r.last_token, last);
  EXPECT_LT(r.last_token - last, 300ms);
  EXPECT_EQ(r.flags, kNewConnection);
}

TEST_F(HttpCallWireTest, OnlyANewConnectionHasAStampOfConnecting) {
  RawServer server([](RawConnection& c) {
    while (c.ReadRequest()) {
      c.Write(std::string(kHead) + Token() + Chunk("data: [DONE]\n\n") + Chunk(""));
    }
  });
  const CallResult first = Run(server);
  EXPECT_NE(first.connecting, CallResult::kNever);
  EXPECT_NE(first.flags & kNewConnection, 0);
  const CallResult second = Run(server);
  EXPECT_EQ(second.outcome, Outcome::kOk) << second.message;
  EXPECT_EQ(second.connecting, CallResult::kNever);
  EXPECT_EQ(second.flags & kNewConnection, 0);
}

TEST_F(HttpCallWireTest, ADeadKeptConnectionCostsOneResend) {
  std::atomic<int> requests{0};
  RawServer server([&](RawConnection& c) {
    while (c.ReadRequest()) {
      // The second request meets a peer that hangs up instead of answering.
      if (++requests == 2) return c.Reset();
      c.Write(std::string(kHead) + Token() + Chunk("data: [DONE]\n\n") + Chunk(""));
    }
  });
  EXPECT_EQ(Run(server).resends, 0);
  const CallResult r = Run(server);
  EXPECT_EQ(r.outcome, Outcome::kOk) << r.message;
  EXPECT_EQ(r.resends, 1);
  EXPECT_EQ(r.connecting, CallResult::kNever) << "first sent on the kept connection";
  EXPECT_EQ(requests, 3);
  EXPECT_LE(server.connections(), 3);  // Curl opens one before it finds that it cannot rewind.
}

}  // namespace
}  // namespace plimsoll
