// Answers of a Prometheus server as it gives them, and whoever else may answer; then the questions
// over a loopback socket.
#include "coordinator/cli/prometheus_client.h"

#include <cmath>
#include <future>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "common/http/server/http_server.h"
#include "common/loop/event_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

constexpr const char* kUrl = "http://prom:9090";

WallTime At(double seconds) {
  return WallTime(FromSeconds(seconds));
}

// As Prometheus 2.45 answers a query of one series.
constexpr const char* kMatrix =
    R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":)"
    R"([[1700000000,"3"],[1700000015,"12.5"],[1700000030.5,"NaN"],[1700000045,"+Inf"]]}]}})";

TEST(PrometheusAnswer, HoldsTheSamplesOfOneSeries) {
  const auto points = ParseRangeAnswer(200, kMatrix, kUrl);
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 4u);
  EXPECT_EQ((*points)[1].at, At(1'700'000'015));
  EXPECT_EQ((*points)[1].value, 12.5);
  EXPECT_EQ((*points)[2].at, At(1'700'000'030.5));
  EXPECT_TRUE(std::isnan((*points)[2].value));
  EXPECT_TRUE(std::isnan((*points)[3].value)) << "an infinity is no number of requests";
}

TEST(PrometheusAnswer, WithoutASeriesIsEmpty) {
  const auto points = ParseRangeAnswer(
      200, R"({"status":"success","data":{"resultType":"matrix","result":[]}})", kUrl);
  ASSERT_TRUE(points.ok());
  EXPECT_TRUE(points->empty());
}

TEST(PrometheusAnswer, OfSeveralSeriesIsRefused) {
  const auto points = ParseRangeAnswer(
      200,
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"instance":"a"},)"
      R"("values":[[1,"1"]]},{"metric":{"instance":"b"},"values":[[1,"2"]]}]}})",
      kUrl);
  EXPECT_EQ(points.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(points.status()), HasSubstr("the query gives 2 series"));
}

TEST(PrometheusAnswer, SaysWhatPrometheusSays) {
  const auto bad = ParseRangeAnswer(
      400,
      R"({"status":"error","errorType":"bad_data","error":"invalid parameter \"query\": 1:5: parse )"
      R"(error: unclosed left parenthesis"})",
      kUrl);
  EXPECT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(bad.status()),
              HasSubstr("Prometheus at http://prom:9090 says: bad_data: invalid parameter"));
  const auto slow = ParseRangeAnswer(
      503, R"({"status":"error","errorType":"timeout","error":"query timed out"})", kUrl);
  EXPECT_EQ(slow.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(MessageOf(slow.status()), HasSubstr("timeout: query timed out"));
}

TEST(PrometheusAnswer, OfAnythingElseIsNoPrometheus) {
  struct Case {
    int status;
    const char* body;
  };
  for (
      const auto& [status, body] :
      {Case{404, "<html>not found</html>"},
       {200, "<html>hello</html>"},
       {200, ""},
       {200, "[]"},
       {200, R"({"object":"list","data":[]})"},
       {200, R"({"status":"success"})"},
       {200, R"({"status":"success","data":[]})"},
       {200, R"({"status":7})"},
       {200, R"({"status":"success","data":{"resultType":"vector","result":[]}})"},
       {200, R"({"status":"success","data":{"resultType":"matrix","result":{}}})"},
       {200, R"({"status":"success","data":{"resultType":"matrix","result":[7]}})"},
       {200, R"({"status":"success","data":{"resultType":"matrix","result":[{"values":[[1]]}]}})"},
       {200,
        R"({"status":"success","data":{"resultType":"matrix","result":[{"values":[["1","2"]]}]}})"},
       {200,
        R"({"status":"success","data":{"resultType":"matrix","result":[{"values":[[1e300,"2"]]}]}})"},
       {302, R"({"status":"success","data":{"resultType":"matrix","result":[]}})"}}) {
    const auto points = ParseRangeAnswer(static_cast<std::uint16_t>(status), body, kUrl);
    EXPECT_EQ(points.status().code(), absl::StatusCode::kUnavailable) << body;
    EXPECT_THAT(MessageOf(points.status()), HasSubstr("is no Prometheus server: ")) << body;
  }
}

TEST(PrometheusAnswer, AWantedTokenIsNamed) {
  for (const std::uint16_t status : {401, 403}) {
    const auto points = ParseRangeAnswer(status, "who are you", kUrl);
    EXPECT_EQ(points.status().code(), absl::StatusCode::kUnauthenticated);
    EXPECT_THAT(MessageOf(points.status()), HasSubstr("--bearer-env"));
  }
}

TEST(PrometheusAnswer, NoBeginningOfOneIsReadAsAWhole) {
  const std::string whole = kMatrix;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_FALSE(ParseRangeAnswer(200, whole.substr(0, i), kUrl).ok()) << i;
  }
}

TEST(PrometheusQuestion, IsEscaped) {
  EXPECT_EQ(RangeQueryUrl("http://p:1/x", "sum(a{b=\"c&d\"}) + 1",
                          {At(1'700'000'000), At(1'700'000'060)}, 15s),
            "http://p:1/x/api/v1/query_range?query=sum%28a%7Bb%3D%22c%26d%22%7D%29%20%2B%201"
            "&start=1700000000.000&end=1700000060.000&step=15.000");
}

// A server on a loop of its own thread.
class PrometheusServerTest : public ::testing::Test {
 protected:
  PrometheusServerTest() : thread_([this] { loop_.Run(); }) {
    std::promise<void> up;
    loop_.Post([&] {
      auto server =
          HttpServer::Listen(loop_, {}, [this](HttpServerRequest request, HttpResponder to) {
            targets_.push_back(request.target);
            tokens_.emplace_back(request.Header("authorization"));
            const std::size_t i = std::min(targets_.size(), answers_.size()) - 1;
            to.Send(status_, {{"Content-Type", "application/json"}}, answers_[i]);
          });
      ASSERT_TRUE(server.ok()) << server.status();
      server_ = *std::move(server);
      url_ = fmt::format("http://127.0.0.1:{}", server_->port());
      up.set_value();
    });
    up.get_future().wait();
  }
  ~PrometheusServerTest() override {
    std::promise<void> down;
    loop_.Post([&] {
      server_.reset();
      down.set_value();
    });
    down.get_future().wait();
    loop_.Stop();
    thread_.join();
  }

  EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
  std::string url_;
  int status_ = 200;
  std::vector<std::string> answers_ = {kMatrix};  // The last is given again.
  std::vector<std::string> targets_;
  std::vector<std::string> tokens_;
  std::thread thread_;
};

TEST_F(PrometheusServerTest, ARangeIsAskedPartByPart) {
  answers_ = {
      R"({"status":"success","data":{"resultType":"matrix","result":[{"values":[[0,"1"]]}]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
      R"({"status":"success","data":{"resultType":"matrix","result":[{"values":[[22000,"2"]]}]}})"};
  const auto parts = SplitRange({At(0), At(22'000)}, 1s);
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 3u);
  const auto points = QueryRange({.url = url_, .bearer_token = "t0ken"}, "up", *parts, 1s);
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 2u);
  EXPECT_EQ((*points)[1].value, 2);
  ASSERT_EQ(targets_.size(), 3u);
  EXPECT_EQ(targets_[0], "/api/v1/query_range?query=up&start=0.000&end=10999.000&step=1.000");
  EXPECT_EQ(targets_[2], "/api/v1/query_range?query=up&start=22000.000&end=22000.000&step=1.000");
  EXPECT_EQ(tokens_[2], "Bearer t0ken");
}

TEST_F(PrometheusServerTest, WithoutATokenNoneIsSent) {
  ASSERT_TRUE(QueryRange({.url = url_}, "up", {{At(0), At(60)}}, 1s).ok());
  EXPECT_EQ(tokens_[0], "");
}

TEST_F(PrometheusServerTest, TheFirstErrorEndsIt) {
  status_ = 422;
  answers_ = {R"({"status":"error","errorType":"execution","error":"too many samples"})"};
  const auto points = QueryRange({.url = url_}, "up", {{At(0), At(60)}, {At(61), At(70)}}, 1s);
  EXPECT_THAT(MessageOf(points.status()), HasSubstr("execution: too many samples"));
  EXPECT_EQ(targets_.size(), 1u);
}

TEST_F(PrometheusServerTest, NobodyAnswersThere) {
  const std::string gone = url_;
  std::promise<void> down;
  loop_.Post([&] {
    server_.reset();
    down.set_value();
  });
  down.get_future().wait();
  const auto points = QueryRange({.url = gone}, "up", {{At(0), At(60)}}, 1s);
  EXPECT_EQ(points.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(MessageOf(points.status()), HasSubstr(gone + " does not answer: "));
}

}  // namespace
}  // namespace plimsoll
