#include "common/chat/http_call_transport.h"

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "tests/fakes/scripted_transport.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

using Headers = std::vector<std::pair<std::string, std::string>>;
const Headers kSse = {{"content-type", "text/event-stream; charset=utf-8"}};
const Headers kJson = {{"content-type", "Application/JSON"}};

std::string Data(const std::string& payload) {
  return "data: " + payload + "\n\n";
}
std::string Token(const std::string& text) {
  return Data(R"({"choices":[{"index":0,"delta":{"content":")" + text + R"("}}]})");
}
std::string Finish(const std::string& reason) {
  return Data(R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + reason + R"("}]})");
}
const std::string kRole = Data(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})");
const std::string kUsage = Data(
    R"({"choices":[],"usage":{"prompt_tokens":70,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":64}}})");
const std::string kDone = Data("[DONE]");

class HttpCallTest : public testing::Test, public CallObserver {
 protected:
  HttpCallTest() {
    prompt_.tokens = 70;
    prompt_.spans = {{9, 0, 2}};
    prompt_.messages = {{Role::kSystem, 0, 10}, {Role::kUser, 10, 70}};
    target_.url = "http://gateway/v1";
    target_.model = "glm";
    request_.prompt = &prompt_;
    request_.max_tokens = 3;
    request_.play_id = 0xabc;
    request_.released = scheduler_.Now();
  }
  void OnCallEnded(const CallResult& result) override {
    EXPECT_FALSE(result_.has_value()) << "ended twice";
    result_ = result;
    call_.reset();  // Allowed, and what the replay does.
  }
  void StartCall() {
    if (transport_ == nullptr) {
      transport_ = std::make_unique<HttpCallTransport>(http_, scheduler_, target_, options_);
    }
    result_.reset();
    call_ = transport_->Start(request_, *this);
    EXPECT_FALSE(result_.has_value());
  }
  const CallResult& Run() {
    StartCall();
    scheduler_.RunUntilIdle(scheduler_.Now() + 1h);
    EXPECT_TRUE(result_.has_value());
    if (!result_) result_ = CallResult{};
    EXPECT_EQ(http_.open(), 0u);
    EXPECT_EQ(transport_->active(), 0u);
    return *result_;
  }
  // A 200 with an event stream: one read, then the end.
  const CallResult& Stream(const std::string& body, TransferResult end = TransferResult::kOk) {
    http_.Add(ScriptedAnswer()
                  .Sent(1ms)
                  .UploadDone(2ms)
                  .Headers(5ms, 200, kSse)
                  .Body(6ms, body)
                  .End(9ms, end));
    return Run();
  }
  const CallResult& Status(std::uint16_t status, const std::string& body,
                           const Headers& headers = kJson) {
    http_.Add(ScriptedAnswer().Sent(1ms).Headers(5ms, status, headers).Body(6ms, body).End(7ms));
    return Run();
  }
  Duration Since(MonoTime t) const { return t - start_; }

  SimScheduler scheduler_;
  ScriptedTransport http_{scheduler_};
  MonoTime start_ = scheduler_.Now();
  Prompt prompt_;
  TargetPlan target_;
  HttpCallOptions options_;
  CallRequest request_;
  std::unique_ptr<HttpCallTransport> transport_;
  std::unique_ptr<CallTransport::Call> call_;
  std::optional<CallResult> result_;
};

TEST_F(HttpCallTest, AWholeStreamIsOkWithEveryStamp) {
  http_.Add(ScriptedAnswer()
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
  target_.min_tokens_accepted = true;
  target_.max_tokens = 2;
  options_ = {"secret", "\"seed\":1"};
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
  EXPECT_EQ(result_->message, "status 500: boom at line 3");
  EXPECT_EQ(Status(302, "").outcome, Outcome::kHttpError);
  EXPECT_EQ(Status(404, std::string(100'000, 'x')).outcome, Outcome::kHttpError);
  EXPECT_LT(result_->message.size(), 250u);
  const CallResult& html = Status(200, "<html>", {{"content-type", "text/html"}});
  EXPECT_EQ(html.outcome, Outcome::kHttpError);
  EXPECT_EQ(html.message, "status 200 with text/html");
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
  EXPECT_EQ(end(TransferResult::kProtocol, true), Outcome::kTruncated);
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

// Answers of real servers, however their bytes are split.
TEST_F(HttpCallTest, RecordedAnswers) {
  struct Want {
    Outcome outcome;
    std::uint32_t chunks;
    std::uint32_t tokens_in;
    std::uint32_t tokens_out;
  };
  constexpr std::uint32_t kNone = kAbsentTokens;
  const std::map<std::string, Want> cases = {
      {"llama_server_chat_stream", {Outcome::kOk, 8, 30, 8}},
      {"aimock_chat_stream", {Outcome::kOk, 16, 3, 32}},
      {"mock_llm_stream", {Outcome::kOk, 1, kNone, kNone}},
      {"llama_server_v1_completions_stream", {Outcome::kOk, 5, 2, 5}},
      {"aimock_429", {Outcome::kRefused, 0, kNone, kNone}},
      {"haproxy_429", {Outcome::kRefused, 0, kNone, kNone}},
      {"llama_server_err_ctx", {Outcome::kContextOverflow, 0, kNone, kNone}},
      {"llama_server_err_badjson", {Outcome::kHttpError, 0, kNone, kNone}},
  };
  for (const auto& [name, want] : cases) {
    std::stringstream raw;
    raw << std::ifstream(PLIMSOLL_SOURCE_DIR "/tests/data/streams/" + name + ".raw").rdbuf();
    const std::size_t split = raw.str().find("\r\n\r\n");
    ASSERT_NE(split, std::string::npos) << name;
    std::istringstream head(raw.str().substr(0, split + 2));
    const std::string body = raw.str().substr(split + 4);
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
