// Webhooks: what is sent, when it is tried again, and that nobody waits and no URL is said.
#include "coordinator/notify/notifier.h"

#include <cstdlib>
#include <fstream>

#include "common/json/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/scripted_transport.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kUrl[] = "https://hooks.example/T0/SECRET";

ScriptedAnswer Answer(std::uint16_t status,
                      std::vector<std::pair<std::string, std::string>> headers = {}) {
  ScriptedAnswer answer;
  answer.Sent(1ms).UploadDone(1ms).Headers(10ms, status, std::move(headers)).End(10ms);
  return answer;
}

ScriptedAnswer NoConnection() {
  ScriptedAnswer answer;
  answer.End(10ms, TransferResult::kConnectError);
  return answer;
}

NotifyMessage Verdict() {
  return {.event = NotifyEvent::kVerdict,
          .run_id = "20261201-220000-recipe-7",
          .run_name = "recipe-7",
          .phase = "verdict",
          .verdict = "pass",
          .exit_code = 0,
          .capacity = "12.4 → 12 sessions [10–14]",
          .text = "15 sessions hold"};
}

class Webhooks : public ::testing::Test {
 protected:
  void Make(NotifySpec spec = {}, NotifierLimits limits = {}) {
    spec.url_env = "HOOK";
    notifier_ = std::make_unique<Notifier>(
        http_, time_, std::vector<Webhook>{{.spec = spec, .url = kUrl}},
        [this](const std::string& line) { said_.push_back(line); }, limits);
  }

  SimScheduler time_;
  ScriptedTransport http_{time_};
  std::vector<std::string> said_;
  std::unique_ptr<Notifier> notifier_;
};

TEST_F(Webhooks, GetWhatSlackTakes) {
  Make();
  http_.Add(Answer(200));
  NotifyMessage message = Verdict();
  message.run_name = "<!channel> \"a\"\n&";
  notifier_->Send(message);
  time_.Advance(1s);
  ASSERT_THAT(http_.seen(), SizeIs(1));
  const auto& seen = http_.seen()[0];
  EXPECT_EQ(seen.request.method, "POST");
  EXPECT_EQ(seen.request.url, kUrl);
  const auto json = nlohmann::json::parse(seen.body, nullptr, false);
  ASSERT_TRUE(json.is_object()) << seen.body;
  EXPECT_EQ(json.size(), 1u);
  EXPECT_EQ(json["text"],
            "plimsoll &lt;!channel&gt; \"a\"\\n&amp; (20261201-220000-recipe-7): 15 sessions hold; "
            "capacity 12.4 → 12 sessions [10–14]");
  EXPECT_THAT(said_, ElementsAre("notify: verdict to $HOOK: delivered"));
  EXPECT_TRUE(notifier_->idle());
}

TEST_F(Webhooks, GetFieldsWhereProgramsListen) {
  Make({.form = NotifyForm::kJson});
  notifier_->Send(Verdict());
  const auto json = nlohmann::json::parse(http_.seen().at(0).body, nullptr, false);
  ASSERT_TRUE(json.is_object()) << http_.seen()[0].body;
  EXPECT_EQ(json["event"], "verdict");
  EXPECT_EQ(json["run_id"], "20261201-220000-recipe-7");
  EXPECT_EQ(json["phase"], "verdict");
  EXPECT_EQ(json["verdict"], "pass");
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["capacity"], "12.4 → 12 sessions [10–14]");
  const auto empty = nlohmann::json::parse(JsonBody({.text = "\xff\x01"}), nullptr, false);
  ASSERT_TRUE(empty.is_object());
  EXPECT_TRUE(empty["run_id"].is_null() && empty["exit_code"].is_null());
  EXPECT_EQ(empty["text"], "\\xff\\x01");
}

TEST_F(Webhooks, HearOnlyWhatTheyAskedFor) {
  Make({.on = {NotifyEvent::kWindowMissed}});
  notifier_->Send(Verdict());
  EXPECT_THAT(http_.seen(), IsEmpty());
  EXPECT_TRUE(notifier_->idle());
}

TEST_F(Webhooks, AreTriedAgainWithALongerWaitEachTime) {
  Make();
  http_.Add(NoConnection());
  http_.Add(Answer(503));
  http_.Add(Answer(204));
  notifier_->Send(Verdict());
  time_.Advance(1s);
  EXPECT_THAT(http_.seen(), SizeIs(1));
  time_.Advance(20ms);
  EXPECT_THAT(http_.seen(), SizeIs(2));
  time_.Advance(1900ms);
  EXPECT_THAT(http_.seen(), SizeIs(2));
  time_.Advance(200ms);
  EXPECT_THAT(http_.seen(), SizeIs(3));
  EXPECT_EQ(http_.seen()[0].body, http_.seen()[2].body);
  EXPECT_THAT(said_, ElementsAre("notify: verdict to $HOOK: delivered at attempt 3"));
}

TEST_F(Webhooks, SayHowLongToWait) {
  Make();
  http_.Add(Answer(429, {{"retry-after", "12"}}));
  http_.Add(Answer(200));
  notifier_->Send(Verdict());
  time_.Advance(11s);
  EXPECT_THAT(http_.seen(), SizeIs(1));
  time_.Advance(2s);
  EXPECT_THAT(http_.seen(), SizeIs(2));
}

TEST_F(Webhooks, ThatRefuseAreNotAskedAgain) {
  Make();
  http_.Add(Answer(404));
  http_.Add(Answer(200));
  notifier_->Send(Verdict());
  notifier_->Send({.event = NotifyEvent::kStarted, .text = "x"});
  time_.Advance(1min);
  EXPECT_THAT(said_,
              ElementsAre("notify: verdict to $HOOK: not delivered: it answered 404, attempt "
                          "1",
                          "notify: started to $HOOK: delivered"));
}

TEST_F(Webhooks, ThatNeverAnswerAreGivenUpInTime) {
  Make({}, {.attempts_max = 2});
  notifier_->Send(Verdict());
  time_.Advance(5min);
  EXPECT_THAT(http_.seen(), SizeIs(2));
  EXPECT_EQ(http_.open(), 0u);
  EXPECT_THAT(said_,
              ElementsAre("notify: verdict to $HOOK: not delivered: no answer in 10s, attempt 2"));
}

TEST_F(Webhooks, HaveABoundedQueue) {
  Make({}, {.queued_max = 3});
  for (int i = 0; i < 5; ++i) notifier_->Send(Verdict());
  EXPECT_THAT(said_, SizeIs(2));
  EXPECT_THAT(said_, Each(HasSubstr("dropped: 3 wait for it already")));
  EXPECT_THAT(http_.seen(), SizeIs(1)) << "one at a time";
}

TEST_F(Webhooks, AreWaitedForAtTheEndButNotForever) {
  Make();
  http_.Add(Answer(500));
  http_.Add(Answer(200));
  notifier_->Send(Verdict());
  bool done = false;
  notifier_->Finish(10s, [&done] { done = true; });
  EXPECT_FALSE(done);
  time_.Advance(2s);
  EXPECT_TRUE(done) << "as soon as all is said";
  done = false;
  notifier_->Send(Verdict());
  notifier_->Finish(10s, [&done] { done = true; });
  time_.Advance(10s);
  EXPECT_TRUE(done);
  EXPECT_EQ(said_.back(), "notify: verdict to $HOOK: not delivered: the process ended 10s later");
  EXPECT_EQ(http_.open(), 0u);
  done = false;
  notifier_->Finish(10s, [&done] { done = true; });
  time_.Advance(0s);
  EXPECT_TRUE(done) << "nothing is under way";
}

TEST_F(Webhooks, AreNeverNamedByTheirUrl) {
  Make();
  http_.Add(Answer(400));
  http_.Add(NoConnection());
  notifier_->Send(Verdict());
  notifier_->Send(Verdict());
  time_.Advance(10min);
  ASSERT_THAT(said_, SizeIs(2));
  EXPECT_THAT(said_, Each(Not(HasSubstr("example"))));
}

TEST(WebhookUrls, ComeFromWhereTheyAreNamed) {
  const std::string path = ::testing::TempDir() + "plimsoll-hook.url";
  std::ofstream(path) << kUrl << "\r\n";
  ::setenv("PLIMSOLL_TEST_HOOK", kUrl, 1);
  NotifySpec env;
  env.url_env = "PLIMSOLL_TEST_HOOK";
  NotifySpec file;
  file.url_file = path;
  const auto read = ReadWebhooks({env, file});
  ASSERT_TRUE(read.ok()) << MessageOf(read.status());
  EXPECT_EQ((*read)[0].url, kUrl);
  EXPECT_EQ((*read)[1].url, kUrl);
}

TEST(WebhookUrls, ThatAreNoneAreNotRepeated) {
  ::setenv("PLIMSOLL_TEST_HOOK", "T0-SECRET", 1);
  NotifySpec spec;
  spec.url_env = "PLIMSOLL_TEST_HOOK";
  const auto wrong = ReadWebhooks({spec});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(std::string(MessageOf(wrong.status())),
              AllOf(HasSubstr("PLIMSOLL_TEST_HOOK"), Not(HasSubstr("SECRET"))));
  ::unsetenv("PLIMSOLL_TEST_HOOK");
  EXPECT_THAT(std::string(MessageOf(ReadWebhooks({spec}).status())),
              HasSubstr("set PLIMSOLL_TEST_HOOK in the environment"));
  spec = {};
  spec.url_file = "/no/such/file";
  EXPECT_TRUE(absl::IsNotFound(ReadWebhooks({spec}).status()));
}

}  // namespace
}  // namespace plimsoll
