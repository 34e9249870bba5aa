#include "common/chat/http_call_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/chat/http_call_fixture.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST_F(HttpCallTest, AWholeStreamIsOkWithEveryStamp) {
  http_.Add(ScriptedAnswer()
                .Connecting(0ms)
                .Connecting(1ms)
                .Sent(1ms)
                .UploadDone(2ms)
                .Headers(10ms, 200, kSse)
                .Body(11ms, ": ping\n\n")
                .Body(12ms, kRole)
                .Body(20ms, Token("a"))
                .Body(30ms, Token("b") + Token("c"))
                .Body(40ms, Finish("length"))
                .Body(41ms, kUsage + kDone)
                .End(42ms));
  const CallResult& r = Run();
  EXPECT_EQ(r.outcome, Outcome::kOk) << r.message;
  EXPECT_EQ(Since(r.connecting), 0ms);  // The first address that was tried.
  EXPECT_EQ(Since(r.sent), 1ms);
  EXPECT_EQ(Since(r.upload_done), 2ms);
  EXPECT_EQ(Since(r.headers), 10ms);
  EXPECT_EQ(Since(r.first_chunk), 12ms);  // The role; a comment is no event.
  EXPECT_EQ(Since(r.first_token), 20ms);
  EXPECT_EQ(Since(r.last_token), 30ms);  // Neither the finish nor the usage moves it.
  EXPECT_EQ(Since(r.end), 42ms);
  EXPECT_EQ(r.chunks, 3u);
  EXPECT_EQ(r.tokens_in, 70u);
  EXPECT_EQ(r.tokens_cached, 64u);
  EXPECT_EQ(r.tokens_out, 3u);
  EXPECT_EQ(r.tokens_first_chunk, kAbsentTokens);
  EXPECT_EQ(r.http_status, 200);
  EXPECT_EQ(r.flags, kNewConnection | kCapReached);
  EXPECT_EQ(r.resends, 0);
  EXPECT_EQ(r.message, "");
  EXPECT_LT(r.retry_after, Duration{0});
}

TEST_F(HttpCallTest, TheRequestIsWhatThePlanSays) {
  target_.headers = {{"x-team", "staging"}};
  target_.affinity_play_header = "X-Session-ID";
  target_.affinity_parent_header = "X-Parent";
  target_.ca_file = "/ca.pem";
  target_.extra_body = "\"seed\":1";
  request_.min_tokens = request_.ignore_eos = true;
  target_.max_tokens = 2;
  options_ = {"secret"};
  request_.parent_play_id = 1;
  Stream(Token("a") + kDone);
  const HttpRequest& sent = http_.seen()[0].request;
  EXPECT_EQ(sent.method, "POST");
  EXPECT_EQ(sent.url, "http://gateway/v1/chat/completions");
  EXPECT_EQ(sent.ca_file, "/ca.pem");
  EXPECT_THAT(sent.headers, Contains(Pair("Content-Type", "application/json")));
  EXPECT_THAT(sent.headers, Contains(Pair("Authorization", "Bearer secret")));
  EXPECT_THAT(sent.headers, Contains(Pair("x-team", "staging")));
  EXPECT_THAT(sent.headers, Contains(Pair("X-Session-ID", "0000000000000abc")));
  EXPECT_THAT(sent.headers, Contains(Pair("X-Parent", "0000000000000001")));
  EXPECT_THAT(http_.seen()[0].body, HasSubstr(R"({"model":"glm","messages":[{"role":"system")"));
  EXPECT_THAT(http_.seen()[0].body,
              HasSubstr(R"("max_tokens":2,"min_tokens":2,"ignore_eos":true,"seed":1})"));

  request_.parent_play_id = 0;
  Stream(Token("a") + kDone);
  EXPECT_THAT(http_.seen()[1].request.headers, Not(Contains(Pair("X-Parent", testing::_))));
}

TEST_F(HttpCallTest, WithoutATokenThereIsNoAuthorization) {
  Stream(Token("a") + kDone);
  EXPECT_THAT(http_.seen()[0].request.headers, Not(Contains(Pair("Authorization", testing::_))));
  EXPECT_THAT(http_.seen()[0].body, Not(HasSubstr("min_tokens")));
}

TEST_F(HttpCallTest, AResendsConnectionIsNotThatOfTheFirstSend) {
  http_.Add(ScriptedAnswer().Sent(1ms).End(2ms, TransferResult::kConnectError, false));
  http_.Add(ScriptedAnswer()
                .Connecting(0ms)
                .Sent(3ms)
                .Headers(4ms, 200, kSse)
                .Body(5ms, Token("a") + kDone)
                .End(6ms));
  const CallResult& r = Run();
  EXPECT_EQ(r.resends, 1);
  EXPECT_EQ(Since(r.sent), 1ms);
  EXPECT_EQ(r.connecting, CallResult::kNever) << "sent - connecting would be less than nothing";
  EXPECT_EQ(r.flags & kNewConnection, kNewConnection);
}

TEST_F(HttpCallTest, ADeadKeptConnectionIsTriedOnceMoreAndCounted) {
  http_.Add(
      ScriptedAnswer().Sent(1ms).UploadDone(1ms).End(2ms, TransferResult::kConnectError, false));
  http_.Add(ScriptedAnswer()
                .Sent(1ms)
                .UploadDone(2ms)
                .Headers(3ms, 200, kSse)
                .Body(4ms, Token("a") + kDone)
                .End(5ms));
  const CallResult& r = Run();
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_EQ(r.resends, 1);
  EXPECT_EQ(Since(r.sent), 1ms);  // The first one: the delay is the caller's to see.
  EXPECT_EQ(Since(r.upload_done), 4ms);
  EXPECT_EQ(Since(r.first_token), 6ms);
  ASSERT_EQ(http_.seen().size(), 2u);
  EXPECT_EQ(http_.seen()[0].body, http_.seen()[1].body);
  EXPECT_EQ(r.flags & kNewConnection, kNewConnection);

  http_.Add(ScriptedAnswer().End(2ms, TransferResult::kConnectError, false));
  http_.Add(ScriptedAnswer().End(2ms, TransferResult::kConnectError, false));
  EXPECT_EQ(Run().outcome, Outcome::kConnectError);  // Once only.
  EXPECT_EQ(http_.seen().size(), 4u);
}

TEST_F(HttpCallTest, TheDeadlineRunsFromTheRelease) {
  target_.call_deadline = 5s;
  target_.idle_timeout = 2s;
  ScriptedAnswer answer;
  answer.Sent(1ms).Headers(2ms, 200, kSse);
  for (int i = 1; i < 20; ++i) answer.Body(i * 1s, Token("a"));
  http_.Add(answer);
  request_.released = scheduler_.Now() - 1s;
  const CallResult& r = Run();
  EXPECT_EQ(r.outcome, Outcome::kDeadline);
  EXPECT_EQ(Since(r.end), 4s);
  EXPECT_EQ(r.chunks, 3u);  // Progress is kept; at the same instant the deadline comes first.
}

TEST_F(HttpCallTest, ADeadlineThatPassedEndsInTheNextTurn) {
  request_.released = scheduler_.Now() - 2h;
  StartCall();
  scheduler_.RunUntil(scheduler_.Now());
  EXPECT_EQ(result_.value().outcome, Outcome::kDeadline);
}

TEST_F(HttpCallTest, SilenceEndsACall) {
  target_.idle_timeout = 10s;
  http_.Add(ScriptedAnswer().Sent(1s));
  EXPECT_EQ(Run().outcome, Outcome::kIdleTimeout);
  EXPECT_EQ(Since(result_->end), 11s);
  start_ = request_.released = scheduler_.Now();
  http_.Add(ScriptedAnswer().Sent(1s).Headers(9s, 200, kSse).Body(18s, ": ping\n\n"));
  EXPECT_EQ(Run().outcome, Outcome::kIdleTimeout);
  EXPECT_EQ(Since(result_->end), 28s);
}

TEST_F(HttpCallTest, SilenceAfterAWholeAnswerIsNoFailure) {
  http_.Add(ScriptedAnswer().Headers(1s, 200, kSse).Body(2s, Token("a") + kDone));
  EXPECT_EQ(Run().outcome, Outcome::kOk);
  request_.released = scheduler_.Now();
  http_.Add(ScriptedAnswer().Headers(1s, 429, kJson).Body(2s, "{"));
  EXPECT_EQ(Run().outcome, Outcome::kRefused);
}

TEST_F(HttpCallTest, DestroyingACallHangsUpSilently) {
  http_.Add(ScriptedAnswer().Headers(1s, 200, kSse).Body(2s, Token("a") + kDone).End(3s));
  StartCall();
  scheduler_.Advance(1500ms);
  call_.reset();
  EXPECT_EQ(http_.open(), 0u);
  EXPECT_EQ(transport_->active(), 0u);
  scheduler_.Advance(1h);
  EXPECT_FALSE(result_.has_value());
}

TEST_F(HttpCallTest, UsageWithEveryChunkTellsTheFirstChunksTokens) {
  const CallResult& r = Stream(
      Data(
          R"({"choices":[{"delta":{"content":"abc"}}],"usage":{"completion_tokens":4,"prompt_tokens":9}})") +
      Data(
          R"({"choices":[{"delta":{"content":"d"},"finish_reason":"stop"}],"usage":{"completion_tokens":5}})") +
      kDone);
  EXPECT_EQ(r.tokens_first_chunk, 4u);
  EXPECT_EQ(r.tokens_out, 5u);
  EXPECT_EQ(r.tokens_in, 9u);
  EXPECT_EQ(r.chunks, 2u);
}

TEST_F(HttpCallTest, ToolCallsAreTokensAndFlagged) {
  const CallResult& r = Stream(
      kRole +
      Data(R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]})") +
      Finish("tool_calls") + kDone);
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_EQ(r.chunks, 1u);
  EXPECT_TRUE(r.flags & kToolCallPresent);
  EXPECT_FALSE(r.flags & kCapReached);
}

TEST_F(HttpCallTest, HandsBackTheContentThatAClientWouldSendAgainAndNothingElse) {
  request_.content_bytes_max = 100;
  const auto delta = [](const std::string& fields) {
    return Data(R"({"choices":[{"index":0,"delta":{)" + fields + "}}]}");
  };
  const std::string body =
      kRole + delta(R"("reasoning_content":"let me think")") + delta(R"("content":"a \"b\"\n")") +
      Data(R"({"choices":[{"delta":{"content":"second choice"},"index":1}]})") +
      delta(R"("content":"\u00e9\ud83d\ude00")") + delta(R"("refusal":"no")") +
      delta(R"("tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}])") +
      Finish("stop") + kUsage + kDone;
  const CallResult& result = Stream(body);
  EXPECT_EQ(result.outcome, Outcome::kOk);
  EXPECT_EQ(result.content, "a \"b\"\n\u00e9\U0001F600");
  EXPECT_FALSE(result.content_too_long);
  // 3 tokens in 6 chunks of which 2 are content; the server does not count its reasoning.
  EXPECT_EQ(result.content_tokens, 1u);
}

TEST_F(HttpCallTest, ReasoningThatTheServerCountsIsNotOfTheContent) {
  request_.content_bytes_max = 100;
  const std::string usage = Data(
      R"({"choices":[],"usage":{"prompt_tokens":70,"completion_tokens":30,"completion_tokens_details":{"reasoning_tokens":22}}})");
  EXPECT_EQ(Stream(Token("x") + Finish("stop") + usage + kDone).content_tokens, 8u);
  // Nothing was said of tokens: nothing is known.
  EXPECT_EQ(Stream(Token("x") + Finish("stop") + kDone).content_tokens, kAbsentTokens);
}

TEST_F(HttpCallTest, ContentThatIsTooLongOrNotWantedIsNotKept) {
  request_.content_bytes_max = 5;
  EXPECT_EQ(Stream(Token("abc") + Token("de") + Finish("stop") + kDone).content, "abcde");
  const CallResult& longer =
      Stream(Token("abc") + Token("def") + Token("g") + Finish("stop") + kDone);
  EXPECT_EQ(longer.content, "");
  EXPECT_TRUE(longer.content_too_long);
  EXPECT_EQ(longer.chunks, 3u) << "the measurement goes on";
  request_.content_bytes_max = 0;
  const CallResult& none = Stream(Token("abc") + Finish("stop") + kDone);
  EXPECT_EQ(none.content, "");
  EXPECT_FALSE(none.content_too_long);
  // The next call of a reused reader keeps nothing of the last one.
  request_.content_bytes_max = 100;
  EXPECT_EQ(Stream(Token("xy") + Finish("stop") + kDone).content, "xy");
  http_.Add(
      ScriptedAnswer()
          .Sent(1ms)
          .Headers(5ms, 200, kJson)
          .Body(6ms, R"({"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]})")
          .End(7ms));
  EXPECT_EQ(Run().content, "whole");
}

}  // namespace
}  // namespace plimsoll
