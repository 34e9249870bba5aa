// How transfers fail, and whose fault that is.
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/common/http/curl_fixture.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace plimsoll
