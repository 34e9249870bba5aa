// The section `bar`: every kind of limit, and what a wrong one is told.
#include "coordinator/scenario/scenario_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string With(const std::string& bar) {
  return "name: m\ntarget: {url: \"http://h/v1\", model: x, tools: on}\ncorpus: {file: a.corpus}\n"
         "mix: {heavy: 25%, light: 75%}\nsweep: {sessions: [2, 4]}\nfleet: {local: 2}\nbar:\n" +
         bar;
}

std::vector<std::string> ProblemsOf(const std::string& bar) {
  Problems problems("s.yaml");
  (void)ReadScenario(With(bar), "", problems);
  return problems.Lines();
}

TEST(BarReader, EveryKindOfLimitInTheFilesOrder) {
  const StatusOr<Scenario> read = ParseScenario(With(R"(  ttft_p90: 5.3s
  ttft_p99: 30s
  interactivity_p90: 10 tok/s
  end_to_end_interactivity_p99.5: 8 tok/s
  goodput_p75: 30s
  heavy: {ttft_p90: 10s, ttft_p99.9: 1m, errors: 5%}
  errors: 2%
  light: {tool_calls: 1%}
)"),
                                                "s.yaml", "");
  ASSERT_TRUE(read.ok()) << MessageOf(read.status());
  EXPECT_THAT(read->bar.limits,
              ElementsAre(Limit{Metric::kTtft, 0.9, 5.3}, Limit{Metric::kTtft, 0.99, 30},
                          Limit{Metric::kInteractivity, 0.9, 10},
                          Limit{Metric::kEndToEndInteractivity, 0.995, 8},
                          Limit{Metric::kGoodput, 0.75, 30}, Limit{Metric::kTtft, 0.9, 10, "heavy"},
                          Limit{Metric::kTtft, 0.999, 60, "heavy"},
                          Limit{Metric::kErrors, 0, 0.05, "heavy"}, Limit{Metric::kErrors, 0, 0.02},
                          Limit{Metric::kToolCalls, 0, 0.01, "light"}));
}

TEST(BarReader, RelativeLimitsCarryTheirBaselineAndNoValueYet) {
  const StatusOr<Scenario> read = ParseScenario(
      With("  from_baseline: {runs: [r-1, r-2], sessions: 10}\n  ttft_p90: +10%\n"
           "  interactivity_p90: \"-20%\"\n  heavy: {goodput_p99.5: +0%}\n  errors: 2%\n"
           "  ttft_p50: -90%\n  ttft_p99: +900%\n"),
      "s.yaml", "");
  ASSERT_TRUE(read.ok()) << MessageOf(read.status());
  const auto origin = [](double factor) {
    return LimitOrigin{.runs = {"r-1", "r-2"}, .sessions = 10, .factor = factor};
  };
  EXPECT_THAT(read->bar.limits, ElementsAre(Limit{Metric::kTtft, 0.9, 0, "", origin(1.1)},
                                            Limit{Metric::kInteractivity, 0.9, 0, "", origin(0.8)},
                                            Limit{Metric::kGoodput, 0.995, 0, "heavy", origin(1)},
                                            Limit{Metric::kErrors, 0, 0.02},
                                            Limit{Metric::kTtft, 0.5, 0, "", origin(0.1)},
                                            Limit{Metric::kTtft, 0.99, 0, "", origin(10)}));
}

TEST(BarReader, WhatIsWrongIsSaidWhereItIs) {
  const struct {
    const char* bar;
    const char* words;
  } cases[] = {
      {"  ttft_p49: 1s\n",
       "s.yaml:8: bar.ttft_p49: is below the median, write ttft_p50 to ttft_p99.9"},
      {"  errors: 1%\n  goodput_p100: 1s\n",
       "s.yaml:9: bar.goodput_p100: is all of them, write goodput_p50 to goodput_p99.9"},
      {"  ttft_p90.0: 1s\n", "s.yaml:8: bar.ttft_p90.0: is written ttft_p90"},
      {"  ttft_p090: 1s\n", "s.yaml:8: bar.ttft_p090: is written ttft_p90"},
      {"  ttft_p99.1234: 1s\n", "s.yaml:8: bar.ttft_p99.1234: is not a known key"},
      {"  ttft_p9a: 1s\n", "s.yaml:8: bar.ttft_p9a: is not a known key"},
      {"  ttft_p: 1s\n", "s.yaml:8: bar.ttft_p: is not a known key"},
      {"  goodput: 1s\n", "s.yaml:8: bar.goodput: is not a known key"},
      {"  end_to_end_p90: 8 tok/s\n", "s.yaml:8: bar.end_to_end_p90: is not a known key"},
      {"  goodput_p90: 8 tok/s\n", "s.yaml:8: bar.goodput_p90: \"8 tok/s\""},
      {"  end_to_end_interactivity_p90: 8s\n", "s.yaml:8: bar.end_to_end_interactivity_p90: "},
      {"  errors: 1%\n  ttft_p99.5: 0s\n",
       "s.yaml:9: bar.ttft_p99.5: is zero, write a limit that can be kept"},
      {"  mid: {ttft_p90: 1s}\n",
       "s.yaml:8: bar.mid: is no tier of the mix, which has heavy, light"},
      {"  haevy: {ttft_p90: 1s}\n",
       "s.yaml:8: bar.haevy: is no tier of the mix, which has heavy, light"},
      {"  heavy: 5s\n", "s.yaml:8: bar.heavy: "},
      {"  heavy: {}\n", "s.yaml:8: bar.heavy: has no limit, write e.g. {ttft_p90: 10s}"},
      {"  heavy:\n    ttft_p90: 1s\n    errors: 100%\n",
       "s.yaml:10: bar.heavy.errors: must lie between 0% and 100%"},
      {"  heavy: {ttft_p90: 1s, light: {errors: 1%}}\n", "bar.heavy.light: is not a known key"},
      {"  heavy: {ttft_p90: 1s, from_baseline: {}}\n",
       "bar.heavy.from_baseline: is not a known key"},
      {"  ttft_p90: +10%\n",
       "s.yaml:8: bar.ttft_p90: is relative, and nothing says to what; add from_baseline: "},
      {"  from_baseline: {runs: [a], sessions: 4}\n  errors: 2%\n",
       "s.yaml:8: bar.from_baseline: is used by no limit"},
      {"  from_baseline: {runs: [], sessions: 4}\n  ttft_p90: +1%\n",
       "s.yaml:8: bar.from_baseline.runs: must be 1 to 64 ids"},
      {"  from_baseline: {runs: [a, b, a], sessions: 4}\n  ttft_p90: +1%\n",
       "s.yaml:8: bar.from_baseline.runs: names a run twice, keep one"},
      {"  from_baseline: {runs: [a]}\n  ttft_p90: +1%\n",
       "s.yaml:8: bar.from_baseline.sessions: is missing, write e.g. 10"},
      {"  from_baseline: {runs: [a], sessions: 0}\n  ttft_p90: +1%\n",
       "s.yaml:8: bar.from_baseline.sessions: is 0"},
      {"  from_baseline: {runs: [a], sessions: 4, nights: 2}\n  ttft_p90: +1%\n",
       "s.yaml:8: bar.from_baseline.nights: is not a known key"},
      {"  from_baseline: {runs: [a], sessions: 4}\n  ttft_p90: +1,5%\n",
       "s.yaml:9: bar.ttft_p90: is no change from a tenth to ten times of a baseline"},
      {"  from_baseline: {runs: [a], sessions: 4}\n  ttft_p90: -100%\n",
       "s.yaml:9: bar.ttft_p90: is no change from a tenth to ten times of a baseline"},
      {"  from_baseline: {runs: [a], sessions: 4}\n  ttft_p90: +1e999%\n",
       "s.yaml:9: bar.ttft_p90: is no change"},
      {"  from_baseline: {runs: [a], sessions: 4}\n  ttft_p90: +nan%\n",
       "s.yaml:9: bar.ttft_p90: is no change"},
      {"  from_baseline: {runs: [a], sessions: 4}\n  ttft_p90: 10%\n", "s.yaml:9: bar.ttft_p90: "},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ProblemsOf(c.bar), Contains(HasSubstr(c.words))) << c.bar;
  }
}

TEST(BarReader, ToolCallsOfATierNeedToolsToo) {
  std::string text = With("  heavy: {tool_calls: 1%}\n");
  text.replace(text.find(", tools: on"), 11, "");
  Problems problems("s.yaml");
  (void)ReadScenario(text, "", problems);
  EXPECT_THAT(problems.Lines(),
              ElementsAre(HasSubstr("s.yaml:8: bar.heavy.tool_calls: can only be judged where")));
}

TEST(BarReader, MoreLimitsThanAnybodyReads) {
  std::string bar;
  for (int p = 500; p < 580; ++p) {
    bar += "  ttft_p" + std::to_string(p / 10) + "." + std::to_string(p % 10) + ": 1s\n";
  }
  EXPECT_THAT(ProblemsOf(bar), Contains(HasSubstr("limits, at most 64 are possible")));
}

}  // namespace
}  // namespace plimsoll
