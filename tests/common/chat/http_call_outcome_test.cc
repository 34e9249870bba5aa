// Every way in which a call can end, by what the server sends.
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "tests/common/chat/http_call_fixture.h"
#include "tests/common/chat/recorded_answers.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

TEST_F(HttpCallTest, EndsOfStreams) {
  const auto outcome = [&](const std::string& body, TransferResult end = TransferResult::kOk) {
    return Stream(body, end).outcome;
  };
  EXPECT_EQ(outcome(Token("a") + Finish("stop")), Outcome::kOk);  // Either sign of the end is one.
  EXPECT_EQ(outcome(Token("a") + kDone), Outcome::kOk);
  EXPECT_EQ(outcome(Token("a") + "data: [DONE]"), Outcome::kOk);
  EXPECT_EQ(outcome(Token("a") + kDone, TransferResult::kBroken), Outcome::kOk);
  EXPECT_EQ(outcome(kRole + Finish("stop") + kDone), Outcome::kOk);  // A stop reason, no token.
  EXPECT_EQ(outcome(Token("a")), Outcome::kTruncated);
  EXPECT_EQ(outcome(Token("a") + "data: {\"choi"), Outcome::kTruncated);
  EXPECT_EQ(outcome(Token("a") + Finish("stop"), TransferResult::kBroken), Outcome::kTruncated);
  EXPECT_EQ(outcome(Token("a"), TransferResult::kBroken), Outcome::kTruncated);
  EXPECT_EQ(outcome(""), Outcome::kTruncated);
  EXPECT_EQ(outcome("<html>busy</html>"), Outcome::kTruncated);
  EXPECT_EQ(outcome(kDone), Outcome::kEmpty);
  EXPECT_EQ(outcome(kRole + kUsage + kDone), Outcome::kEmpty);
}

TEST_F(HttpCallTest, ACallWithoutATokenHasNoTtft) {
  const CallResult& r = Stream(kRole + Finish("stop") + kDone);
  EXPECT_EQ(r.first_token, CallResult::kNever);
  EXPECT_EQ(r.last_token, CallResult::kNever);
  EXPECT_EQ(r.chunks, 0u);
  EXPECT_EQ(Since(r.first_chunk), 6ms);
}

TEST_F(HttpCallTest, ErrorsAfterThe200) {
  const std::vector<std::string> bodies = {
      Token("a") + Data(R"({"error":{"message":"engine died","code":500}})") + kDone,
      Data(R"({"error":"engine died"})"),
      Token("a") + "event: error\ndata: engine died\n\n" + kDone,
      "event: error\ndata: {\"message\":\"engine died\"}\n\n",
      Token("a") + Data("engine died") + Finish("stop"),
  };
  for (const std::string& body : bodies) {
    const CallResult& r = Stream(body);
    EXPECT_EQ(r.outcome, Outcome::kStreamError) << body;
    EXPECT_THAT(r.message, HasSubstr("engine died")) << body;
    EXPECT_EQ(r.end, r.headers + 1ms);  // At once: the rest is not waited for.
  }
  EXPECT_EQ(Stream(bodies[0]).chunks, 1u);  // What had come is kept.
}

TEST_F(HttpCallTest, RefusalsCarryTheirRetryAfter) {
  const CallResult& r = Status(429, R"({"error":{"message":"slow down"}})",
                               {{"content-type", "application/json"}, {"retry-after", "3"}});
  EXPECT_EQ(r.outcome, Outcome::kRefused);
  EXPECT_EQ(r.retry_after, 3s);
  EXPECT_EQ(r.http_status, 429);
  EXPECT_EQ(r.message, "status 429: slow down");
  EXPECT_EQ(Status(503, "busy", {{"retry-after-ms", "250"}, {"retry-after", "1"}}).retry_after,
            250ms);
  EXPECT_EQ(Status(503, "").outcome, Outcome::kRefused);
  EXPECT_EQ(ParseRetryAfter("1.5", ""), 1s);
  EXPECT_EQ(ParseRetryAfter("0", ""), 0s);
  constexpr const char* kNow = "Sun, 06 Nov 1994 08:49:37 GMT";
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:50:07 GMT", "", kNow), 30s);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:00:00 GMT", "", kNow), 0s);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1999 08:00:00 GMT", "", kNow), 24h);
  EXPECT_LT(ParseRetryAfter("Sun, 06 Nov 1994 08:50:07 GMT", "", "now"), Duration{0});
  EXPECT_EQ(ParseRetryAfter("7", "", kNow), 7s);
  EXPECT_EQ(ParseRetryAfter("99999999999999999999999", ""), 24h);
  EXPECT_EQ(ParseRetryAfter("18446744073709551615", ""), 24h);
  for (const char* none : {"", "Wed, 21 Oct 2026 07:28:00 GMT", "-1", "soon", "3 s"}) {
    EXPECT_LT(ParseRetryAfter(none, ""), Duration{0}) << none;
  }
}

TEST_F(HttpCallTest, ContextOverflowIsTold) {
  const auto outcome = [&](std::uint16_t status, const std::string& body) {
    return Status(status, body).outcome;
  };
  EXPECT_EQ(outcome(400, R"({"error":{"code":"context_length_exceeded","message":"x"}})"),
            Outcome::kContextOverflow);
  EXPECT_EQ(
      outcome(400, R"({"error":{"code":400,"message":"x","type":"exceed_context_size_error"}})"),
      Outcome::kContextOverflow);
  EXPECT_EQ(
      outcome(400, R"({"object":"error","message":"This model's maximum context length is 8192"})"),
      Outcome::kContextOverflow);
  EXPECT_EQ(outcome(413, "prompt exceeds the Context Window"), Outcome::kContextOverflow);
  EXPECT_EQ(outcome(422, R"({"error":"longer than the model's context length"})"),
            Outcome::kContextOverflow);
  EXPECT_EQ(outcome(400, R"({"error":{"message":"unknown field"}})"), Outcome::kHttpError);
  EXPECT_EQ(outcome(500, R"({"error":{"message":"context length"}})"), Outcome::kHttpError);
}

TEST_F(HttpCallTest, OtherStatusesAndBodies) {
  EXPECT_EQ(Status(500, "boom\nat line 3").outcome, Outcome::kHttpError);
  EXPECT_EQ(result_->message, R"(status 500: boom\nat line 3)");
  EXPECT_EQ(Status(302, "").outcome, Outcome::kHttpError);
  EXPECT_EQ(Status(404, std::string(100'000, 'x')).outcome, Outcome::kHttpError);
  EXPECT_LT(result_->message.size(), 250u);
  const CallResult& html = Status(200, "<html>", {{"content-type", "text/html"}});
  EXPECT_EQ(html.outcome, Outcome::kHttpError);
  EXPECT_EQ(html.message, "status 200 with text/html; it began: <html>");
  EXPECT_EQ(Status(200, Token("a") + kDone, {}).outcome,
            Outcome::kOk);  // No type: taken as events.
}

TEST_F(HttpCallTest, AnAnswerThatWasNotStreamed) {
  http_.Add(
      ScriptedAnswer()
          .Sent(1ms)
          .Headers(5ms, 200, kJson)
          .Body(6ms, R"({"choices":[{"message":{"role":"assistant","content":"hi"},)")
          .Body(8ms,
                R"("finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":12}})")
          .End(9ms));
  const CallResult& r = Run();
  EXPECT_EQ(r.outcome, Outcome::kOk) << r.message;
  EXPECT_EQ(r.chunks, 1u);
  EXPECT_EQ(r.tokens_out, 12u);
  EXPECT_EQ(r.first_token, r.last_token);
  EXPECT_EQ(Since(r.first_token), 8ms);  // When its last bytes came, not when it ended.
  EXPECT_EQ(Status(200, "{\"choices\":[{").outcome, Outcome::kStreamError);
  EXPECT_EQ(Status(200, R"({"error":{"message":"no"}})").outcome, Outcome::kStreamError);
  EXPECT_EQ(Status(200, R"({"choices":[{"message":{"content":""}}]})").outcome, Outcome::kEmpty);
  EXPECT_EQ(Status(200, R"({"detail":"no such model"})").outcome, Outcome::kStreamError);
  EXPECT_THAT(result_->message, HasSubstr("no such model"));
}

TEST_F(HttpCallTest, TransportErrors) {
  const auto end = [&](TransferResult result, bool headers) {
    ScriptedAnswer answer;
    answer.Sent(1ms);
    if (headers) answer.Headers(2ms, 200, kSse).Body(3ms, Token("a"));
    http_.Add(answer.End(4ms, result));
    return Run().outcome;
  };
  EXPECT_EQ(end(TransferResult::kConnectError, false), Outcome::kConnectError);
  EXPECT_EQ(result_->message, "as scripted");
  EXPECT_EQ(end(TransferResult::kBroken, false), Outcome::kConnectError);
  EXPECT_EQ(end(TransferResult::kProtocol, false), Outcome::kHttpError);
  EXPECT_EQ(end(TransferResult::kClientError, false), Outcome::kClientError);
  EXPECT_EQ(end(TransferResult::kClientError, true), Outcome::kClientError);
  EXPECT_EQ(end(TransferResult::kBroken, true), Outcome::kTruncated);
  EXPECT_EQ(end(TransferResult::kProtocol, true), Outcome::kStreamError);
}

// Answers of real servers, however their bytes are split.
TEST_F(HttpCallTest, RecordedAnswers) {
  for (const RecordedAnswer& want : RecordedAnswers()) {
    const std::string& name = want.name;
    const std::string& body = want.body;
    std::istringstream head(want.head.substr(0, want.head.size() - 2));
    std::string line;
    std::getline(head, line);
    const auto status = static_cast<std::uint16_t>(std::stoi(line.substr(9)));
    Headers headers;
    while (std::getline(head, line)) {
      const std::size_t colon = line.find(": ");
      std::string key = line.substr(0, colon);
      for (char& c : key) c = static_cast<char>(std::tolower(c));
      headers.emplace_back(key, line.substr(colon + 2, line.size() - colon - 3));
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Rng rng(seed);
      ScriptedAnswer answer;
      answer.Sent(0ms).Headers(1ms, status, headers);
      Duration at = 2ms;
      for (std::size_t i = 0; i < body.size(); at += 1us) {
        const std::size_t n = 1 + rng.Below(seed == 0 ? 1 : 700);
        answer.Body(at, body.substr(i, n));
        i += n;
      }
      http_.Add(answer.End(at));
      request_.released = scheduler_.Now();
      const CallResult& r = Run();
      EXPECT_EQ(r.outcome, want.outcome) << name << " seed " << seed << ": " << r.message;
      EXPECT_EQ(r.chunks, want.chunks) << name << " seed " << seed;
      EXPECT_EQ(r.tokens_in, want.tokens_in) << name;
      EXPECT_EQ(r.tokens_out, want.tokens_out) << name;
      EXPECT_EQ(r.retry_after, want.outcome == Outcome::kRefused ? Duration{1s} : Duration{-1});
    }
  }
}

}  // namespace
}  // namespace plimsoll
