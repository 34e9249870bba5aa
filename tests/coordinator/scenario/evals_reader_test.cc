// The section `evals` and the bar's key of the same name.
#include "coordinator/scenario/evals_reader.h"

#include "coordinator/scenario/scenario_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string With(const std::string& evals, const std::string& bar = "errors: 2%") {
  return "name: m\ntarget: {url: \"http://h/v1\", model: x}\ncorpus: {file: a.corpus}\n"
         "mix: {heavy: 25%, light: 75%}\nsweep: {sessions: [2, 4]}\nfleet: {local: 2}\nbar: {" +
         bar + "}\n" + evals;
}

Scenario Read(const std::string& text) {
  auto read = ParseScenario(text, "s.yaml", "runs/here");
  EXPECT_TRUE(read.ok()) << MessageOf(read.status());
  return read.ok() ? *std::move(read) : Scenario{};
}

std::vector<std::string> ProblemsOf(const std::string& text) {
  Problems problems("s.yaml");
  (void)ReadScenario(text, "", problems);
  return problems.Lines();
}

TEST(EvalsReader, WithoutTheSectionNoneIsAskedAndItsDefaultsAreTheSuggestedOnes) {
  EXPECT_FALSE(Read(With("")).evals.has_value());
  const Scenario scenario = Read(With("evals: {}\n"));
  ASSERT_TRUE(scenario.evals.has_value());
  EXPECT_EQ(*scenario.evals, EvalsSpec{});
  EXPECT_EQ(scenario.evals->builtin, "basic");
  EXPECT_EQ(scenario.evals->share, 0.1);
  EXPECT_FALSE(scenario.bar.evals.asks()) << "shown, not judged";
}

TEST(EvalsReader, EveryKey) {
  const Scenario scenario = Read(With(
      "evals: {set: sets/mine.jsonl, share: 5%, repeats: 3, deadline: 30s, mini_run_limit: 4m}\n",
      "errors: 2%, evals: {pass_rate: 95%, drop: 5%}"));
  EXPECT_EQ(*scenario.evals, (EvalsSpec{.builtin = "",
                                        .file = "runs/here/sets/mine.jsonl",
                                        .share = 0.05,
                                        .repeats = 3,
                                        .deadline = Duration(30s),
                                        .mini_run_limit = Duration(4min)}));
  EXPECT_EQ(scenario.bar.evals, (EvalBar{.pass_rate = 0.95, .drop = 0.05}));
  EXPECT_EQ(scenario.bar.limits.size(), 1u) << "no limit on calls";
  EXPECT_EQ(Read(With("evals: {set: basic}\n", "errors: 2%, evals: 90%")).bar.evals,
            (EvalBar{.pass_rate = 0.9, .drop = std::nullopt}));
  EXPECT_EQ(Read(With("evals: {set: /etc/x}\n")).evals->file, "/etc/x");
}

TEST(EvalsReader, WhatIsWrongIsToldWithWhatWouldBeRight) {
  const struct {
    std::string text;
    const char* words;
  } cases[] = {
      {With("evals: {set: advanced}\n"), "evals.set: is \"advanced\", which is no set of ours"},
      {With("evals: {share: 30%}\n"), "evals.share: is 30%, evals are 0.01% to 20%"},
      {With("evals: {share: 0%}\n"), "evals.share: is 0%"},
      {With("evals: {repeats: 0}\n"), "evals.repeats"},
      {With("evals: {repeats: 11}\n"), "evals.repeats"},
      {With("evals: {deadline: 0s}\n"), "evals.deadline: is 0s"},
      {With("evals: {deadline: 2h}\n"), "at most 1h"},
      {With("evals: {mini_run_limit: 2h}\n"), "evals.mini_run_limit"},
      {With("evals: {set: basic, sahre: 5%}\n"), "evals.sahre"},
      {With("evals: basic\n"), "evals"},
      {With("", "errors: 2%, evals: 90%"), "bar.evals: can only be judged where evals are asked"},
      {With("evals: {}\n", "errors: 2%, evals: 0%"), "bar.evals: is 0%"},
      {With("evals: {}\n", "errors: 2%, evals: {}"), "bar.evals: asks nothing"},
      {With("evals: {}\n", "errors: 2%, evals: {drop: 100%}"), "bar.evals.drop: is 100%"},
      {With("evals: {}\n", "errors: 2%, evals: {rate: 5%}"), "bar.evals.rate"},
      {With("evals: {}\n", "evals: 90%"), "bar: has no limit"},
      {With("evals: {}\n", "errors: 2%, heavy: {evals: 90%}"), "bar.heavy.evals"}};
  for (const auto& one : cases) {
    EXPECT_THAT(ProblemsOf(one.text), ElementsAre(HasSubstr(one.words))) << one.text;
  }
  EXPECT_THAT(ProblemsOf(With("evals: {}\n", "errors: 2%, evals: {drop: 0%}")), IsEmpty());
}

}  // namespace
}  // namespace plimsoll
