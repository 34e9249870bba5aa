#include "common/rpc/endpoint.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(Endpoint, ReadsAndWritesAddresses) {
  for (const char* text : {"127.0.0.1:0", "localhost:7070", "[::1]:65535", "gw.example:1"}) {
    const StatusOr<Endpoint> endpoint = ParseEndpoint(text);
    ASSERT_TRUE(endpoint.ok()) << text;
    EXPECT_EQ(ToText(*endpoint), text);
  }
}

TEST(Endpoint, RefusesWhatIsNotOneNamingIt) {
  for (const char* text : {"", "host", ":1", "host:", "host:65536", "host:-1", "host:1x", "::1:70",
                           "[::1]", "[x]:1", "[]:1", "http://host:1", "ho st:1"}) {
    const StatusOr<Endpoint> endpoint = ParseEndpoint(text);
    ASSERT_FALSE(endpoint.ok()) << text;
    EXPECT_NE(MessageOf(endpoint.status()).find(std::string("'") + text + "'"), std::string::npos);
  }
}

TEST(Endpoint, KnowsLoopback) {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "localhost"}) {
    EXPECT_TRUE(IsLoopback({.host = host})) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "localhost.example", "128.0.0.1"}) {
    EXPECT_FALSE(IsLoopback({.host = host})) << host;
  }
}

}  // namespace
}  // namespace plimsoll
