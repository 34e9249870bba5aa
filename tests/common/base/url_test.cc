// The host that a URL names: what decides whether an agent may send load there.
#include "common/base/url.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(HostOfUrl, IsLowerCaseWithoutUserPortAndBrackets) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"http://gw.example/v1", "gw.example"},
      {"https://GW.Example:8443/v1", "gw.example"},
      {"http://127.0.0.1:8080", "127.0.0.1"},
      {"http://[::1]:8080/v1", "::1"},
      {"http://[2001:DB8::1]", "2001:db8::1"},
      {"http://user:word@gw.example/", "gw.example"},
      {"http://a@b@gw.example/", "gw.example"},
      {"http://gw.example?x=@evil.example", "gw.example"},
      {"http://gw.example#@evil.example", "gw.example"},
      {"http://gw.example/@evil.example", "gw.example"},
      {"http://", ""},
      {"http:///v1", ""},
      {"http://:80", ""},
      {"gw.example:80", ""},
      {"", ""},
      {"http://[", ""},
  };
  for (const auto& [url, host] : cases) EXPECT_EQ(HostOfUrl(url), host) << url;
}

}  // namespace
}  // namespace plimsoll
