// The closed lists of eval outcomes and tool faults: names, numbers, counts.
#include "common/record/eval_outcome.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "common/record/tool_fault.h"

namespace plimsoll {
namespace {

TEST(EvalOutcome, EveryOneHasANameOfItsOwn) {
  std::set<std::string> names;
  for (unsigned i = 1; i < kEvalOutcomes; ++i) {
    EXPECT_TRUE(IsEvalOutcome(i));
    const auto outcome = static_cast<EvalOutcome>(i);
    names.emplace(Name(outcome));
    EXPECT_EQ(EvalOutcomeNamed(Name(outcome)), outcome);
  }
  EXPECT_EQ(names.size(), kEvalOutcomes - 1);
  EXPECT_FALSE(IsEvalOutcome(0));
  EXPECT_FALSE(IsEvalOutcome(kEvalOutcomes));
  EXPECT_EQ(EvalOutcomeNamed("unknown"), std::nullopt);
  EXPECT_EQ(Name(static_cast<EvalOutcome>(0)), "unknown");
}

TEST(EvalOutcome, NumbersAreStored) {
  EXPECT_EQ(static_cast<int>(EvalOutcome::kPass), 1);
  EXPECT_EQ(static_cast<int>(EvalOutcome::kUnanswered), 7);
  EXPECT_EQ(static_cast<int>(ToolFault::kEmptyDelta), 1);
  EXPECT_EQ(static_cast<int>(ToolFault::kSchemaMismatch), 6);
  EXPECT_EQ(static_cast<int>(ToolFault::kTooLarge), 8);
}

TEST(EvalCounts, UnansweredIsNoPartOfTheRate) {
  EvalCounts counts;
  counts.Add(EvalOutcome::kPass);
  counts.Add(EvalOutcome::kCut);
  counts.Add(EvalOutcome::kUnanswered);
  EvalCounts more = counts;
  more.Add(counts);
  EXPECT_EQ(more.passed(), 2u);
  EXPECT_EQ(more.judged(), 4u);
  EXPECT_EQ(more.of(EvalOutcome::kUnanswered), 2u);
}

TEST(ToolFault, EveryOneHasANameAndWords) {
  std::set<std::string> names;
  std::set<std::string> words;
  for (unsigned i = 1; i < kToolFaults; ++i) {
    EXPECT_TRUE(IsToolFault(i));
    const auto fault = static_cast<ToolFault>(i);
    names.emplace(Name(fault));
    words.emplace(Describe(fault));
    EXPECT_EQ(ToolFaultNamed(Name(fault)), fault);
  }
  EXPECT_EQ(names.size(), kToolFaults - 1);
  EXPECT_EQ(words.size(), kToolFaults - 1);
  EXPECT_FALSE(IsToolFault(0));
  EXPECT_FALSE(IsToolFault(kToolFaults));
  EXPECT_EQ(testing::PrintToString(ToolFault::kUnknownTool), "unknown_tool");
}

}  // namespace
}  // namespace plimsoll
