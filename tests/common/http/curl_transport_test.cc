#include "common/http/curl_transport.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/http/curl_fixture.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
