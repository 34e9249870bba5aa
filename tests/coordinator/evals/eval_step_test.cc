// A step's evals on their way into its verdict, and the sets that ship.
#include "coordinator/evals/eval_step.h"

#include "common/evals/eval_set.h"
#include "coordinator/evals/builtin_sets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

EvalEvidence Evidence(std::uint64_t right, std::uint64_t wrong) {
  EvalEvidence evidence;
  evidence.blocks = {{{0, right, wrong}}};
  evidence.kinds = evidence.blocks;
  return evidence;
}

EvalSummary Summary(std::uint64_t right, std::uint64_t wrong) {
  return SummarizeEvals({.pass_rate = 0.9}, {"sum"}, Evidence(right, wrong), Evidence(72, 0));
}

TEST(EvalStep, OnlyAConfidentFailEntersTheStepsVerdict) {
  StepVerdict pass{.verdict = Verdict::kPass};
  for (const auto& [right, wrong] : {std::pair{100u, 0u}, {93u, 7u}, {0u, 0u}}) {
    EvalSummary evals = Summary(right, wrong);
    EXPECT_NE(evals.verdict, Verdict::kFail) << right;
    StepVerdict step = pass;
    EnterVerdict(&evals, &step);
    EXPECT_EQ(step.verdict, Verdict::kPass);
    EXPECT_EQ(step.failed_beside, "");
  }
  EvalSummary evals = Summary(70, 30);
  StepVerdict step = pass;
  EnterVerdict(&evals, &step);
  EXPECT_EQ(step.verdict, Verdict::kFail);
  EXPECT_EQ(PartsWith(step, Verdict::kFail), "evals");
  ASSERT_EQ(step.reasons.size(), 1u);
  EXPECT_THAT(step.reasons[0], HasSubstr("evals: 70 of 100 passed"));
}

TEST(EvalStep, AFailOutweighsWhatIsTooCloseAndStandsBesideOtherFails) {
  EvalSummary evals = Summary(70, 30);
  StepVerdict close{.verdict = Verdict::kTooClose, .reasons = {"TTFT: it crosses"}};
  EnterVerdict(&evals, &close);
  EXPECT_EQ(close.verdict, Verdict::kFail);
  EXPECT_EQ(close.reasons.size(), 1u) << "what decided";
  StepVerdict failed{.verdict = Verdict::kFail, .reasons = {"TTFT: 9 s"}};
  failed.parts.push_back({.limit = {.metric = Metric::kTtft}, .verdict = Verdict::kFail});
  EnterVerdict(&evals, &failed);
  EXPECT_EQ(failed.reasons.size(), 2u);
  EXPECT_EQ(PartsWith(failed, Verdict::kFail), "TTFT, evals");
  EXPECT_EQ(PartsWith(failed, Verdict::kPass), "");
}

TEST(EvalStep, OfAVoidStepNothingIsSaid) {
  EvalSummary evals = Summary(70, 30);
  StepVerdict step{.verdict = Verdict::kNoData, .is_void = true, .reasons = {"an agent was lost"}};
  EnterVerdict(&evals, &step);
  EXPECT_EQ(step.verdict, Verdict::kNoData);
  EXPECT_EQ(evals.verdict, Verdict::kNoData);
  EXPECT_EQ(evals.reason, "the step is void: an agent was lost");
  EXPECT_EQ(evals.loaded.judged(), 100u) << "what was counted stays";
}

TEST(EvalStep, KeepsBothRunsByKind) {
  const EvalSummary evals = Summary(70, 30);
  ASSERT_EQ(evals.kinds.size(), 1u);
  EXPECT_EQ(evals.kinds[0].kind, "sum");
  EXPECT_EQ(evals.kinds[0].loaded.judged(), 100u);
  EXPECT_EQ(evals.kinds[0].unloaded.judged(), 72u);
  const EvalSummary so_far =
      SummarizeEvalsSoFar({"sum"}, Evidence(70, 30), Evidence(72, 0), "stopped after 10s of 60s");
  EXPECT_EQ(so_far.verdict, Verdict::kNoData);
  EXPECT_EQ(so_far.reason, "stopped after 10s of 60s");
  EXPECT_LT(so_far.interval.high, 0.8);
}

TEST(BuiltinSets, AreWhatTheirFilesSayAndProveThemselves) {
  std::vector<std::string_view> names;
  for (const BuiltinSet& set : BuiltinSets()) {
    names.push_back(set.name);
    const auto read = ReadEvalSet(set.name, set.text);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_GE(read->cases.size(), 50u);
  }
  EXPECT_THAT(names, ElementsAre("basic"));
  EXPECT_THAT(MessageOf(BuiltinSetText("advanced").status()), HasSubstr("there are basic"));
}

}  // namespace
}  // namespace plimsoll
