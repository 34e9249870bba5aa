// Preflight's calls over scripted sockets: what is sent, in which order, and one answer at the end.
#include "coordinator/run/preflight.h"

#include "common/json/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/scripted_transport.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

using testing::Contains;
using testing::Pair;

const std::vector<std::pair<std::string, std::string>> kSse = {
    {"content-type", "text/event-stream"}};

std::string Answer(int tokens_in, int tokens_out, const char* finish) {
  std::string body;
  for (int i = 0; i < tokens_out; ++i) {
    body += "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
  }
  return body + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"" + finish +
         "\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":" +
         std::to_string(tokens_in) + ",\"completion_tokens\":" + std::to_string(tokens_out) +
         "}}\n\ndata: [DONE]\n\n";
}

class PreflightCalls : public testing::Test {
 protected:
  PreflightCalls() {
    target_.url = "http://gateway/v1";
    target_.model = "glm";
    target_.headers = {{"x-team", "staging"}};
    target_.extra_body = R"("top_k":1)";
    target_.tools = true;
  }
  void Models(std::uint16_t status, const std::string& body) {
    http_.Add(ScriptedAnswer().Sent(1ms).Headers(5ms, status).Body(6ms, body).End(7ms));
  }
  void Call(int tokens_in, int tokens_out, const char* finish = "length") {
    ScriptedAnswer answer;
    answer.Sent(1ms).Headers(5ms, 200, kSse);
    const std::string body = Answer(tokens_in, tokens_out, finish);
    answer.Body(6ms, body.substr(0, body.size() / 2)).Body(8ms, body.substr(body.size() / 2));
    http_.Add(std::move(answer.End(9ms)));
  }
  PreflightReport Run() {
    HttpCallTransport calls(http_, scheduler_, target_, {"token"});
    std::optional<PreflightReport> report;
    Preflight preflight({.http = http_,
                         .calls = calls,
                         .scheduler = scheduler_,
                         .target = target_,
                         .secrets = {"token"}},
                        {.model = "glm"}, ProbePrompt(9, 3000, 20, true), 77,
                        [&](PreflightReport r) {
                          EXPECT_FALSE(report.has_value());
                          report = std::move(r);
                        });
    EXPECT_FALSE(report.has_value()) << "answers later";
    scheduler_.RunUntilIdle(scheduler_.Now() + 1h);
    EXPECT_TRUE(report.has_value());
    return report.value_or(absl::InternalError("no answer"));
  }

  SimScheduler scheduler_;
  ScriptedTransport http_{scheduler_};
  TargetPlan target_;
};

TEST_F(PreflightCalls, AreThoseOfTheRulesWithTheTargetsFields) {
  Models(200, R"({"object":"list","data":[{"id":"other"},{"id":"glm"}]})");
  Call(3091, 1);
  Call(147, 9, "stop");
  Call(219, 32);
  Call(2067, 1);
  Call(315, 1);
  const PreflightReport report = Run();
  ASSERT_TRUE(report.status.ok()) << report.status;
  ASSERT_EQ(http_.seen().size(), 6u);
  EXPECT_EQ(http_.seen()[0].request.method, "GET");
  EXPECT_EQ(http_.seen()[0].request.url, "http://gateway/v1/models");
  for (const auto& seen : http_.seen()) {
    EXPECT_THAT(seen.request.headers, Contains(Pair("Authorization", "Bearer token")));
    EXPECT_THAT(seen.request.headers, Contains(Pair("x-team", "staging")));
  }
  std::set<std::string> texts;
  for (std::size_t i = 1; i < 6; ++i) {
    const auto body = nlohmann::json::parse(http_.seen()[i].body);
    EXPECT_EQ(body["top_k"], 1);
    EXPECT_EQ(body["tools"].size(), 1u);
    EXPECT_EQ(body["messages"].front()["role"], "system");
    EXPECT_EQ(body["messages"].back()["role"], "user");
    EXPECT_EQ(body.contains("min_tokens"), i == 3) << i;
    EXPECT_EQ(body["max_tokens"], i == 2 || i == 3 ? 32 : 1) << i;
    texts.insert(body["messages"].front()["content"].get<std::string>().substr(0, 40));
  }
  EXPECT_EQ(texts.size(), 5u) << "no call finds another's text in a cache";
  ASSERT_TRUE(report.summary.fit.has_value());
  EXPECT_NEAR(report.summary.fit->per_message, 4, 0.01);
  EXPECT_NEAR(report.summary.fit->per_request, 11, 0.01);
  EXPECT_TRUE(report.summary.min_tokens);
}

TEST_F(PreflightCalls, ASilentModelListIsNotWaitedForLong) {
  http_.Add(ScriptedAnswer().Sent(1ms));
  target_.idle_timeout = 2s;
  const MonoTime start = scheduler_.Now();
  const PreflightReport report = Run();
  EXPECT_FALSE(report.status.ok());
  EXPECT_EQ(http_.seen().size(), 2u);
  EXPECT_EQ(http_.open(), 0u);
  EXPECT_GE(scheduler_.Now() - start, ModelList::kLimit);
}

TEST(ProbePrompts, HaveTheirWordsInTheirMessages) {
  for (const bool system : {false, true}) {
    for (const std::uint32_t messages : {1u, 2u, 3u, 12u}) {
      for (const std::uint32_t words : {0u, 1u, 64u, 1000u}) {
        const Prompt prompt = ProbePrompt(5, words, messages, system);
        EXPECT_EQ(prompt.tokens, std::max(words, messages));
        ASSERT_EQ(prompt.messages.size(), messages);
        EXPECT_EQ(prompt.messages.front().role == Role::kSystem, system);
        std::uint32_t at = 0;
        for (const MessageRange& m : prompt.messages) {
          EXPECT_EQ(m.first_token, at);
          EXPECT_GT(m.end_token, m.first_token);
          at = m.end_token;
        }
        EXPECT_EQ(at, prompt.tokens);
        if (messages > 1) {
          EXPECT_EQ(prompt.messages.back().role, Role::kUser);
        }
        EXPECT_GE(prompt.spans[0].count * limits::kBlockTokens, prompt.tokens);
      }
    }
  }
}

TEST(Models, AreReadFromWhateverCame) {
  const auto kind = [](const char* body) { return ParseModels(body).kind; };
  EXPECT_EQ(ParseModels(R"({"data":[{"id":"a"},{"x":1},7,{"id":null},{"id":"b"}]})").ids,
            (std::vector<std::string>{"a", "b"}));
  for (const char* body : {"", "<html>", "[]", "{}", R"({"data":{}})", R"({"data":[]})", "\xff",
                           R"({"data":[{"id":3}]})", R"({"data":[{"id":"a"})"}) {
    EXPECT_EQ(kind(body), ModelsAnswer::Kind::kNoList) << body;
  }
}

}  // namespace
}  // namespace plimsoll
