// The server against real sockets on a free port: shapes of answers, limits, hang-ups.
#include "common/http/server/http_server.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "common/loop/event_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/raw_client.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

// Something the loop's thread says and the test waits for.
class Signal {
 public:
  void Give() {
    const std::lock_guard lock(mutex_);
    given_ = true;
    changed_.notify_all();
  }
  bool Wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [this] { return given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_ = false;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void Start(HttpServer::Handler handler, const HttpServerOptions& options = {}) {
    auto server = HttpServer::Listen(loop_, options, std::move(handler));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    port_ = server_->port();
    thread_ = std::thread([this] { loop_.Run(); });
  }
  void TearDown() override { Stop(); }
  void Stop() {
    if (!thread_.joinable()) return;
    loop_.Stop();
    thread_.join();
    kept_.reset();
    server_.reset();
  }

  EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
  std::optional<HttpResponder> kept_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

void Echo(HttpServerRequest request, HttpResponder responder) {
  responder.Send(200, {{"X-Method", request.method}, {"X-A", std::string(request.Header("a"))}},
                 request.target + "|" + std::string(request.Path()) + "|" + request.body);
}

TEST_F(HttpServerTest, AnswersSeveralRequestsOnOneConnection) {
  Start(Echo);
  RawClient client(port_);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Request("POST", "/p?q=1", "A: b\r\n", "body"));
    const auto answer = client.ReadAnswer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "/p?q=1|/p|body");
    EXPECT_EQ(answer.headers.at("x-method"), "POST");
    EXPECT_EQ(answer.headers.at("x-a"), "b");
    EXPECT_EQ(answer.headers.at("connection"), "keep-alive");
  }
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  Start(Echo);
  RawClient client(port_);
  std::string both;
  for (const char* path : {"/1", "/2", "/3"}) {
    both += std::string("GET ") + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
  }
  ASSERT_TRUE(client.Send(both));
  EXPECT_EQ(client.ReadAnswer().body, "/1|/1|");
  EXPECT_EQ(client.ReadAnswer().body, "/2|/2|");
  EXPECT_EQ(client.ReadAnswer().body, "/3|/3|");
}

TEST_F(HttpServerTest, ReadsARequestThatComesByteByByte) {
  Start(Echo);
  RawClient client(port_);
  for (const char c : std::string("POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc")) {
    ASSERT_TRUE(client.Send({&c, 1}));
  }
  EXPECT_EQ(client.ReadAnswer().body, "/x|/x|abc");
}

TEST_F(HttpServerTest, ClosesWhenAskedTo) {
  Start(Echo);
  RawClient client(port_);
  ASSERT_TRUE(client.Request("GET", "/", "Connection: close\r\n"));
  EXPECT_EQ(client.ReadAnswer().headers.at("connection"), "close");
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpServerTest, HeadHasALengthAndNoBody) {
  Start(Echo);
  RawClient client(port_);
  ASSERT_TRUE(client.Send("HEAD /h HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  ASSERT_TRUE(client.ReadUntil("\r\n\r\n"));
  EXPECT_THAT(client.received(), HasSubstr("Content-Length: 6\r\n"));
  EXPECT_THAT(client.received(), ::testing::EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, StreamsPieceByPiece) {
  Start([this](const HttpServerRequest&, HttpResponder responder) {
    responder.StartStream(200, {{"Content-Type", "text/event-stream"}});
    responder.Write("one");
    kept_ = std::move(responder);
  });
  RawClient client(port_);
  ASSERT_TRUE(client.Request("GET", "/"));
  ASSERT_TRUE(client.ReadUntil("3\r\none\r\n"));  // Before the stream has ended.
  loop_.Post([this] {
    kept_->Write("");
    kept_->Write("three");
    kept_->End();
    EXPECT_FALSE(kept_->open());
    kept_->Write("late");
  });
  const auto answer = client.ReadAnswer();
  EXPECT_EQ(answer.body, "onethree");
  EXPECT_EQ(answer.chunks, 2);
  EXPECT_TRUE(answer.whole);
  ASSERT_TRUE(client.Request("GET", "/again"));  // The connection lives on.
  EXPECT_TRUE(client.ReadUntil("one"));
}

TEST_F(HttpServerTest, AbortedStreamEndsWithoutItsTerminalChunk) {
  Start([](const HttpServerRequest&, HttpResponder responder) {
    responder.StartStream(200, {});
    responder.Write("part");
    responder.Abort();
  });
  RawClient client(port_);
  ASSERT_TRUE(client.Request("GET", "/"));
  const auto answer = client.ReadAnswer();
  EXPECT_EQ(answer.body, "part");
  EXPECT_FALSE(answer.whole);
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpServerTest, ForgottenAnswerClosesTheConnection) {
  Start([](const HttpServerRequest&, HttpResponder) {});
  RawClient client(port_);
  ASSERT_TRUE(client.Request("GET", "/"));
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpServerTest, OldClientGetsAnUnframedStream) {
  Start([](const HttpServerRequest&, HttpResponder responder) {
    responder.StartStream(200, {});
    responder.Write("plain");
    responder.End();
  });
  RawClient client(port_);
  ASSERT_TRUE(client.Send("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(client.ReadUntil("\r\n\r\nplain"));
}

TEST_F(HttpServerTest, TellsOfAHangUp) {
  Signal hung_up;
  Start([&](const HttpServerRequest&, HttpResponder responder) {
    responder.StartStream(200, {});
    responder.Write("x");
    responder.OnHangUp([&] {
      EXPECT_FALSE(kept_->open());
      hung_up.Give();
    });
    kept_ = std::move(responder);
  });
  RawClient client(port_);
  ASSERT_TRUE(client.Request("GET", "/"));
  ASSERT_TRUE(client.ReadUntil("x"));
  client.Close();
  EXPECT_TRUE(hung_up.Wait());
}

TEST_F(HttpServerTest, DisconnectsAReaderThatLetsTooMuchPileUp) {
  Signal hung_up;
  HttpServerOptions options;
  options.unsent_max = 100'000;
  Start(
      [&](const HttpServerRequest&, HttpResponder responder) {
        responder.StartStream(200, {});
        responder.OnHangUp([&] { hung_up.Give(); });
        kept_ = std::move(responder);
        // Far more than the kernel takes, and nobody reads.
        for (int i = 0; i < 1000; ++i) kept_->Write(std::string(64 << 10, 'x'));
      },
      options);
  RawClient client(port_);
  ASSERT_TRUE(client.Request("GET", "/"));
  EXPECT_TRUE(hung_up.Wait());
}

TEST_F(HttpServerTest, DisconnectsAPeerThatReadsNothing) {
  HttpServerOptions options;
  options.write_timeout = 300ms;
  Start([](const HttpServerRequest&,
           HttpResponder responder) { responder.Send(200, {}, std::string(64 << 20, 'x')); },
        options);
  RawClient client(port_);
  ASSERT_TRUE(client.Request("GET", "/"));
  Signal gone;
  std::function<void()> look = [&] {
    if (server_->connections() == 0) return gone.Give();
    loop_.Post(look);
  };
  ASSERT_TRUE(client.ReadUntil("200 OK"));
  loop_.Post(look);
  EXPECT_TRUE(gone.Wait());
}

TEST_F(HttpServerTest, ClosesIdleConnectionsAndEndlessRequests) {
  HttpServerOptions options;
  options.idle_timeout = 300ms;
  options.request_timeout = 300ms;
  Start(Echo, options);
  RawClient idle(port_);
  RawClient endless(port_);
  ASSERT_TRUE(endless.Send("GET / HT"));
  EXPECT_TRUE(idle.AtEnd());
  EXPECT_TRUE(endless.AtEnd());
}

TEST_F(HttpServerTest, RefusesWhatIsNotHttp) {
  Start(Echo);
  for (const char* bad :
       {"\x16\x03\x01\x02garbage\r\n\r\n", "GET\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "GET / HTTP/1.1\r\nno colon here\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    RawClient client(port_);
    ASSERT_TRUE(client.Send(bad));
    const auto answer = client.ReadAnswer();
    EXPECT_EQ(answer.status, 400) << bad;
    EXPECT_THAT(answer.body, HasSubstr("malformed request")) << bad;
    client.Close();
  }
}

TEST_F(HttpServerTest, RefusesTooLongBodiesAndHeads) {
  HttpServerOptions options;
  options.body_max = 1000;
  options.head_max = 1000;
  Start(Echo, options);
  RawClient body(port_);
  body.Request("POST", "/", "", std::string(100'000, 'x'));
  EXPECT_EQ(body.ReadAnswer().status, 413);
  EXPECT_TRUE(body.AtEnd());
  RawClient chunked(port_);
  ASSERT_TRUE(chunked.Send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n" +
                           std::string(4096, 'x') + "\r\n0\r\n\r\n"));
  EXPECT_EQ(chunked.ReadAnswer().status, 413);
  RawClient head(port_);
  head.Send("GET / HTTP/1.1\r\nA: " + std::string(5000, 'x'));
  EXPECT_EQ(head.ReadAnswer().status, 431);
}

TEST_F(HttpServerTest, SaysContinueToThoseWhoWait) {
  Start(Echo);
  RawClient client(port_);
  ASSERT_TRUE(client.Send("POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"));
  ASSERT_TRUE(client.ReadUntil("100 Continue\r\n\r\n"));
  ASSERT_TRUE(client.Send("ok"));
  client.ReadAnswer();  // The interim one.
  EXPECT_EQ(client.ReadAnswer().body, "/|/|ok");
}

TEST_F(HttpServerTest, SurvivesItsOwnEndWithAnswersUnderWay) {
  Signal asked;
  Start([&](const HttpServerRequest&, HttpResponder responder) {
    responder.StartStream(200, {});
    responder.OnHangUp([] { FAIL() << "called though the server ended"; });
    kept_ = std::move(responder);
    asked.Give();
  });
  RawClient client(port_);
  ASSERT_TRUE(client.Request("GET", "/"));
  ASSERT_TRUE(asked.Wait());
  loop_.Stop();
  thread_.join();
  server_.reset();
  EXPECT_FALSE(kept_->open());
  kept_->Write("x");
  kept_.reset();
  EXPECT_FALSE(client.ReadAnswer().whole);
}

TEST_F(HttpServerTest, HeaderValuesCannotSplitTheAnswer) {
  Start([](const HttpServerRequest&, HttpResponder responder) {
    responder.Send(200, {{"X-Echo", "a\r\nX-Evil: b"}}, "");
  });
  RawClient client(port_);
  ASSERT_TRUE(client.Request("GET", "/"));
  EXPECT_EQ(client.ReadAnswer().headers.count("x-evil"), 0u);
}

TEST(HttpServerListen, SaysWhyItCannot) {
  EventLoop loop;
  auto first = HttpServer::Listen(loop, {}, Echo);
  ASSERT_TRUE(first.ok());
  HttpServerOptions same;
  same.port = (*first)->port();
  EXPECT_EQ(HttpServer::Listen(loop, same, Echo).status().code(), absl::StatusCode::kUnavailable);
  HttpServerOptions nowhere;
  nowhere.host = "not an address";
  EXPECT_EQ(HttpServer::Listen(loop, nowhere, Echo).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace plimsoll
