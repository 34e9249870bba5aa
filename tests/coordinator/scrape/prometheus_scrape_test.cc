// A Prometheus server as a source, in virtual time: whose clock is three hours and a quarter of a
// second ahead.
#include "coordinator/scrape/prometheus_scrape.h"

#include "tests/coordinator/scrape/scrape_rig.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

constexpr Duration kAhead = 3h + 250ms;

class PrometheusScrapeTest : public ::testing::Test {
 protected:
  double Theirs(MonoTime at) const { return ToSeconds(at.time_since_epoch() + kAhead); }
  static ScriptedAnswer Json(const std::string& body) {
    return ScriptedAnswer()
        .Sent(0ms)
        .Headers(20ms, 200, {{"content-type", "application/json"}})
        .Body(20ms, body)
        .End(20ms);
  }
  // As the clock is in the middle of an exchange that begins after `in`.
  ScriptedAnswer ClockAnswer(Duration in = 0ms) const {
    const std::string now = fmt(Theirs(rig_.time.Now() + in + 10ms));
    return Json(R"({"status":"success","data":{"resultType":"scalar","result":[)" + now + ",\"" +
                now + "\"]}}");
  }
  static std::string fmt(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f", value);
    return text;
  }
  static std::string Series(const std::string& name, const std::string& instance,
                            const std::vector<std::pair<double, std::string>>& points) {
    std::string values;
    for (const auto& [at, value] : points) {
      values += (values.empty() ? "[" : ",[") + fmt(at) + ",\"" + value + "\"]";
    }
    return R"({"metric":{"__name__":")" + name + R"(","instance":")" + instance +
           R"(","job":"vllm"},"values":[)" + values + "]}";
  }
  static ScriptedAnswer Matrix(const std::vector<std::string>& series) {
    std::string all;
    for (const std::string& one : series) all += (all.empty() ? "" : ",") + one;
    return Json(R"({"status":"success","data":{"resultType":"matrix","result":[)" + all + "]}}");
  }
  void Start(bool optional = false, bool named = true) {
    QueriedSource source{.source = "engines",
                         .mapping = SharedMapping("vllm"),
                         .mapping_text = "",
                         .filter = {},
                         .where = {},
                         .split = {"instance"},
                         .optional = optional};
    if (named)
      source.where.push_back({.label = "job", .op = LabelTest::Op::kIn, .values = {"vllm"}});
    scrape_ = std::make_unique<PrometheusScrape>(
        rig_.deps,
        PrometheusTarget{
            .url = "http://prom:9090", .bearer_token = "", .ca_file = "", .sources = {source}},
        5s, 2s);
    scrape_->Start(rig_.time.Now());
  }
  void Add(ScriptedAnswer answer) { rig_.http.Add(std::move(answer)); }

  ScrapeRig rig_;
  std::unique_ptr<PrometheusScrape> scrape_;
};

constexpr const char* kRunning = "vllm:num_requests_running";

TEST_F(PrometheusScrapeTest, SamplesAreAtTheInstantsOfItsScrapesOnOurClock) {
  const double now = Theirs(rig_.time.Now());
  Add(ClockAnswer());
  Add(Matrix({Series(kRunning, "a", {{now - 20, "2"}, {now - 5, "3"}}),
              Series("scrape_duration_seconds", "a", {{now - 20, "0.2"}, {now - 5, "0.4"}}),
              Series("up", "a", {{now - 20, "1"}, {now - 5, "1"}})}));
  Start();
  rig_.time.Advance(1s);
  const SignalHistory all = rig_.All();
  ASSERT_EQ(all.targets.size(), 1u);
  EXPECT_EQ(all.targets[0].name, "a");
  EXPECT_EQ(all.targets[0].source, "engines");
  const std::vector<TargetSample>& samples = all.targets[0].samples;
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].at, MonoTime(1000s) - 20s + 100ms) << "the middle of its scrape";
  EXPECT_EQ(samples[1].at, MonoTime(1000s) - 5s + 200ms);
  EXPECT_EQ(samples[1].uncertainty, 200ms + 10ms + 500us) << "and of our look at its clock";
  EXPECT_EQ(ReadTarget(*SharedMapping("vllm"), samples).Of(Signal::kRunning).gauge.last, 3);
  const auto& asked = rig_.http.seen();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].request.method, "POST");
  EXPECT_EQ(asked[0].request.url, "http://prom:9090/api/v1/query");
  EXPECT_EQ(asked[0].body, "query=time%28%29");
  EXPECT_THAT(asked[1].body, HasSubstr("job%3D~%22vllm%22%7D%5B120s%5D"));
}

TEST_F(PrometheusScrapeTest, LaterWindowsOverlapAndNothingCountsTwice) {
  const double now = Theirs(rig_.time.Now());
  Add(ClockAnswer());
  Add(Matrix({Series(kRunning, "a", {{now - 5, "1"}})}));
  Add(Matrix({Series(kRunning, "a", {{now - 5, "1"}, {now + 4, "2"}})}));
  Start();
  rig_.time.Advance(6s);
  EXPECT_EQ(rig_.Samples().size(), 2u);
  ASSERT_EQ(rig_.http.seen().size(), 3u) << "the clock is not asked for each time";
  EXPECT_THAT(rig_.http.seen()[2].body, HasSubstr("%5B20s%5D"));
}

TEST_F(PrometheusScrapeTest, APageThatItCouldNotReadIsASample) {
  const double now = Theirs(rig_.time.Now());
  Add(ClockAnswer());
  Add(Matrix({Series(kRunning, "a", {{now - 20, "1"}}),
              Series("up", "a", {{now - 20, "1"}, {now - 5, "0"}}),
              Series("up", "b", {{now - 6, "0"}})}));
  Start();
  rig_.time.Advance(1s);
  ASSERT_EQ(rig_.All().targets.size(), 2u) << "b is one of the job that was asked for";
  EXPECT_THAT(rig_.LastError(0), HasSubstr("up is 0"));
  EXPECT_TRUE(rig_.Samples(0)[0].readable());
  EXPECT_FALSE(rig_.Samples(1)[0].readable());
}

TEST_F(PrometheusScrapeTest, OtherTargetsOfTheServerAreNotOurs) {
  const double now = Theirs(rig_.time.Now());
  Add(ClockAnswer());
  Add(Matrix({Series(kRunning, "a", {{now - 5, "1"}}), Series("up", "node", {{now - 6, "0"}})}));
  Start(false, false);
  rig_.time.Advance(1s);
  ASSERT_EQ(rig_.All().targets.size(), 1u);
}

TEST_F(PrometheusScrapeTest, WithoutAnyTargetAStandInSaysSoUntilOneIsThere) {
  const double now = Theirs(rig_.time.Now());
  Add(ClockAnswer());
  Add(Matrix({}));
  Add(Matrix({Series(kRunning, "a", {{now + 4, "1"}})}));
  Start();
  rig_.time.Advance(1s);
  ASSERT_EQ(rig_.All().targets.size(), 1u);
  EXPECT_EQ(rig_.All().targets[0].name, "prometheus");
  EXPECT_THAT(rig_.LastError(), HasSubstr("has no page of kind vllm with the labels"));
  rig_.time.Advance(5s);
  ASSERT_EQ(rig_.All().targets.size(), 1u);
  EXPECT_EQ(rig_.All().targets[0].name, "a");
}

TEST_F(PrometheusScrapeTest, AnOptionalSourceIsNotMissed) {
  Add(ClockAnswer());
  Add(Matrix({}));
  Start(true);
  rig_.time.Advance(1s);
  EXPECT_TRUE(rig_.All().targets.empty());
  EXPECT_TRUE(rig_.log.AskedSince(MonoTime(1000s)));
}

TEST_F(PrometheusScrapeTest, ATargetThatFallsSilentIsSaidToBe) {
  const double now = Theirs(rig_.time.Now());
  Add(ClockAnswer());
  Add(Matrix({Series(kRunning, "a", {{now - 20, "1"}, {now - 5, "1"}})}));
  for (int i = 0; i < 9; ++i) Add(Matrix({}));
  Start();
  rig_.time.Advance(39s);
  EXPECT_EQ(rig_.Samples().size(), 2u) << "two of its intervals, and what is on its way";
  rig_.time.Advance(10s);
  EXPECT_THAT(rig_.LastError(), HasSubstr("Prometheus has had no page of it for"));
}

TEST_F(PrometheusScrapeTest, AServerThatIsAwayBacksOffAndWhatItReadMeanwhileComesLater) {
  const double now = Theirs(rig_.time.Now());
  Add(ClockAnswer());
  Add(Matrix({Series(kRunning, "a", {{now - 15, "1"}, {now, "1"}})}));
  Add(ScriptedAnswer().End(5ms, TransferResult::kConnectError));
  Add(ScriptedAnswer().End(5ms, TransferResult::kConnectError));
  Add(Matrix({Series(kRunning, "a", {{now, "1"}, {now + 15, "2"}})}));
  Start();
  rig_.time.Advance(6s);
  EXPECT_TRUE(rig_.log.AskedSince(rig_.time.Now())) << "who fails is not waited for";
  rig_.time.Advance(5s);
  EXPECT_EQ(rig_.Samples().size(), 2u) << "nothing is lost yet";
  rig_.time.Advance(10s);
  const std::vector<TargetSample> samples = rig_.Samples();
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[2].at, MonoTime(1015s));
  EXPECT_THAT(rig_.http.seen().back().body, HasSubstr("%5B36s%5D"))
      << "the window reaches back to the last good answer, and over it";
}

TEST_F(PrometheusScrapeTest, WhoNeverAnswersIsAStandInWithTheReason) {
  Add(ScriptedAnswer().Sent(0ms).Headers(5ms, 200).Body(5ms, "<html>").End(6ms));
  Start();
  rig_.time.Advance(1s);
  ASSERT_EQ(rig_.All().targets.size(), 1u);
  EXPECT_THAT(rig_.LastError(), HasSubstr("is no Prometheus server"));
}

TEST_F(PrometheusScrapeTest, PagesAreKeptAsTheyWerePutTogether) {
  const double now = Theirs(rig_.time.Now());
  Add(ClockAnswer());
  Add(Matrix({Series(kRunning, "a", {{now - 5, "1"}})}));
  Start();
  rig_.time.Advance(1s);
  rig_.keeper.Flush();
  ASSERT_EQ(rig_.bundles.size(), 1u);
  EXPECT_EQ(rig_.kept_targets.at(0).url, "http://prom:9090");
  EXPECT_EQ(DecodePages(rig_.bundles[0].second)->at(0).body,
            "vllm:num_requests_running{instance=\"a\",job=\"vllm\"} 1\n");
}

}  // namespace
}  // namespace plimsoll
