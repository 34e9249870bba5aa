#include "coordinator/api/http_routes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

ApiRequest Parsed(std::string_view target) {
  const auto request = ParseApiRequest("GET", target);
  EXPECT_TRUE(request.ok()) << target << ": " << request.status();
  return request.value_or(ApiRequest{});
}

TEST(HttpRoutes, KnowsItsPages) {
  EXPECT_EQ(Parsed("/api/v1/runs").page, ApiPage::kRuns);
  EXPECT_EQ(Parsed("/api/v1/runs").limit, 50u);
  EXPECT_EQ(Parsed("/api/v1/runs?limit=7").limit, 7u);
  EXPECT_EQ(Parsed("/api/v1/runs?limit=1000&").limit, 1000u);
  EXPECT_EQ(Parsed("/api/v1/runs/20261130-recipe-7").page, ApiPage::kRun);
  EXPECT_EQ(Parsed("/api/v1/runs/20261130-recipe-7").run, "20261130-recipe-7");
  EXPECT_EQ(Parsed("/api/v1/runs/a%2Db").run, "a-b");
  EXPECT_EQ(Parsed("/api/v1/runs/a/watch").page, ApiPage::kWatch);
  EXPECT_EQ(Parsed("/api/v1/runs/a/report").page, ApiPage::kReport);
  EXPECT_EQ(Parsed("/api/v1/agents").page, ApiPage::kAgents);
  EXPECT_EQ(Parsed("/healthz").page, ApiPage::kHealth);
  EXPECT_EQ(Parsed("/metrics").page, ApiPage::kMetrics);
  EXPECT_TRUE(ParseApiRequest("HEAD", "/metrics").ok());
}

struct Bad {
  std::string method;
  std::string target;
  int status;
  std::string says;
};

TEST(HttpRoutes, SaysWhatIsWrongAndWhatWouldBeRight) {
  for (const Bad& bad : {
           Bad{"GET", "/", 404, "there are /api/v1/runs"},
           Bad{"GET", "", 404, "there is no page"},
           Bad{"GET", "/api/v1/runsx", 404, "no page /api/v1/runsx"},
           Bad{"GET", "/api/v1/runs/a/b", 404, "no page"},
           Bad{"GET", "/api/v1/runs/a/watch/", 404, "no page"},
           Bad{"GET", "/x\x01\xff", 404, "no page /x\\x01\\xff"},
           Bad{"GET", "/api/v1/runs/", 400, "is no run's id"},
           Bad{"GET", "/api/v1/runs/%4", 400, "is no run's id"},
           Bad{"GET", "/api/v1/runs/%zz", 400, "is no run's id"},
           Bad{"GET", "/api/v1/runs?limit=0", 400, "from 1 to 1000"},
           Bad{"GET", "/api/v1/runs?limit=1001", 400, "from 1 to 1000"},
           Bad{"GET", "/api/v1/runs?limit=-1", 400, "from 1 to 1000"},
           Bad{"GET", "/api/v1/runs?limit=5x", 400, "from 1 to 1000"},
           Bad{"GET", "/api/v1/runs?limit=99999999999999999999", 400, "from 1 to 1000"},
           Bad{"GET", "/api/v1/runs?limit", 400, "from 1 to 1000"},
           Bad{"GET", "/api/v1/runs?page=2", 400, "'page'"},
           Bad{"GET", "/api/v1/agents?limit=2", 400, "does not take"},
           Bad{"POST", "/api/v1/runs", 405, "read only"},
           Bad{"DELETE", "/api/v1/runs/a", 405, "read only"},
           Bad{"GET", "/api/v1/runs?" + std::string(5000, 'a'), 414, "at most 2048"},
       }) {
    const auto request = ParseApiRequest(bad.method, bad.target);
    ASSERT_FALSE(request.ok()) << bad.target;
    EXPECT_EQ(HttpStatusOf(request.status()), bad.status) << bad.target;
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(bad.says)) << bad.target;
  }
}

TEST(HttpRoutes, TextIsForWhoAsksForIt) {
  EXPECT_FALSE(WantsText(""));
  EXPECT_FALSE(WantsText("*/*"));
  EXPECT_FALSE(WantsText("application/json, text/plain"));
  EXPECT_TRUE(WantsText("Text/Plain"));
  EXPECT_TRUE(WantsText("text/plain, application/json;q=0.5"));
}

TEST(HttpRoutes, AStoreThatFailsIsNotTheAskersFault) {
  EXPECT_EQ(HttpStatusOf(absl::UnavailableError("")), 503);
  EXPECT_EQ(HttpStatusOf(absl::DataLossError("")), 500);
  EXPECT_EQ(HttpStatusOf(absl::ResourceExhaustedError("")), 429);
}

}  // namespace
}  // namespace plimsoll
