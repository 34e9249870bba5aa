#include "common/http/curl_transport.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "common/base/real_clock.h"
#include "tests/common/http/raw_server.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Odd-Case:  v \r\n\r\nhello";

class Letters : public BodySource {
 public:
  explicit Letters(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  std::size_t Read(char* to, std::size_t capacity) override {
    const std::size_t n = std::min<std::uint64_t>(capacity, size_ - at_);
    for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<char>('a' + (at_ + i) % 26);
    at_ += n;
    return n;
  }

 private:
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

class Recorder : public TransferObserver {
 public:
  void OnSent(MonoTime at) override { Note("sent", &sent, at); }
  void OnUploadDone(MonoTime at) override { Note("uploaded", &uploaded, at); }
  void OnHeader(std::string_view name, std::string_view value) override {
    headers += std::string(name) + "=" + std::string(value) + ";";
  }
  void OnHeaders(std::uint16_t s, MonoTime at) override {
    status = s;
    Note("headers", &headers_at, at);
    if (on_headers) on_headers();
  }
  void OnBody(std::string_view bytes, MonoTime) override {
    if (body.empty()) log += "body ";
    body += bytes;
    if (on_body) on_body();
  }
  void OnEnd(const TransferEnd& e) override {
    log += "end";
    end = e;
    ended = true;
    if (on_end) on_end();
  }
  void Note(const char* what, MonoTime* stamp, MonoTime at) {
    log += std::string(what) + " ";
    *stamp = at;
  }

  MonoTime sent{}, uploaded{}, headers_at{};
  std::uint16_t status = 0;
  std::string headers, body, log;
  TransferEnd end;
  bool ended = false;
  std::function<void()> on_headers, on_body, on_end;
};

class CurlTransportTest : public testing::Test {
 protected:
  static HttpRequest Post(const std::string& url, std::uint64_t bytes = 10) {
    HttpRequest request;
    request.method = "POST";
    request.url = url;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = std::make_unique<Letters>(bytes);
    return request;
  }
  static HttpRequest Get(const std::string& url) {
    HttpRequest request;
    request.url = url;
    return request;
  }
  // Runs until `done`; fails after 30 s.
  void RunUntil(std::function<bool()> done) {
    const MonoTime limit = loop_.Now() + 30s;
    std::function<void()> look = [&] {
      if (done() || loop_.Now() > limit) return loop_.Stop();
      look_ = loop_.After(1ms, look);
    };
    look();
    loop_.Run();
    EXPECT_TRUE(done());
  }
  void RunFor(Duration d) {
    const Timer stop = loop_.After(d, [&] { loop_.Stop(); });
    loop_.Run();
  }
  // One transfer, to its end.
  Recorder& Do(HttpRequest request) {
    recorder_ = std::make_unique<Recorder>();
    transfer_ = transport_.Start(std::move(request), *recorder_);
    EXPECT_EQ(recorder_->log, "");  // Never from inside Start().
    RunUntil([this] { return recorder_->ended; });
    return *recorder_;
  }

  EventLoop loop_;
  Timer look_;
  CurlTransport transport_{loop_};
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<HttpTransport::Transfer> transfer_;
};

TEST_F(CurlTransportTest, PostsABodyAndStampsInOrder) {
  std::string head, body;
  RawServer server([&](RawConnection& c) {
    if (!c.ReadRequest()) return;
    head = c.head();
    body = c.body();
    c.Write(kAnswer);
    c.AwaitHangUp();
  });
  const MonoTime before = loop_.Now();
  Recorder& r = Do(Post(server.url()));
  EXPECT_EQ(r.log, "sent uploaded headers body end");
  EXPECT_EQ(r.end.result, TransferResult::kOk) << r.end.message;
  EXPECT_TRUE(r.end.new_connection);
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.headers, "content-length=5;x-odd-case=v;");
  EXPECT_EQ(r.body, "hello");
  EXPECT_EQ(body, "abcdefghij");
  EXPECT_THAT(head, HasSubstr("POST /v1/chat/completions HTTP/1.1\r\n"));
  EXPECT_THAT(head, HasSubstr("Content-Length: 10\r\n"));
  EXPECT_THAT(head, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("Expect")));
  EXPECT_THAT(head, Not(HasSubstr("Transfer-Encoding")));
  EXPECT_THAT(head, Not(HasSubstr("Accept-Encoding")));
  EXPECT_LE(before, r.sent);
  EXPECT_LE(r.sent, r.uploaded);
  EXPECT_LE(r.uploaded, r.headers_at);
  EXPECT_LE(r.headers_at, r.end.at);
}

TEST_F(CurlTransportTest, GetReusesTheConnection) {
  RawServer server([&](RawConnection& c) {
    while (c.ReadRequest()) c.Write(kAnswer);
  });
  EXPECT_TRUE(Do(Get(server.url())).end.new_connection);
  Recorder& r = Do(Get(server.url()));
  EXPECT_EQ(r.log, "sent uploaded headers body end");
  EXPECT_FALSE(r.end.new_connection);
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(CurlTransportTest, ABigBodyDoesNotStall) {
  std::atomic<std::size_t> got{0};
  RawServer server([&](RawConnection& c) {
    if (!c.ReadRequest()) return;
    got = c.body().size();
    c.Write(kAnswer);
    c.AwaitHangUp();
  });
  const MonoTime before = loop_.Now();
  Recorder& r = Do(Post(server.url(), 3 << 19));
  EXPECT_EQ(r.end.result, TransferResult::kOk) << r.end.message;
  EXPECT_EQ(got, 3u << 19);
  EXPECT_LT(r.end.at - before, 900ms);  // Waiting for a 100 would take a second.
}

TEST_F(CurlTransportTest, InterimAnswersAndTrailersAreSkipped) {
  RawServer server([&](RawConnection& c) {
    if (!c.ReadRequest()) return;
    c.Write("HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\n");
    c.Write("HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\nRetry-After: 2\r\n\r\n");
    c.Write("3\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n");
    c.AwaitHangUp();
  });
  Recorder& r = Do(Post(server.url()));
  EXPECT_EQ(r.end.result, TransferResult::kOk) << r.end.message;
  EXPECT_EQ(r.status, 503);
  EXPECT_EQ(r.headers, "transfer-encoding=chunked;retry-after=2;");
  EXPECT_EQ(r.body, "abc");
}

TEST_F(CurlTransportTest, ASplitAnswerArrivesAsItComes) {
  RawServer server([&](RawConnection& c) {
    if (!c.ReadRequest()) return;
    for (const char byte : kAnswer) {
      c.Write({&byte, 1});
      c.Pause(1);
    }
    c.AwaitHangUp();
  });
  Recorder& r = Do(Post(server.url()));
  EXPECT_EQ(r.body, "hello");
  EXPECT_EQ(r.end.result, TransferResult::kOk);
}

TEST_F(CurlTransportTest, FailuresHaveTheirKinds) {
  struct Case {
    const char* what;
    TransferResult want;
    std::function<void(RawConnection&)> script;
  };
  const std::vector<Case> cases = {
      {"reset before headers", TransferResult::kConnectError,
       [](RawConnection& c) {
         c.ReadRequest();
         c.Reset();
       }},
      {"closed before headers", TransferResult::kConnectError,
       [](RawConnection& c) { c.ReadRequest(); }},
      {"short body", TransferResult::kBroken,
       [](RawConnection& c) {
         c.ReadRequest();
         c.Write("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello");
       }},
      {"short chunked body", TransferResult::kBroken,
       [](RawConnection& c) {
         c.ReadRequest();
         c.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
       }},
      {"reset in the body", TransferResult::kBroken,
       [](RawConnection& c) {
         c.ReadRequest();
         c.Write("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello");
         c.Pause(30);
         c.Reset();
       }},
      {"not HTTP", TransferResult::kProtocol,
       [](RawConnection& c) {
         c.ReadRequest();
         c.Write("SSH-2.0-OpenSSH_9.2\r\n<html>garbage</html>\r\n\r\n");
       }},
      {"another HTTP", TransferResult::kProtocol,
       [](RawConnection& c) {
         c.ReadRequest();
         c.Write("HTTP/9.9 whatever\r\n\r\n");
       }},
      {"endless headers", TransferResult::kProtocol,
       [](RawConnection& c) {
         c.ReadRequest();
         c.Write("HTTP/1.1 200 OK\r\n");
         for (int i = 0; i < 40; ++i) c.Write("x: " + std::string(9000, 'y') + "\r\n");
         c.AwaitHangUp();
       }},
  };
  for (const Case& item : cases) {
    RawServer server(item.script);
    Recorder& r = Do(Post(server.url()));
    EXPECT_EQ(r.end.result, item.want) << item.what << ": " << r.end.message;
    EXPECT_THAT(r.end.message, HasSubstr("127.0.0.1")) << item.what;
    EXPECT_TRUE(r.end.new_connection) << item.what;
  }
}

TEST_F(CurlTransportTest, NobodyThereIsAConnectError) {
  std::uint16_t port = 0;
  {
    port = RawServer([](RawConnection&) {}).port();
  }
  Recorder& r = Do(Post("http://127.0.0.1:" + std::to_string(port) + "/"));
  EXPECT_EQ(r.end.result, TransferResult::kConnectError);
  EXPECT_EQ(r.log, "end");
  EXPECT_EQ(Do(Get("http://no-such-host.invalid/")).end.result, TransferResult::kConnectError);
  EXPECT_EQ(Do(Get("gopher://127.0.0.1/")).end.result, TransferResult::kProtocol);
  EXPECT_EQ(Do(Get("http://127.0.0.1:99999/")).end.result, TransferResult::kProtocol);
}

TEST_F(CurlTransportTest, NoDescriptorIsOurOwnFault) {
  RawServer server([&](RawConnection& c) {
    while (c.ReadRequest()) c.Write(kAnswer);
  });
  Do(Get("http://127.0.0.1:1/"));  // The multi and its wake-up sockets exist.
  rlimit old{};
  ::getrlimit(RLIMIT_NOFILE, &old);
  rlimit none = old;
  none.rlim_cur = 3;
  ::setrlimit(RLIMIT_NOFILE, &none);
  const Recorder& r = Do(Post(server.url()));
  ::setrlimit(RLIMIT_NOFILE, &old);
  EXPECT_EQ(r.end.result, TransferResult::kClientError) << r.end.message;
  EXPECT_THAT(r.end.message, HasSubstr("Too many open files"));
}

// The peer closes a kept connection at the moment at which the next request is written to it.
TEST_F(CurlTransportTest, AStaleConnectionIsReportedNotResent) {
  std::atomic<int> requests{0};
  RawServer server([&](RawConnection& c) {
    if (!c.ReadRequest()) return;
    ++requests;
    c.Write(kAnswer);
    if (!c.ReadRequest()) return;
    ++requests;
    c.Reset();  // Read the second one whole, and hung up.
  });
  EXPECT_EQ(Do(Post(server.url())).end.result, TransferResult::kOk);
  Recorder& r = Do(Post(server.url()));
  EXPECT_EQ(r.end.result, TransferResult::kConnectError) << r.end.message;
  EXPECT_FALSE(r.end.new_connection);
  EXPECT_EQ(requests, 2);
}

// A gateway that sheds load answers before it has read the body.
TEST_F(CurlTransportTest, ARefusalBeforeTheBodyWasReadIsSeen) {
  RawServer server([&](RawConnection& c) {
    c.Write("HTTP/1.1 429 Too Many\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\nno");
    c.AwaitHangUp();
  });
  Recorder& r = Do(Post(server.url(), 40 << 20));
  EXPECT_EQ(r.end.result, TransferResult::kOk) << r.end.message;
  EXPECT_EQ(r.status, 429);
  EXPECT_EQ(r.body, "no");
  EXPECT_EQ(Do(Post(server.url(), 40 << 20)).status, 429);
  EXPECT_EQ(server.connections(), 2);  // A connection with half a request on it is not kept.
}

TEST_F(CurlTransportTest, CancellingHangsUpAndSaysNothing) {
  std::atomic<bool> hung_up{false};
  RawServer server([&](RawConnection& c) {
    c.ReadRequest();
    c.Write("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello");
    c.AwaitHangUp();
    hung_up = true;
  });
  Recorder r;
  auto transfer = transport_.Start(Post(server.url()), r);
  RunUntil([&] { return !r.body.empty(); });
  transfer.reset();
  EXPECT_EQ(transport_.active(), 0u);
  RunUntil([&] { return hung_up.load(); });
  EXPECT_FALSE(r.ended);

  auto unborn = transport_.Start(Post(server.url()), r);
  EXPECT_EQ(transport_.queued(), 1u);
  unborn.reset();
  EXPECT_EQ(transport_.queued(), 0u);
  RunFor(10ms);
  EXPECT_FALSE(r.ended);
}

TEST_F(CurlTransportTest, DestroyedInsideItsOwnCallbacks) {
  RawServer server([&](RawConnection& c) {
    while (c.ReadRequest()) c.Write(kAnswer);
  });
  for (int where = 0; where < 3; ++where) {
    Recorder r;
    std::unique_ptr<HttpTransport::Transfer> transfer;
    bool dropped = false;
    const auto drop = [&] {
      transfer.reset();
      dropped = true;
    };
    (where == 0 ? r.on_headers : where == 1 ? r.on_body : r.on_end) = drop;
    transfer = transport_.Start(Post(server.url()), r);
    RunUntil([&] { return dropped; });
    RunFor(5ms);
    EXPECT_EQ(r.ended, where == 2);
    EXPECT_EQ(transport_.active(), 0u);
  }
}

TEST_F(CurlTransportTest, OneEndMayDropAnotherTransferThatAlsoEnded) {
  RawServer server([&](RawConnection& c) {
    while (c.ReadRequest()) c.Write(kAnswer);
  });
  constexpr int kCount = 20;
  std::vector<Recorder> recorders(kCount);
  std::vector<std::unique_ptr<HttpTransport::Transfer>> transfers(kCount);
  int ended = 0;
  for (int i = 0; i < kCount; ++i) {
    recorders[i].on_end = [&] {
      ++ended;
      for (auto& transfer : transfers) transfer.reset();
    };
    transfers[i] = transport_.Start(Post(server.url()), recorders[i]);
  }
  RunUntil([&] { return ended > 0; });
  RunFor(20ms);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(transport_.active(), 0u);
}

TEST_F(CurlTransportTest, ManyInParallelEachGetItsOwnAnswer) {
  RawServer server([&](RawConnection& c) {
    while (c.ReadRequest()) {
      const std::string mark = c.head().substr(c.head().find("X-Mark: ") + 8, 5);
      c.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n" + mark + "\r\n");
      c.Write("0\r\n\r\n");
    }
  });
  constexpr int kCount = 300;  // More than four multis, ten turns of starts.
  std::vector<Recorder> recorders(kCount);
  std::vector<std::unique_ptr<HttpTransport::Transfer>> transfers;
  int ended = 0;
  for (int i = 0; i < kCount; ++i) {
    HttpRequest request = Post(server.url(), 1000 + static_cast<std::uint64_t>(i));
    request.headers.emplace_back("X-Mark", std::to_string(10'000 + i));
    recorders[i].on_end = [&] { ++ended; };
    transfers.push_back(transport_.Start(std::move(request), recorders[i]));
  }
  RunUntil([&] { return ended == kCount; });
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(recorders[i].body, std::to_string(10'000 + i));
    EXPECT_EQ(recorders[i].end.result, TransferResult::kOk) << recorders[i].end.message;
  }
  const int first_wave = server.connections();
  for (int i = 0; i < 20; ++i) Do(Post(server.url()));
  EXPECT_EQ(server.connections(), first_wave);  // All on kept connections.
}

TEST_F(CurlTransportTest, TheTransportMayGoFirst) {
  RawServer server([&](RawConnection& c) {
    c.ReadRequest();
    c.AwaitHangUp();
  });
  Recorder r;
  auto transport = std::make_unique<CurlTransport>(loop_);
  auto transfer = transport->Start(Post(server.url()), r);
  auto queued = transport->Start(Post(server.url()), r);
  RunUntil([&] { return r.uploaded != MonoTime{}; });
  transport.reset();
  transfer.reset();
  RunFor(5ms);
  EXPECT_FALSE(r.ended);
}

}  // namespace
}  // namespace plimsoll
