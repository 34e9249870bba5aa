// How true the replay was: lengths against what was asked and planned, and kinds of answers.
#include "coordinator/judge/judge_step.h"
#include "coordinator/judge/step_summary.h"
#include "gtest/gtest.h"
#include "tests/coordinator/ingest/step_builder.h"

namespace plimsoll {
namespace {

StepIngest WithFit() {
  return {IngestPlan(),
          {{.lane = 0, .tier = 0}, {.lane = 1, .tier = 1}},
          {"heavy", "light"},
          {4s, 2s},
          Bar{},
          TemplateFit{.per_request = 11, .per_message = 4, .per_word = 1}};
}

FidelitySummary SummaryOf(StepIngest& ingest) {
  return Summarize(ingest.Close({}), StepVerdict{}).fidelity;
}

TEST(Fidelity, OutputIsComparedWithWhatWasAsked) {
  StepIngest ingest = WithFit();
  const auto call = [&](double at, std::uint32_t asked, std::uint32_t came) {
    CallRecord r = OkCall(at);
    r.tokens_asked = asked;
    r.tokens_out = came;
    ingest.Add(r);
  };
  call(12, 100, 100);
  call(13, 100, 100);
  call(14, 200, 20);
  call(15, 0, 50);  // Left to the model.
  call(16, 100, kAbsentTokens);
  call(5, 100, 1);  // Warm-up.
  CallRecord failed = FailedCall(17, Outcome::kTruncated);
  failed.tokens_asked = 100;
  failed.tokens_out = 3;
  ingest.Add(failed);
  const FidelitySummary f = SummaryOf(ingest);
  EXPECT_EQ(f.output_n, 3u);
  EXPECT_DOUBLE_EQ(f.output_ratio.value(), 220.0 / 400);
  EXPECT_NEAR(f.output_ratio_p50.value(), 1, 0.004);
}

TEST(Fidelity, PromptsAreComparedWithThePlanThroughTheFit) {
  StepIngest ingest = WithFit();
  const auto call = [&](double at, std::uint32_t planned, std::uint32_t messages,
                        std::uint32_t reported) {
    CallRecord r = OkCall(at);
    r.tokens_planned = planned;
    r.messages = messages;
    r.tokens_in = reported;
    ingest.Add(r);
  };
  call(12, 1000, 10, 1051);  // As the template has it.
  call(13, 2000, 20, 2091);
  call(14, 949, 10, 1100);  // A tenth more.
  const FidelitySummary f = SummaryOf(ingest);
  EXPECT_EQ(f.prompt_n, 3u);
  EXPECT_EQ(f.drift_p50, 0);
  EXPECT_NEAR(f.drift_max.value(), 0.1, 1e-6);
  EXPECT_EQ(f.drift_over, 1u);
  EXPECT_NEAR(f.drift_total.value(), 100.0 / 4142, 1e-6);
}

TEST(Fidelity, CachedTokensThatAreNotReportedAreNotZero) {
  StepIngest ingest = WithFit();
  CallRecord r = OkCall(12);
  r.tokens_planned = 500;
  r.tokens_cached = 0;
  ingest.Add(r);
  r = OkCall(13);
  r.tokens_planned = 500;
  r.tokens_cached = kAbsentTokens;
  ingest.Add(r);
  r.tokens_in = kAbsentTokens;
  ingest.Add(r);
  const FidelitySummary f = SummaryOf(ingest);
  EXPECT_EQ(f.prompt_n, 2u);
  EXPECT_EQ(f.cached_n, 1u);
}

TEST(Fidelity, TokensThatNoCallReportsStayAbsent) {
  StepIngest ingest = WithFit();
  CallRecord r = OkCall(12);
  r.tokens_in = r.tokens_cached = r.tokens_out = kAbsentTokens;
  ingest.Add(r);
  const StepEvidence none = ingest.SoFar({});
  EXPECT_FALSE(none.tokens_in.has_value());
  EXPECT_FALSE(none.tokens_cached.has_value());
  EXPECT_FALSE(none.tokens_out.has_value());
  EXPECT_EQ(none.fidelity.tokens_out_n, 0u);
  r.released = r.first_released = Sec(13);
  r.tokens_cached = 0;
  r.tokens_out = 7;
  ingest.Add(r);
  const StepEvidence some = ingest.Close({});
  EXPECT_FALSE(some.tokens_in.has_value());
  EXPECT_EQ(some.tokens_cached, 0u);  // Said, and none.
  EXPECT_EQ(some.tokens_out, 7u);
  EXPECT_EQ(Summarize(some, StepVerdict{}).tokens_out, 7u);
  EXPECT_EQ(Summarize(some, StepVerdict{}).fidelity.tokens_out_n, 1u);
}

TEST(Fidelity, KindsOfAnswersAreCountedOfOkCallsAlone) {
  StepIngest ingest = WithFit();
  const auto call = [&](double at, std::uint8_t answer, Outcome outcome = Outcome::kOk) {
    CallRecord r = OkCall(at);
    r.outcome = outcome;
    r.answer = answer;
    if ((answer & (kToolCallsValid | kToolCallsInvalid)) != 0) r.flags |= kToolCallPresent;
    ingest.Add(r);
  };
  call(12, kToolCallsValid);
  call(13, kToolCallsValid | kHiddenReasoning);
  call(14, kToolCallsInvalid);
  call(15, kReasoningOnly);
  call(16, kToolCallsInvalid, Outcome::kStreamError);
  CallRecord cut = OkCall(35);
  cut.flags |= kToolCallPresent;
  ingest.Add(cut);
  const StepEvidence e = ingest.Close({});
  const FidelitySummary f = Summarize(e, StepVerdict{}).fidelity;
  EXPECT_EQ(f.tool_present, 4u);
  EXPECT_EQ(f.tool_valid, 2u);
  EXPECT_EQ(f.tool_invalid, 1u);
  EXPECT_EQ(f.reasoning_only, 1u);
  EXPECT_EQ(f.hidden_reasoning, 1u);
  EXPECT_EQ(CellOf(e, 0, 0)->tool_answers, 3u);
  EXPECT_EQ(CellOf(e, 0, 0)->tool_invalid, 1u);
  EXPECT_EQ(CellOf(e, 0, 1)->tool_answers, 0u) << "what its cap cut is not judged";
}

TEST(Fidelity, AHostileServersNumbersDoNoHarm) {
  StepIngest ingest = WithFit();
  CallRecord r = OkCall(12);
  r.tokens_planned = 1;
  r.tokens_asked = 1;
  r.tokens_in = r.tokens_out = kAbsentTokens - 1;
  ingest.Add(r);
  const FidelitySummary f = SummaryOf(ingest);
  EXPECT_GT(f.drift_max.value(), 1000);
  EXPECT_GT(f.output_ratio.value(), 1e9);
}

}  // namespace
}  // namespace plimsoll
