#include "coordinator/planning/eval_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/evals/eval_schedule.h"
#include "coordinator/evals/eval_verdict.h"
#include "coordinator/judge/step_origin.h"

namespace plimsoll {
namespace {

std::uint64_t Answers(double requests, double share) {
  return static_cast<std::uint64_t>(std::llround(ExpectedEvals(requests, share)));
}

// "31 to 44 answers", or "44 answers" where a deployment at the bar makes as many.
std::string AnswersText(std::uint64_t least, std::uint64_t most) {
  return least == most ? fmt::format("{} answers", most)
                       : fmt::format("{} to {} answers", least, most);
}

// What so many answers can show against the bar's threshold.
std::string Sight(const EvalBar& bar, std::uint64_t answers) {
  if (!bar.pass_rate) return "";
  const auto most = MostThatFails(answers, *bar.pass_rate);
  if (!most) {
    return fmt::format(
        ", so few that none is a fail of {:.4g}%: raise evals.share or "
        "sweep.measure",
        *bar.pass_rate * 100);
  }
  return fmt::format(", of which {} right or fewer are a fail of {:.4g}%", *most,
                     *bar.pass_rate * 100);
}

}  // namespace

EvalPlan MakeEvalPlan(const EvalsSpec& evals, std::string set_text) {
  return {.set_text = std::move(set_text),
          .share = evals.share,
          .repeats = evals.repeats,
          .deadline = evals.deadline};
}

MiniRunSettings MakeMiniRun(const EvalsSpec& evals, std::uint32_t agents) {
  const std::uint32_t askers = std::min(agents, kMiniRunAtOnce);
  return {.askers = askers,
          .at_once = kMiniRunAtOnce / std::max(1u, askers),
          .limit = evals.mini_run_limit};
}

std::vector<std::string> EvalLines(const Scenario& scenario, const EvalSet& set,
                                   const std::string& label, const DryPlan& dry) {
  const EvalsSpec& evals = *scenario.evals;
  const EvalBar& bar = scenario.bar.evals;
  std::vector<std::string> lines = {
      fmt::format("{}: {} cases of {} kinds, each with a right answer that passes; {:.4g}% of all "
                  "requests beside the load, in none of its numbers",
                  label, set.cases.size(), set.kinds.size(), evals.share * 100),
      fmt::format("before the first step, without load: {} answers, at most {} at once and {} in "
                  "all",
                  set.cases.size() * evals.repeats, kMiniRunAtOnce,
                  ShortTime(evals.mini_run_limit))};
  if (!bar.asks()) lines.emplace_back("the bar asks nothing of them: they are shown, not judged");
  for (const DryStep& step : dry.steps) {
    const std::uint64_t most = Answers(step.requests, evals.share);
    const std::uint64_t least = Answers(step.requests_at_bar, evals.share);
    lines.push_back(fmt::format("{} sessions{}: {}{}", step.sessions,
                                step.ladder == kMixLadder ? "" : " of " + step.ladder + " alone",
                                AnswersText(least, most), Sight(bar, least)));
  }
  return lines;
}

}  // namespace plimsoll
