// The request reader alone: no split of the bytes changes what is read, and no bytes break it.
#include "common/http/server/request_reader.h"

#include <algorithm>
#include <string>
#include <vector>

#include "common/base/rng.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

constexpr std::string_view kTwo =
    "POST /a?b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3\r\nabc\r\n5;x=y\r\ndefgh\r\n0\r\nTrailer: t\r\n\r\n"
    "PUT /c HTTP/1.1\r\nContent-Length: 4\r\nX-Y: 1\r\nConnection: close\r\n\r\nbody";

struct Seen {
  std::vector<HttpServerRequest> requests;
  bool bad = false;
};

// Feeds pieces of random length, as a connection would.
Seen ReadAll(std::string_view bytes, Rng* rng) {
  RequestReader reader(4096, 4096);
  Seen seen;
  std::string in;
  while (!bytes.empty() || !in.empty()) {
    const std::size_t n = std::min<std::size_t>(bytes.size(), 1 + rng->Below(12));
    in += bytes.substr(0, n);
    bytes.remove_prefix(n);
    const std::size_t used = reader.Feed(in);
    EXPECT_LE(used, in.size());
    in.erase(0, used);
    if (reader.state() == RequestReader::State::kBad) {
      EXPECT_GE(reader.bad_status(), 400);
      EXPECT_FALSE(reader.bad_reason().empty());
      seen.bad = true;
      break;
    }
    if (reader.state() == RequestReader::State::kDone) {
      seen.requests.push_back(reader.Take());
    } else if (n == 0 && used == 0) {
      break;
    }
  }
  return seen;
}

TEST(RequestReader, NoSplitChangesWhatIsRead) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Seen seen = ReadAll(kTwo, &rng);
    ASSERT_FALSE(seen.bad);
    ASSERT_EQ(seen.requests.size(), 2u);
    EXPECT_EQ(seen.requests[0].method, "POST");
    EXPECT_EQ(seen.requests[0].body, "abcdefgh");
    EXPECT_EQ(seen.requests[0].Path(), "/a");
    EXPECT_EQ(seen.requests[1].target, "/c");
    EXPECT_EQ(seen.requests[1].Header("x-y"), "1");
    EXPECT_EQ(seen.requests[1].body, "body");
  }
}

// Of every kind of chunked end: nothing before it, data, an extension, trailers; whole, or broken
// off.
TEST(RequestReader, AChunkedEndMayComeByteByByte) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* data : {"", "1\r\na\r\n", "3;x=y\r\nabc\r\n"}) {
    for (const char* end : {"0\r\n\r\n", "0;x\r\n\r\n", "000\r\n\r\n", "0\r\nT: t\r\n\r\n"}) {
      const std::string message = head + data + end;
      for (std::size_t piece = 1; piece <= 7; ++piece) {
        SCOPED_TRACE(testing::Message() << data << end << " by " << piece);
        RequestReader reader(4096, 4096);
        std::string in;
        for (std::size_t at = 0; at < message.size(); at += piece) {
          ASSERT_EQ(reader.state(), RequestReader::State::kMore);
          in += message.substr(at, piece);
          in.erase(0, reader.Feed(in));
        }
        EXPECT_EQ(reader.state(), RequestReader::State::kDone);
        EXPECT_EQ(in, "");
      }
    }
  }
}

TEST(RequestReader, NoBytesBreakIt) {
  int bad = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::string bytes(kTwo);
    for (std::uint64_t changes = 1 + rng.Below(4); changes > 0; --changes) {
      bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Below(256));
    }
    bytes.resize(bytes.size() - rng.Below(20));
    bad += ReadAll(bytes, &rng).bad ? 1 : 0;
  }
  EXPECT_GT(bad, 300);
}

TEST(RequestReader, HugeLengthsAreRefusedBeforeTheyAreBelieved) {
  for (const char* length : {"4097", "18446744073709551615", "99999999999999999999999"}) {
    RequestReader reader(4096, 4096);
    reader.Feed(std::string("POST / HTTP/1.1\r\nContent-Length: ") + length + "\r\n\r\n");
    EXPECT_EQ(reader.state(), RequestReader::State::kBad) << length;
  }
}

}  // namespace
}  // namespace plimsoll
