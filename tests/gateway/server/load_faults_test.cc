// Right and wrong answers, and what goes wrong only under load or only with long conversations:
// over real sockets.
#include "common/evals/eval_set.h"
#include "common/sse/chat_chunk.h"
#include "tests/gateway/server/gateway_fixture.h"

namespace plimsoll {
namespace {

constexpr std::string_view kBase = R"(
model: m
engine: {prefill_base: 1ms, prefill_tokens_per_s: 100000, decode_tokens_per_s: 2000}
noise: {call_sigma: 0, session_sigma: 0, drift_sigma: 0, cold_share: 0}
)";

class LoadFaultsTest : public GatewayTest {
 protected:
  void StartWith(std::string_view yaml) {
    auto config = ParseGatewayConfig(fmt::format("{}{}\n", kBase, yaml), "test.yaml");
    ASSERT_TRUE(config.ok()) << config.status();
    config->answers = Book();
    Start(*config);
  }
  // Our own set, read once: each case proves itself, which takes its time.
  static std::shared_ptr<const AnswerBook> Book() {
    static const auto book = AnswerBook::Load(PLIMSOLL_SOURCE_DIR "/deploy/evals/basic.jsonl");
    EXPECT_TRUE(book.ok()) << book.status();
    return *book;
  }
  // Calls that stay for minutes, and of which nothing is written before their end.
  void Load(std::uint32_t calls) {
    for (std::uint32_t i = 0; i < calls; ++i) {
      load_.push_back(std::make_unique<RawClient>(port_));
      load_.back()->Request("POST", "/v1/chat/completions", "",
                            Body("one", R"("max_tokens":200000,"ignore_eos":true,)"));
    }
    const auto all = static_cast<std::uint32_t>(load_.size());
    ASSERT_TRUE(EngineGetsTo([all](const EngineGauges& g) { return g.running == all; }));
  }
  // As an agent asks and judges it.
  EvalJudgement Asked(const EvalCase& eval) {
    const auto answer = Ask(EvalBody(eval, {.model = "m"}));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EvalAnswer got;
    ChatChunkParser parser;
    ChatChunk chunk;
    chunk.content = &got.content;
    ToolCallCollector calls;
    calls.Begin();
    for (const std::string& event : EventsOf(answer.body)) {
      parser.Parse(std::string_view(event).substr(6), &chunk);
      for (const ToolCallPiece& piece : chunk.tool_calls) calls.Add(piece);
      if (chunk.finish == FinishReason::kToolCalls) got.tools.finished_for_calls = true;
      if (chunk.finish == FinishReason::kLength) got.tools.cut = true;
    }
    got.tools.calls = calls.Take();
    return Judge(eval, got);
  }
  // Of every `step`th question, how many are answered right.
  std::size_t Right(std::size_t step = 1) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < Book()->cases().size(); i += step) {
      right += Asked(Book()->cases()[i]).outcome == EvalOutcome::kPass;
    }
    return right;
  }

  std::vector<std::unique_ptr<RawClient>> load_;
};

TEST_F(LoadFaultsTest, EveryQuestionIsAnsweredRight) {
  StartWith("");
  EXPECT_EQ(Right(), Book()->cases().size());
  // Whole as well, and cut by its cap.
  EvalCase eval = Book()->cases().front();
  std::string body = EvalBody(eval, {.model = "m", .stream = false});
  EXPECT_THAT(Ask(body).body, HasSubstr("888"));
  eval.max_tokens = 1;
  const std::string cut = Ask(EvalBody(eval, {.model = "m", .stream = false})).body;
  EXPECT_THAT(cut, HasSubstr(R"("finish_reason":"length")"));
  EXPECT_THAT(cut, HasSubstr(R"("completion_tokens":1)"));
  EXPECT_THAT(cut, Not(HasSubstr("888")));
}

TEST_F(LoadFaultsTest, AnswersAreWrongUnderLoadOnly) {
  StartWith("faults: [{kind: wrong_answers, in_flight_min: 3}]");
  Load(2);
  EXPECT_EQ(Right(8), 9u);
  Load(1);
  EXPECT_EQ(Right(8), 0u);
  load_.clear();
  EXPECT_TRUE(EngineGetsTo([](const EngineGauges& g) { return g.running == 0; }));
  EXPECT_EQ(Right(8), 9u);
}

TEST_F(LoadFaultsTest, AShareOfTheAnswersIsWrong) {
  StartWith("faults: [{kind: wrong_answers, probability: 30%}]");
  const std::size_t right = Right();
  EXPECT_GT(right, Book()->cases().size() / 2);
  EXPECT_LT(right, Book()->cases().size() * 9 / 10);
}

TEST_F(LoadFaultsTest, ToolCallsBreakInEachWayUnderLoadOnly) {
  for (const ToolFault fault :
       {ToolFault::kMalformedJson, ToolFault::kEmptyDelta, ToolFault::kMissingName,
        ToolFault::kUnknownTool, ToolFault::kBlankRequired, ToolFault::kSchemaMismatch,
        ToolFault::kFinishWithoutCall}) {
    SCOPED_TRACE(Name(fault));
    StartWith(fmt::format("faults: [{{kind: malformed_tool_calls, form: {}, in_flight_min: 2}}]",
                          Name(fault)));
    EXPECT_EQ(Right(24), 3u);
    Load(2);
    std::size_t asked = 0;
    std::size_t faulty = 0;
    for (std::size_t i = 0; i < Book()->cases().size(); i += 5) {
      const EvalCase& eval = Book()->cases()[i];
      const EvalJudgement judged = Asked(eval);
      if (eval.reference.tools.calls.empty()) {
        EXPECT_EQ(judged.outcome, EvalOutcome::kPass) << eval.id << ": it wants no call";
        continue;
      }
      ++asked;
      EXPECT_EQ(judged.outcome, EvalOutcome::kToolFault) << eval.id;
      faulty += judged.faults.of(fault) > 0;
    }
    EXPECT_GT(faulty, asked / 2) << "most schemas leave room for it";
    EXPECT_GT(asked, 4u);
    load_.clear();
    TearDown();
  }
}

// What is left looks fast: only the count of refusals tells.
TEST_F(LoadFaultsTest, AContextLimitTurnsLongConversationsAway) {
  StartWith("metrics: [vllm, envoy]\nfaults: [{kind: context_limit, tokens: 1k, form: vllm}]");
  EXPECT_EQ(Ask(Body(Words(2'000), R"("max_tokens":2,)")).status, 400);
  EXPECT_EQ(Ask(Body(Words(500), R"("max_tokens":2,)")).status, 200);
  const std::string page = Get("/metrics").body;
  EXPECT_THAT(page, HasSubstr(R"(status="4xx"} 1.0)"));
  EXPECT_THAT(
      page, HasSubstr("vllm:time_to_first_token_seconds_count{engine=\"0\",model_name=\"m\"} 1.0"));
  EXPECT_THAT(Get("/metrics/envoy").body, HasSubstr(R"(envoy_response_code_class="4"} 1)"));
}

}  // namespace
}  // namespace plimsoll
