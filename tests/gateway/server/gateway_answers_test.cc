// The gateway over real sockets: lengths of answers, what usage counts, tool calls.
#include "tests/gateway/server/gateway_fixture.h"

namespace plimsoll {
namespace {

TEST_F(GatewayTest, SwitchesCanBeIgnoredOrRejected) {
  GatewayConfig config = Quick();
  config.output_natural = 3;
  config.output_switches = OutputSwitches::kIgnore;
  Start(config);
  EXPECT_THAT(Ask(Body("a", R"("max_tokens":9,"ignore_eos":true,)")).body,
              HasSubstr(R"("completion_tokens":3)"));
  TearDown();
  config.output_switches = OutputSwitches::kReject;
  Start(config);
  for (const char* field : {R"("max_tokens":9,"ignore_eos":false,)", R"("min_tokens":1,)"}) {
    const auto answer = Ask(Body("a", field));
    EXPECT_EQ(answer.status, 400) << field;
    EXPECT_THAT(answer.body, HasSubstr("min_tokens, ignore_eos"));
  }
  EXPECT_EQ(Ask(Body("a")).status, 200);
}

TEST_F(GatewayTest, AnswersMayEndEarlyByThemselves) {
  GatewayConfig config = Quick();
  config.stop_probability = 0.2;
  Start(config);
  int sum = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string body = Ask(Body("a", R"("max_tokens":100,)")).body;
    sum += std::stoi(body.substr(body.find("\"completion_tokens\":") + 20));
  }
  EXPECT_GT(sum, 40 * 2);
  EXPECT_LT(sum, 40 * 12) << "five tokens in the mean";
  EXPECT_THAT(Ask(Body("a", R"("max_tokens":100,"min_tokens":100,)")).body,
              HasSubstr(R"("completion_tokens":100)"));
}

TEST_F(GatewayTest, UsageCountsWhatTheTemplateAdds) {
  GatewayConfig config = Quick();
  config.template_request_tokens = 11;
  config.template_message_tokens = 4;
  config.tokens_per_word = 1.5;
  Start(config);
  EXPECT_THAT(Ask(Body(Words(100))).body, HasSubstr(R"("prompt_tokens":165)"));
}

TEST_F(GatewayTest, CallsAToolWhereOneIsOffered) {
  GatewayConfig config = Quick();
  config.tool_call_probability = 1;
  config.output_natural = 4;
  Start(config);
  constexpr std::string_view kTools =
      R"("tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",)"
      R"("properties":{"n":{"type":"integer"},"p":{"type":"string"}},"required":["p"]}}}],)"
      R"("max_tokens":9,)";
  const std::string whole = Ask(Body("a", kTools)).body;
  EXPECT_THAT(whole, HasSubstr(R"("name":"f","arguments":"{\"p\":\"ship/sits/low\"}")"));
  EXPECT_THAT(whole, HasSubstr(R"("finish_reason":"tool_calls")"));
  const std::string stream = Ask(Body("a", fmt::format("{}\"stream\":true,", kTools))).body;
  EXPECT_THAT(stream, HasSubstr(R"("function":{"name":"f","arguments":""})"));
  EXPECT_THAT(stream, HasSubstr(R"("function":{"arguments":"/sits/low\"}"})"));
  EXPECT_THAT(stream, HasSubstr(R"("finish_reason":"tool_calls")"));
  EXPECT_THAT(Ask(Body("a")).body, HasSubstr("the ship sits low")) << "none was offered";
  const std::string cut = Ask(Body("a", R"("tools":[{"type":"function"}],"max_tokens":3,)")).body;
  EXPECT_THAT(cut, HasSubstr(R"("arguments":"{\"path\":\"s"})"));
  EXPECT_THAT(cut, HasSubstr(R"("finish_reason":"length")"));
}

TEST_F(GatewayTest, MalformsToolCallsOnDemand) {
  GatewayConfig config = Quick();
  config.tool_call_probability = 1;
  config.output_natural = 4;
  config.faults = {{.kind = FaultKind::kMalformedToolCalls}};
  Start(config);
  const std::string body = Ask(Body("a", R"("tools":[{"type":"function"}],)")).body;
  EXPECT_THAT(body, HasSubstr(R"("arguments":"{\"path\":\"ship/sits/low\""})"));
  EXPECT_THAT(body, HasSubstr(R"("finish_reason":"tool_calls")"));
  EXPECT_EQ(Ask(Body("a")).status, 200);
}

}  // namespace
}  // namespace plimsoll
