// The gateway over real sockets: the stream's shape to the letter, usage, limits, faults,
// metrics, hang-ups.
#include "tests/gateway/server/gateway_fixture.h"

namespace plimsoll {
namespace {

TEST_F(GatewayTest, StreamHasTheRealShape) {
  Start(Quick());
  const auto answer = Ask(Body("one two three", kStream));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.headers.at("content-type"), StartsWith("text/event-stream"));
  EXPECT_TRUE(answer.whole);
  const std::vector<std::string> events = EventsOf(answer.body);
  ASSERT_EQ(events.size(), 7u) << answer.body;
  const std::string head =
      "data: \\{\"id\":\"chatcmpl-[0-9a-f]+\",\"object\":\"chat.completion.chunk\","
      "\"created\":[0-9]+,\"model\":\"m\",\"choices\":\\[";
  const std::string choice = head + "\\{\"index\":0,\"delta\":";
  EXPECT_THAT(events[0],
              MatchesRegex(choice + "\\{\"role\":\"assistant\",\"content\":\"\"\\},"
                                    "\"logprobs\":null,\"finish_reason\":null\\}\\]\\}"));
  for (int i = 1; i <= 3; ++i) {
    EXPECT_THAT(
        events[static_cast<std::size_t>(i)],
        MatchesRegex(choice + "\\{\"content\":\" ?[a-z]+\"\\},\"logprobs\":null,"
                              "\"finish_reason\":null\\}\\],\"plimsoll_sent_ns\":[0-9]+\\}"));
  }
  EXPECT_THAT(
      events[4],
      MatchesRegex(choice + "\\{\\},\"logprobs\":null,\"finish_reason\":\"length\"\\}\\]\\}"));
  EXPECT_THAT(events[5],
              MatchesRegex(head + "\\],\"usage\":\\{\"prompt_tokens\":3,\"total_tokens\":6,"
                                  "\"completion_tokens\":3,\"prompt_tokens_details\":"
                                  "\\{\"cached_tokens\":0\\}\\}\\}"));
  EXPECT_EQ(events[6], "data: [DONE]");
}

TEST_F(GatewayTest, NoUsageUnlessAsked) {
  Start(Quick());
  const auto answer = Ask(Body("one", R"("stream":true,"max_tokens":1,)"));
  EXPECT_THAT(answer.body, Not(HasSubstr("usage")));
  EXPECT_EQ(EventsOf(answer.body).size(), 4u);
}

TEST_F(GatewayTest, WholeAnswerWithoutStreaming) {
  Start(Quick());
  const auto answer = Ask(Body("one two", R"("max_tokens":4,"ignore_eos":true,)"));
  EXPECT_EQ(answer.headers.at("content-type"), "application/json");
  EXPECT_THAT(answer.body, HasSubstr(R"("object":"chat.completion")"));
  EXPECT_THAT(answer.body, HasSubstr(R"("content":"the ship sits low")"));
  EXPECT_THAT(answer.body, HasSubstr(R"("finish_reason":"length")"));
  EXPECT_THAT(answer.body, HasSubstr(R"("completion_tokens":4)"));
}

TEST_F(GatewayTest, LengthIsNaturalUnlessForced) {
  GatewayConfig config = Quick();
  config.output_natural = 5;
  Start(config);
  const auto tokens = [&](std::string_view more) { return Ask(Body("one", more)).body; };
  EXPECT_THAT(tokens(""), HasSubstr(R"("completion_tokens":5)"));
  EXPECT_THAT(tokens(R"("max_tokens":9,)"), HasSubstr(R"("completion_tokens":5)"));
  EXPECT_THAT(tokens(R"("max_tokens":9,)"), HasSubstr(R"("finish_reason":"stop")"));
  EXPECT_THAT(tokens(R"("max_tokens":2,)"), HasSubstr(R"("completion_tokens":2)"));
  EXPECT_THAT(tokens(R"("max_tokens":9,"min_tokens":9,)"), HasSubstr(R"("completion_tokens":9)"));
  EXPECT_THAT(tokens(R"("max_tokens":9,"ignore_eos":true,)"),
              HasSubstr(R"("completion_tokens":9)"));
}

TEST_F(GatewayTest, SecondCallFindsItsPrefixCached) {
  Start(Quick());
  Ask(Body(Words(1000), R"("max_tokens":1,)"), "X-Session-ID: s\r\n");
  const auto again = Ask(Body(Words(1010), R"("max_tokens":1,)"), "X-Session-ID: s\r\n");
  EXPECT_THAT(again.body, HasSubstr(R"("prompt_tokens":1010)"));
  EXPECT_THAT(again.body, HasSubstr(R"("cached_tokens":960)"));
}

TEST_F(GatewayTest, TokensFollowTheEnginesPace) {
  GatewayConfig config = Quick();
  config.engine.decode_tokens_per_s = 50;
  Start(config);
  const std::int64_t asked = clock_.MonoNow().time_since_epoch().count();
  const auto answer = Ask(Body("one", R"("stream":true,"max_tokens":11,"ignore_eos":true,)"));
  std::vector<std::int64_t> stamps;
  const std::string key = "\"plimsoll_sent_ns\":";
  for (std::size_t at = 0; (at = answer.body.find(key, at)) != std::string::npos; ++at) {
    stamps.push_back(std::stoll(answer.body.substr(at + key.size())));
  }
  ASSERT_EQ(stamps.size(), 11u);
  // 10 gaps of 20 ms by the engine; a busy machine can only be late, with the first one too.
  EXPECT_GE(stamps.back() - asked, 200'000'000);
  for (std::size_t i = 1; i < stamps.size(); ++i) EXPECT_GE(stamps[i], stamps[i - 1]);
  EXPECT_GE(answer.chunks, 11);
}

TEST_F(GatewayTest, ErrorsHaveOpenAisShape) {
  GatewayConfig config = Quick();
  config.context_limit = 100;
  Start(config);
  const auto unknown = Ask(R"({"model":"other","messages":[{"role":"user","content":"x"}]})");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(unknown.body, HasSubstr(R"("code":"model_not_found")"));
  const auto broken = Ask("{");
  EXPECT_EQ(broken.status, 400);
  EXPECT_THAT(broken.body, StartsWith(R"({"error":{"message":"the body is not JSON)"));
  EXPECT_THAT(broken.body, HasSubstr(R"("type":"invalid_request_error")"));
  const auto longer = Ask(Body(Words(90), R"("max_tokens":11,)"));
  EXPECT_EQ(longer.status, 400);
  EXPECT_THAT(longer.body, HasSubstr(R"("code":"context_length_exceeded")"));
  EXPECT_EQ(Ask(Body(Words(90), R"("max_tokens":10,)")).status, 200);
  EXPECT_EQ(Ask(Body(Words(100))).status, 400);
  EXPECT_EQ(Get("/nowhere").status, 404);
  EXPECT_EQ(Get("/v1/chat/completions").status, 405);
}

TEST_F(GatewayTest, RefusesWhatTheCacheCannotHold) {
  GatewayConfig config = Quick();
  config.engine.kv_blocks = 10;
  Start(config);
  const auto answer = Ask(Body(Words(640), R"("max_tokens":1,)"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("maximum context length is 640 tokens"));
}

TEST_F(GatewayTest, ListsItsModelAndItsHealth) {
  Start(Quick());
  EXPECT_THAT(Get("/v1/models").body, HasSubstr(R"("id":"m","object":"model")"));
  EXPECT_EQ(Get("/health").status, 200);
}

TEST_F(GatewayTest, MetricsAreVllms) {
  Start(Quick());
  Ask(Body(Words(200), R"("max_tokens":3,)"));
  Ask(Body(Words(200), kStream));
  const std::string page = Get("/metrics").body;
  const std::string labels = R"({engine="0",model_name="m"})";
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"num_requests_running", "0.0"},
           {"num_requests_waiting", "0.0"},
           {"kv_cache_usage_perc", "0.0"},
           {"prefix_cache_queries_total", "400.0"},
           {"prefix_cache_hits_total", "192.0"},
           {"num_preemptions_total", "0.0"},
           {"prompt_tokens_total", "400.0"},
           {"generation_tokens_total", "6.0"},
           {"time_to_first_token_seconds_count", "2.0"},
           {"inter_token_latency_seconds_count", "4.0"},
           {"e2e_request_latency_seconds_count", "2.0"}}) {
    EXPECT_THAT(page, HasSubstr(fmt::format("\nvllm:{}{} {}\n", name, labels, value))) << name;
  }
  EXPECT_THAT(page, HasSubstr("vllm:request_success_total"
                              R"({engine="0",finished_reason="length",model_name="m"} 2.0)"));
  EXPECT_THAT(page, HasSubstr(R"(seconds_bucket{engine="0",le="+Inf",model_name="m"} 2.0)"));
  EXPECT_THAT(page,
              HasSubstr(R"(first_token_seconds_bucket{engine="0",le="2560.0",model_name="m"})"));
  EXPECT_THAT(page, HasSubstr("# TYPE vllm:time_to_first_token_seconds histogram\n"));
  EXPECT_THAT(page, HasSubstr("\nprocess_start_time_seconds 1"));
}

TEST_F(GatewayTest, HangUpCancelsInTheEngine) {
  GatewayConfig config = Quick();
  config.engine.decode_tokens_per_s = 10;
  Start(config);
  RawClient client(port_);
  client.Request("POST", "/v1/chat/completions", "",
                 Body("one", R"("stream":true,"max_tokens":100000,"ignore_eos":true,)"));
  ASSERT_TRUE(client.ReadUntil("plimsoll_sent_ns"));
  EXPECT_TRUE(EngineGetsTo([](const EngineGauges& g) { return g.running == 1; }));
  client.Close();
  EXPECT_TRUE(
      EngineGetsTo([](const EngineGauges& g) { return g.running == 0 && g.cancelled == 1; }));
}

TEST_F(GatewayTest, HangUpOfAWaitingWholeAnswerCancelsToo) {
  GatewayConfig config = Quick();
  config.engine.prefill_base_s = 1000;
  Start(config);
  RawClient client(port_);
  client.Request("POST", "/v1/chat/completions", "", Body("one"));
  EXPECT_TRUE(EngineGetsTo([](const EngineGauges& g) { return g.running == 1; }));
  client.Close();
  EXPECT_TRUE(EngineGetsTo([](const EngineGauges& g) { return g.cancelled == 1; }));
}

TEST_F(GatewayTest, RefusalSaysWhenToComeAgain) {
  GatewayConfig config = Quick();
  config.faults = {{.kind = FaultKind::kRefuse, .status = 429, .retry_after = 1500ms}};
  Start(config);
  const auto answer = Ask(Body("one"));
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.headers.at("retry-after"), "2");
  EXPECT_THAT(answer.body, HasSubstr("rate_limit_exceeded"));
  EXPECT_EQ(Get("/v1/models").status, 200);
}

TEST_F(GatewayTest, ErrorComesInAStreamThatBeganWell) {
  GatewayConfig config = Quick();
  config.faults = {{.kind = FaultKind::kErrorAfter200, .after_tokens = 2}};
  Start(config);
  const auto answer = Ask(Body("one", kStream));
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.whole);
  const std::vector<std::string> events = EventsOf(answer.body);
  ASSERT_EQ(events.size(), 4u) << answer.body;
  EXPECT_THAT(events[3], StartsWith(R"(data: {"error":{"message":)"));
  EXPECT_THAT(Ask(Body("one", R"("max_tokens":3,)")).body, StartsWith(R"({"error":)"));
  EXPECT_TRUE(EngineGetsTo([](const EngineGauges& g) { return g.running == 0; }));
}

TEST_F(GatewayTest, TruncatedStreamJustEnds) {
  GatewayConfig config = Quick();
  config.faults = {{.kind = FaultKind::kTruncate, .after_tokens = 100}};
  Start(config);
  const auto answer = Ask(Body("one", kStream));  // Shorter than that: at its end.
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(answer.whole);
  EXPECT_THAT(answer.body, HasSubstr("plimsoll_sent_ns"));
  EXPECT_THAT(answer.body, Not(HasSubstr("\"finish_reason\":\"")));
  EXPECT_THAT(answer.body, Not(HasSubstr("[DONE]")));
  EXPECT_FALSE(Ask(Body("one", R"("max_tokens":3,)")).whole);
}

TEST_F(GatewayTest, SpeaksHtmlWhenAskedTo) {
  GatewayConfig config = Quick();
  config.faults = {{.kind = FaultKind::kHtml}};
  Start(config);
  for (const auto& answer : {Ask(Body("one")), Get("/v1/models"), Get("/metrics")}) {
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.headers.at("content-type"), StartsWith("text/html"));
    EXPECT_THAT(answer.body, StartsWith("<!DOCTYPE html>"));
  }
}

TEST_F(GatewayTest, CrashesAfterItsTimeFromTheFirstRequest) {
  GatewayConfig config = Quick();
  config.faults = {{.kind = FaultKind::kCrash, .at = 50ms, .from_first_request = true}};
  Start(config);
  EXPECT_EQ(Get("/health").status, 200);
  auto crashed = crashed_.get_future();
  Ask(Body("one", R"("max_tokens":1,)"));
  EXPECT_EQ(crashed.wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

}  // namespace
}  // namespace plimsoll
