// `plimsoll peak` as it is typed, against a server that answers as Prometheus does.
#include "coordinator/cli/peak_command.h"

#include <fstream>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "common/http/server/http_server.h"
#include "common/loop/event_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/temp_folder.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

class PeakCommandTest : public ::testing::Test {
 protected:
  PeakCommandTest() : thread_([this] { loop_.Run(); }) {
    OnLoop([this] {
      auto server =
          HttpServer::Listen(loop_, {}, [this](HttpServerRequest request, HttpResponder to) {
            target_ = request.target;
            token_ = std::string(request.Header("authorization"));
            to.Send(200, {}, answer_);
          });
      ASSERT_TRUE(server.ok()) << server.status();
      server_ = *std::move(server);
      url_ = fmt::format("http://127.0.0.1:{}", server_->port());
    });
    // Five minutes from 1796000000 on: 8 in flight, and 17 from the second minute to the third.
    answer_ =
        R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[)";
    for (int i = 0; i <= 20; ++i) {
      answer_ += fmt::format("{}[{},\"{}\"]", i == 0 ? "" : ",", 1'796'000'000 + 15 * i,
                             i >= 4 && i < 8 ? 17 : 8);
    }
    answer_ += "]}]}}";
  }
  ~PeakCommandTest() override {
    OnLoop([this] { server_.reset(); });
    loop_.Stop();
    thread_.join();
  }
  void OnLoop(const std::function<void()>& task) {
    std::promise<void> done;
    loop_.Post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }
  // The exit code, with --prometheus and the range; what was said is in out_ and err_.
  int Peak(std::vector<const char*> words) {
    words.insert(words.begin(),
                 {"--prometheus", url_.c_str(), "--from", "1796000000", "--to", "1796000300"});
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = PeakMain(static_cast<int>(words.size()), words.data());
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }
  std::string File(const char* name, const std::string& text) {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  TempFolder folder_;
  EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
  std::string url_;
  std::string answer_;
  std::string target_;
  std::string token_;
  std::string out_;
  std::string err_;
  std::thread thread_;
};

TEST_F(PeakCommandTest, FindsTheBusiestMinute) {
  EXPECT_EQ(Peak({}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("17 requests in flight, mean of 1m from 2026-11-30 00:54:20 UTC"));
  EXPECT_THAT(target_,
              HasSubstr("num_requests_running%29%20%2B%20sum%28vllm%3Anum_requests_waiting"));
  EXPECT_THAT(target_, HasSubstr("start=1796000000.000&end=1796000300.000&step=15.000"));
}

TEST_F(PeakCommandTest, SaysHowManySessionsOfAScenarioThatIs) {
  const std::string scenario = File("s.yaml", R"(name: s
target: {url: "http://127.0.0.1:8080/v1", model: m}
corpus: {synthetic: agentx, heavy: 4, light: 4}
mix: {heavy: 50%, light: 50%}
sweep: {sessions: [2, 6]}
bar: {ttft_p90: 5.3s}
fleet: {local: 1}
)");
  EXPECT_EQ(Peak({"--scenario", scenario.c_str()}), 0) << err_;
  EXPECT_THAT(out_, HasSubstr("of this mix keep as many in flight on average"));
  EXPECT_THAT(out_, HasSubstr("never pauses unless think_time says so"));
}

TEST_F(PeakCommandTest, TakesAQueryAKindAndAToken) {
  ::setenv("PLIMSOLL_PEAK_TEST_TOKEN", "t0ken", 1);
  EXPECT_EQ(Peak({"--query", "inflight", "--bearer-env", "PLIMSOLL_PEAK_TEST_TOKEN"}), 0) << err_;
  EXPECT_THAT(target_, HasSubstr("query=inflight&"));
  EXPECT_EQ(token_, "Bearer t0ken");
  EXPECT_EQ(Peak({"--kind", "sglang"}), 0);
  EXPECT_THAT(target_, HasSubstr("sglang%3Anum_running_reqs"));
}

TEST_F(PeakCommandTest, SaysWhatIsWrongWithTheWords) {
  EXPECT_EQ(Peak({"--query", "x", "--kind", "vllm"}), 64);
  EXPECT_EQ(Peak({"--last", "7d"}), 64);
  EXPECT_THAT(err_, HasSubstr("not both"));
  EXPECT_EQ(Peak({"--step", "1h2"}), 64);
  EXPECT_EQ(Peak({"--bearer-env", "PLIMSOLL_NO_SUCH_VARIABLE"}), 64);
  EXPECT_THAT(err_, HasSubstr("set PLIMSOLL_NO_SUCH_VARIABLE"));
  EXPECT_EQ(Peak({"--corpus", "/nowhere"}), 64);
  EXPECT_THAT(err_, HasSubstr("/nowhere"));
  url_ = "prometheus:9090";
  EXPECT_EQ(Peak({}), 64);
  EXPECT_THAT(err_, HasSubstr("takes an http or https address"));
}

TEST_F(PeakCommandTest, SaysWhatIsWrongWithTheAnswer) {
  answer_ = R"({"status":"success","data":{"resultType":"matrix","result":[]}})";
  EXPECT_EQ(Peak({}), 3);
  EXPECT_THAT(err_, HasSubstr("the query finds nothing between"));
  answer_ = "<html>";
  EXPECT_EQ(Peak({}), 4);
  EXPECT_THAT(err_, HasSubstr("is no Prometheus server"));
  OnLoop([this] { server_.reset(); });
  EXPECT_EQ(Peak({}), 4);
  EXPECT_THAT(err_, HasSubstr("does not answer"));
}

}  // namespace
}  // namespace plimsoll
