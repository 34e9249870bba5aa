// One page, read again and again, in virtual time: when it is asked for, and what every way of
// answering badly becomes.
#include "coordinator/scrape/page_scrape.h"

#include "coordinator/scrape/back_off.h"
#include "tests/coordinator/scrape/scrape_rig.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

class PageScrapeTest : public ::testing::Test {
 protected:
  // Starts with `answers`, in order; those after them hear nothing.
  void Start(std::vector<ScriptedAnswer> answers, Duration every = 1s, Duration timeout = 5s) {
    for (ScriptedAnswer& answer : answers) rig_.http.Add(std::move(answer));
    scrape_ = std::make_unique<PageScrape>(rig_.deps, rig_.Engine(), every, timeout);
    scrape_->Start(rig_.time.Now());
  }
  std::size_t asked() const { return rig_.http.seen().size(); }

  ScrapeRig rig_;
  std::unique_ptr<PageScrape> scrape_;
};

TEST_F(PageScrapeTest, ASampleIsOfTheMiddleOfItsExchange) {
  Start({PageAnswer(VllmPage(3, 10), 40ms)});
  rig_.time.Advance(100ms);
  const std::vector<TargetSample> samples = rig_.Samples();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].at, MonoTime(1000s) + 20ms);
  EXPECT_EQ(samples[0].uncertainty, 20ms);
  EXPECT_TRUE(samples[0].readable());
  EXPECT_EQ(samples[0].start_time, 1000.0);
}

TEST_F(PageScrapeTest, AsksForTextAndGzipAndFollowsItsGrid) {
  Start(
      {PageAnswer(VllmPage(1, 1), 400ms), PageAnswer(VllmPage(1, 2)), PageAnswer(VllmPage(1, 3))});
  rig_.time.Advance(2500ms);
  ASSERT_EQ(asked(), 3u) << "at 0 s, 1 s and 2 s, whatever an answer takes";
  const HttpRequest& request = rig_.http.seen()[0].request;
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.accept_encoding, "gzip");
  ASSERT_EQ(request.headers.size(), 1u) << "no token where none is given";
  EXPECT_EQ(request.headers[0].second, kAcceptMetrics);
  EXPECT_EQ(rig_.Samples()[1].at, MonoTime(1001s) + 20ms);
}

TEST_F(PageScrapeTest, OneExchangeAtATimeAndWhatPassedMeanwhileIsLeftOut) {
  Start({PageAnswer(VllmPage(1, 1), 2300ms), PageAnswer(VllmPage(1, 2))});
  rig_.time.Advance(2900ms);
  EXPECT_EQ(asked(), 1u);
  rig_.time.Advance(200ms);
  EXPECT_EQ(asked(), 2u) << "at 3 s, the grid's next";
}

TEST_F(PageScrapeTest, ATargetThatHangsIsGivenUpAndLeftAloneLongerEachTime) {
  Start({}, 1s, 2s);
  rig_.time.Advance(2100ms);
  EXPECT_THAT(rig_.LastError(), HasSubstr("nothing came within 2s"));
  EXPECT_EQ(rig_.http.open(), 0u) << "the transfer was cut";
  // Begins at 0, 3, 7, 13, 23, 35, 47, …: given up after 2 s, left alone for 1, 2, 4, 8, 10, 10, ….
  rig_.time.RunUntil(MonoTime(1000s) + 25900ms);
  EXPECT_EQ(asked(), 5u);
  rig_.time.RunUntil(MonoTime(1000s) + 100s);
  EXPECT_EQ(asked(), 11u);
}

TEST_F(PageScrapeTest, OneThatComesBackIsAskedOnTheGridAgain) {
  Start({ScriptedAnswer().End(5ms, TransferResult::kConnectError),
         ScriptedAnswer().End(5ms, TransferResult::kConnectError), PageAnswer(VllmPage(1, 1)),
         PageAnswer(VllmPage(1, 2))});
  rig_.time.Advance(4500ms);
  // 0 s, 1 s and 3 s after a few milliseconds each, 4 s.
  ASSERT_EQ(asked(), 4u);
  const std::vector<TargetSample> samples = rig_.Samples();
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_FALSE(samples[1].readable());
  EXPECT_THAT(std::string(MessageOf(samples[1].status)), HasSubstr("as scripted"));
  EXPECT_TRUE(samples[2].readable());
  EXPECT_EQ(samples[3].at, MonoTime(1004s) + 20ms);
}

TEST(BackOff, DoublesFromTheIntervalToABound) {
  EXPECT_EQ(BackOff(1s, 1), 1s);
  EXPECT_EQ(BackOff(1s, 2), 2s);
  EXPECT_EQ(BackOff(1s, 4), 8s);
  EXPECT_EQ(BackOff(1s, 5), 10s);
  EXPECT_EQ(BackOff(1s, 4'000'000'000u), 10s);
  EXPECT_EQ(BackOff(30s, 9), 30s) << "never more often than asked for";
}

// An answer, and what the sample's error says of it.
struct BadAnswer {
  const char* name;
  ScriptedAnswer answer;
  const char* words;
};

TEST_F(PageScrapeTest, WhatIsNoPageIsASampleThatSaysWhy) {
  const std::string page = VllmPage(1, 1);
  std::vector<BadAnswer> bad;
  bad.push_back({"HTML", PageAnswer("<html>hello</html>", 10ms, "text/html"), "HTML"});
  bad.push_back({"JSON", PageAnswer("{}", 10ms, "application/json"), "JSON"});
  bad.push_back({"cut page", PageAnswer(page.substr(0, page.size() - 30)), "line"});
  bad.push_back({"cut gzip",
                 ScriptedAnswer()
                     .Sent(0ms)
                     .Headers(5ms, 200, {{"content-type", "text/plain"}})
                     .Body(6ms, page.substr(0, 50))
                     .End(7ms, TransferResult::kBroken),
                 "broke off"});
  bad.push_back({"503", ScriptedAnswer().Sent(0ms).Headers(5ms, 503).End(6ms), "HTTP 503"});
  bad.push_back({"401", ScriptedAnswer().Sent(0ms).Headers(5ms, 401).End(6ms), "bearer_env"});
  bad.push_back({"404", ScriptedAnswer().Sent(0ms).Headers(5ms, 404).End(6ms), "no such page"});
  bad.push_back({"redirect",
                 ScriptedAnswer()
                     .Sent(0ms)
                     .Headers(5ms, 302, {{"location", "http://evil.example/\n"}})
                     .End(6ms),
                 "http://evil.example/\\n (HTTP 302), which is not followed"});
  bad.push_back({"empty", PageAnswer(""), "the page is empty"});
  bad.push_back({"not whole in time",
                 ScriptedAnswer().Sent(0ms).Headers(5ms, 200).Body(6ms, "a 1\n"),
                 "not whole within 5s"});
  for (BadAnswer& one : bad) {
    ScrapeRig rig;
    rig.http.Add(std::move(one.answer));
    PageScrape scrape(rig.deps, rig.Engine(), 1s, 5s);
    scrape.Start(rig.time.Now());
    rig.time.Advance(5s);
    const std::vector<TargetSample> samples = rig.Samples();
    ASSERT_GE(samples.size(), 1u) << one.name;
    EXPECT_FALSE(samples[0].readable()) << one.name;
    EXPECT_THAT(std::string(MessageOf(samples[0].status)), HasSubstr(one.words)) << one.name;
  }
}

TEST_F(PageScrapeTest, AnAnswerWithoutEndIsCutAtItsBound) {
  ScriptedAnswer endless;
  endless.Sent(0ms).Headers(1ms, 200, {{"content-type", "text/plain"}});
  const std::string mib(std::size_t{1} << 20, 'a');
  for (int i = 0; i < 40; ++i) endless.Body(1ms + i * 1ms, mib);
  Start({std::move(endless)});
  rig_.time.Advance(100ms);
  EXPECT_THAT(rig_.LastError(), HasSubstr("more than 32 MiB"));
  EXPECT_EQ(rig_.http.open(), 0u);
}

TEST_F(PageScrapeTest, APageThatGrowsIsReadWithItsNewSeriesFromZero) {
  std::string grown = VllmPage(1, 2);
  grown +=
      "vllm:num_requests_running{model_name=\"m\",engine=\"1\"} 4\n"
      "vllm:num_preemptions_total{model_name=\"m\"} 3\n";
  Start({PageAnswer(VllmPage(1, 1)), PageAnswer(grown)});
  rig_.time.Advance(1500ms);
  const TargetReading reading = ReadTarget(*SharedMapping("vllm"), rig_.Samples());
  EXPECT_EQ(reading.continuity, Continuity::kWhole);
  EXPECT_EQ(reading.Of(Signal::kRunning).gauge.last, 5);
  EXPECT_EQ(reading.Of(Signal::kPreempted).increase, 3);
}

TEST_F(PageScrapeTest, ARestartShowsInTheSamples) {
  Start({PageAnswer(VllmPage(1, 50, 1000)), PageAnswer(VllmPage(1, 2, 2000))});
  rig_.time.Advance(1500ms);
  EXPECT_EQ(ReadTarget(*SharedMapping("vllm"), rig_.Samples()).continuity, Continuity::kRestarted);
}

TEST_F(PageScrapeTest, AnOddContentTypeIsReadAndNotedOnce) {
  Start({PageAnswer(VllmPage(1, 1), 10ms, ""), PageAnswer(VllmPage(1, 2), 10ms, "")});
  rig_.time.Advance(1500ms);
  ASSERT_EQ(rig_.Samples().size(), 2u);
  EXPECT_TRUE(rig_.Samples()[1].readable());
  EXPECT_THAT(rig_.log.Notes(), ::testing::ElementsAre(HasSubstr("engine-0:8000 of engines: ")));
}

TEST_F(PageScrapeTest, TheStartMayStandInTheAnswersHead) {
  rig_.http.Add(ScriptedAnswer()
                    .Sent(0ms)
                    .Headers(5ms, 200, {{"process-start-time-unix", "1774000000"}})
                    .Body(5ms, "llamacpp:requests_processing 2\n")
                    .End(5ms));
  PageTarget target = rig_.Engine();
  target.mapping = SharedMapping("llamacpp");
  PageScrape scrape(rig_.deps, target, 1s, 5s);
  scrape.Start(rig_.time.Now());
  rig_.time.Advance(100ms);
  ASSERT_EQ(rig_.Samples().size(), 1u);
  EXPECT_EQ(rig_.Samples()[0].start_time, 1'774'000'000.0);
}

TEST_F(PageScrapeTest, AskNowIsOutOfTurnAndAfterWhatIsUnderWay) {
  Start({PageAnswer(VllmPage(1, 1), 100ms), PageAnswer(VllmPage(1, 2), 100ms),
         PageAnswer(VllmPage(1, 3), 100ms), PageAnswer(VllmPage(1, 4), 100ms)});
  rig_.time.Advance(50ms);
  const MonoTime edge = rig_.time.Now();
  scrape_->AskNow();
  EXPECT_EQ(asked(), 1u) << "one at a time";
  EXPECT_FALSE(rig_.log.AskedSince(edge));
  rig_.time.Advance(60ms);
  EXPECT_EQ(asked(), 2u) << "at once when the first has ended";
  EXPECT_FALSE(rig_.log.AskedSince(edge)) << "the first one began before the edge";
  rig_.time.Advance(100ms);
  EXPECT_TRUE(rig_.log.AskedSince(edge));
  rig_.time.Advance(300ms);
  scrape_->AskNow();
  EXPECT_EQ(asked(), 3u);
  rig_.time.RunUntil(MonoTime(1001s));
  EXPECT_EQ(asked(), 4u) << "the grid goes on";
}

TEST_F(PageScrapeTest, WhoFailsIsNotWaitedForNorAskedOutOfTurn) {
  Start({ScriptedAnswer().End(5ms, TransferResult::kConnectError)});
  EXPECT_FALSE(rig_.log.AskedSince(rig_.time.Now())) << "it has not been asked yet";
  rig_.time.Advance(100ms);
  EXPECT_TRUE(rig_.log.AskedSince(rig_.time.Now()));
  scrape_->AskNow();
  EXPECT_EQ(asked(), 1u);
}

TEST_F(PageScrapeTest, TheTokenIsSentAndNeverSaid) {
  PageTarget target = rig_.Engine();
  target.bearer_token = "s3cret";
  rig_.http.Add(ScriptedAnswer().Sent(0ms).Headers(5ms, 403).End(6ms));
  PageScrape scrape(rig_.deps, target, 1s, 5s);
  scrape.Start(rig_.time.Now());
  rig_.time.Advance(100ms);
  const HttpRequest& request = rig_.http.seen()[0].request;
  EXPECT_THAT(request.headers, ::testing::Contains(std::pair<std::string, std::string>(
                                   "Authorization", "Bearer s3cret")));
  EXPECT_THAT(rig_.LastError(), ::testing::Not(HasSubstr("s3cret")));
  rig_.keeper.Flush();
  ASSERT_EQ(rig_.bundles.size(), 1u);
  const auto pages = DecodePages(rig_.bundles[0].second);
  ASSERT_TRUE(pages.ok());
  EXPECT_EQ((*pages)[0].http, 403);
  EXPECT_THAT((*pages)[0].error, HasSubstr("refuses us"));
}

TEST_F(PageScrapeTest, PagesAreKeptAsTheyCame) {
  Start({PageAnswer(VllmPage(3, 10)), PageAnswer("<html>", 10ms, "text/html")});
  rig_.time.Advance(1500ms);
  scrape_->Stop();
  rig_.keeper.Flush();
  ASSERT_EQ(rig_.kept_targets.size(), 1u);
  EXPECT_EQ(rig_.kept_targets[0].name, "engine-0:8000");
  ASSERT_EQ(rig_.bundles.size(), 1u);
  const auto pages = DecodePages(rig_.bundles[0].second);
  ASSERT_TRUE(pages.ok()) << pages.status();
  ASSERT_EQ(pages->size(), 2u);
  EXPECT_EQ((*pages)[0].body, VllmPage(3, 10));
  EXPECT_EQ((*pages)[0].at, rig_.time.WallNow() - 1500ms + 20ms);
  EXPECT_EQ((*pages)[0].took, 40ms);
  EXPECT_EQ((*pages)[0].error, "");
  EXPECT_EQ((*pages)[1].body, "<html>");
  EXPECT_THAT((*pages)[1].error, HasSubstr("HTML"));
}

TEST_F(PageScrapeTest, StoppedItAsksNoMore) {
  Start({});
  rig_.time.Advance(100ms);
  scrape_->Stop();
  EXPECT_EQ(rig_.http.open(), 0u);
  rig_.time.Advance(60s);
  scrape_->AskNow();
  EXPECT_EQ(asked(), 1u);
  EXPECT_EQ(rig_.Samples().size(), 0u);
}

}  // namespace
}  // namespace plimsoll
