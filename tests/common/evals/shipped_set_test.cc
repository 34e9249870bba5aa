// The set that ships: every case passes with its reference, and fails with everything else that is
// tried on it, its tool calls with the fault that was put into them.
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "common/evals/eval_set.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using nlohmann::json;

const EvalSet& Shipped() {
  static const StatusOr<EvalSet> set = [] {
    const std::string path = std::string(PLIMSOLL_SOURCE_DIR) + "/deploy/evals/basic.jsonl";
    std::ifstream file(path, std::ios::binary);
    return ReadEvalSet(path, std::string{std::istreambuf_iterator<char>(file), {}});
  }();
  EXPECT_TRUE(set.ok()) << set.status();
  return *set;
}

TEST(ShippedSet, IsLargeEnoughAndOfEveryKind) {
  EXPECT_GE(Shipped().cases.size(), 60u);
  std::map<std::string, int> kinds;
  for (const EvalCase& eval : Shipped().cases) ++kinds[eval.kind];
  for (const char* kind : {"arithmetic", "extraction", "format", "tool-single", "tool-parallel",
                           "tool-nested", "tool-none"}) {
    EXPECT_GE(kinds[kind], kind == std::string("tool-none") ? 4 : 8) << kind;
  }
}

TEST(ShippedSet, ReferencesPassAndWrongAnswersFail) {
  for (const EvalCase& eval : Shipped().cases) {
    EXPECT_EQ(Judge(eval, eval.reference).outcome, EvalOutcome::kPass) << eval.id;
    EXPECT_FALSE(eval.wrong.empty()) << eval.id;
    for (const EvalAnswer& answer : eval.wrong) {
      EXPECT_NE(Judge(eval, answer).outcome, EvalOutcome::kPass) << eval.id << answer.content;
    }
    EXPECT_EQ(Judge(eval, {}).outcome, EvalOutcome::kEmpty) << eval.id;
    EXPECT_NE(Judge(eval, {.content = "I do not know."}).outcome, EvalOutcome::kPass) << eval.id;
    EvalAnswer lost = eval.reference;
    lost.tools.calls.clear();
    lost.tools.finished_for_calls = true;
    EXPECT_EQ(Judge(eval, lost).outcome, EvalOutcome::kToolFault) << eval.id;
  }
}

TEST(ShippedSet, TheAnswerToAnotherCaseFails) {
  const auto& cases = Shipped().cases;
  int passed = 0;
  for (const EvalCase& eval : cases) {
    for (const EvalCase& other : cases) {
      if (&eval != &other && Judge(eval, other.reference).outcome == EvalOutcome::kPass) ++passed;
    }
  }
  // Two figures that happen to be equal are no flaw; many would be a loose check.
  EXPECT_LE(passed, 8) << "of " << cases.size() * (cases.size() - 1);
}

// Judges the reference with its last call changed.
template <typename Change>
EvalJudgement Changed(const EvalCase& eval, Change change) {
  EvalAnswer answer = eval.reference;
  change(&answer.tools.calls.back());
  return Judge(eval, answer);
}

TEST(ShippedSet, FaultsOfToolCallsAreFoundInEveryCase) {
  int called = 0;
  for (const EvalCase& eval : Shipped().cases) {
    if (eval.reference.tools.calls.empty()) continue;
    ++called;
    const auto expect = [&](ToolFault fault, const EvalJudgement& judgement) {
      EXPECT_EQ(judgement.outcome, EvalOutcome::kToolFault) << eval.id << " " << Name(fault);
      EXPECT_EQ(judgement.faults.of(fault), 1u) << eval.id << " " << Name(fault);
      EXPECT_EQ(judgement.faults.total(), 1u) << eval.id << " " << Name(fault);
    };
    expect(ToolFault::kUnknownTool, Changed(eval, [](ToolCall* c) { c->name += "s"; }));
    expect(ToolFault::kMissingName, Changed(eval, [](ToolCall* c) { c->name.clear(); }));
    expect(ToolFault::kEmptyDelta, Changed(eval, [](ToolCall* c) { *c = {}; }));
    expect(ToolFault::kMalformedJson, Changed(eval, [](ToolCall* c) { c->arguments.pop_back(); }));
    expect(ToolFault::kMalformedJson, Changed(eval, [](ToolCall* c) { c->arguments += "}"; }));
    // A tool's first required argument stands in each of its calls; all of ours have one.
    expect(ToolFault::kBlankRequired, Changed(eval, [](ToolCall* c) { c->arguments = "{}"; }));
    expect(ToolFault::kSchemaMismatch, Changed(eval, [](ToolCall* c) {
             json arguments = json::parse(c->arguments);
             arguments["no_such_argument"] = 1;
             c->arguments = arguments.dump();
           }));
    EvalAnswer twice = eval.reference;
    twice.tools.calls.push_back(twice.tools.calls.back());
    EXPECT_EQ(Judge(eval, twice).outcome, EvalOutcome::kWrong) << eval.id;
  }
  EXPECT_GE(called, 24);
}

}  // namespace
}  // namespace plimsoll
