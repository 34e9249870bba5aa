// Where an agent may send load, and what it says where it may not.
#include "agent/host/allow_list.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(AllowList, LoopbackAlwaysOthersOnlyByName) {
  const AllowList list({"gw.example", "10.0.0.7"});
  struct {
    const char* url;
    absl::StatusCode code;
  } const cases[] = {
      {"http://localhost:8080/v1", absl::StatusCode::kOk},
      {"http://127.0.0.1:8080/v1", absl::StatusCode::kOk},
      {"http://127.3.2.1", absl::StatusCode::kOk},
      {"http://[::1]:8080", absl::StatusCode::kOk},
      {"https://GW.example:443/v1", absl::StatusCode::kOk},
      {"http://10.0.0.7/v1", absl::StatusCode::kOk},
      {"http://10.0.0.77/v1", absl::StatusCode::kPermissionDenied},
      {"http://a.gw.example/v1", absl::StatusCode::kPermissionDenied},
      {"http://gw.example.org/v1", absl::StatusCode::kPermissionDenied},
      {"http://127.example.org/v1", absl::StatusCode::kPermissionDenied},
      {"http://127.0.0.1.example.org/v1", absl::StatusCode::kPermissionDenied},
      {"http://localhost.example.org/v1", absl::StatusCode::kPermissionDenied},
      {"http://gw.example@evil.example/v1", absl::StatusCode::kPermissionDenied},
      {"gw.example/v1", absl::StatusCode::kInvalidArgument},
      {"", absl::StatusCode::kInvalidArgument},
  };
  for (const auto& c : cases) EXPECT_EQ(list.Check(c.url).code(), c.code) << c.url;
}

TEST(AllowList, TheRefusalNamesTheFlagToAdd) {
  const Status status = AllowList({}).Check("https://gw.example/v1");
  EXPECT_NE(MessageOf(status).find("--allow gw.example"), std::string_view::npos);
}

TEST(AllowList, AStarAllowsEveryHostButNotNone) {
  const AllowList list({"*"});
  EXPECT_TRUE(list.Check("http://anything.example").ok());
  EXPECT_TRUE(AllowList({"GW.Example"}).Check("http://gw.EXAMPLE/v1").ok());
  EXPECT_FALSE(list.Check("http:///v1").ok());
}

}  // namespace
}  // namespace plimsoll
