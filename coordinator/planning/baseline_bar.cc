#include "coordinator/planning/baseline_bar.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/config/quantities.h"
#include "common/stats/student_t.h"
#include "coordinator/judge/judge_part.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/judge/void_rules.h"

namespace plimsoll {
namespace {

bool IsOpen(const Limit& limit) {
  return limit.origin.has_value() && limit.origin->baseline == 0;
}

std::string MixText(const std::vector<TierPlan>& mix) {
  double all = 0;
  for (const TierPlan& tier : mix) all += tier.share;
  std::string text;
  for (const TierPlan& tier : mix) {
    text += fmt::format("{}{} {:.3g}%", text.empty() ? "" : ", ", tier.name,
                        all > 0 ? tier.share * 100 / all : 0);
  }
  return text;
}

// Why a run's load is not the scenario's; empty: it is.
std::string OtherLoad(const BaselineRun& run, const Scenario& scenario,
                      const std::string& corpus_digest) {
  if (run.corpus_digest != corpus_digest) {
    return "was measured on another corpus; run the baseline on this scenario's and name that run";
  }
  if (run.scenario.mix != scenario.mix) {
    return fmt::format(
        "has another mix ({}, here {}); run the baseline on this scenario's and name that run",
        MixText(run.scenario.mix), MixText(scenario.mix));
  }
  if (run.scenario.replay != scenario.replay ||
      run.scenario.target.tools != scenario.target.tools ||
      run.scenario.target.max_tokens != scenario.target.max_tokens) {
    return "replays its sessions otherwise (replay, failure, target.tools or target.max_tokens "
           "differ); run the baseline as this scenario does and name that run";
  }
  const Sweep& sweep = run.scenario.sweep;
  if (sweep.warm_up != scenario.sweep.warm_up ||
      sweep.drain_between_steps != scenario.sweep.drain_between_steps) {
    return fmt::format(
        "comes to its steps otherwise (warm_up {}, here {}; between_steps {}, here {}); run the "
        "baseline as this scenario does and name that run",
        PrintDuration(sweep.warm_up), PrintDuration(scenario.sweep.warm_up),
        BetweenStepsWord(sweep), BetweenStepsWord(scenario.sweep));
  }
  return "";
}

// Why a run is not of the same deployment as the first; empty: it may be.
std::string OtherDeployment(const BaselineRun& first, const BaselineRun& run) {
  constexpr const char* kWhatToDo =
      "; an average of both is neither's: name runs of one recipe, or give each its own scenario";
  if (run.scenario.target.model != first.scenario.target.model) {
    return fmt::format("is of another model ({}) than run {} ({}){}", run.scenario.target.model,
                       first.id, first.scenario.target.model, kWhatToDo);
  }
  if (!run.recipe.empty() && !first.recipe.empty() && run.recipe != first.recipe) {
    return fmt::format("is of another recipe than run {} (the files kept with them differ){}",
                       first.id, kWhatToDo);
  }
  return "";
}

struct Found {
  const BaselineStep* step = nullptr;
  std::string wrong;  // Of no step: why.
};

// The last step that says something: a repeat stands in for a void one.
Found StepOf(const BaselineRun& run, std::uint32_t sessions) {
  if (run.steps.empty()) {
    return {.wrong = fmt::format(
                "was not measured at {} sessions (it has {}); name a step that it has in "
                "bar.from_baseline.sessions, or run the baseline at {}",
                sessions,
                run.sessions.empty() ? "no step" : fmt::format("{}", fmt::join(run.sessions, ", ")),
                sessions)};
  }
  const BaselineStep* found = nullptr;
  for (const BaselineStep& step : run.steps) {
    if (!step.summary.verdict.is_void) found = &step;
  }
  if (found == nullptr) {
    const std::vector<std::string>& reasons = run.steps.back().summary.verdict.reasons;
    return {.wrong = fmt::format("has no data at {} sessions ({}); run the baseline again",
                                 sessions, reasons.empty() ? "its step is void" : reasons.front())};
  }
  if (found->summary.origin.failed_early_after) {
    return {.wrong = fmt::format(
                "was failed early at {} sessions, so its numbers are of a part of the step; name a "
                "step that it held",
                sessions)};
  }
  const double sent = found->summary.verdict.sent_share;
  if (!(sent >= void_rules::kSentShareMin)) {
    return {.wrong = fmt::format(
                "sent only {:.1f}% of its load at {} sessions, so its numbers belong to a lighter "
                "one; name a step that it held",
                sent * 100, sessions)};
  }
  return {.step = found};
}

struct Value {
  double value = 0;
  std::string wrong;  // Why there is none; empty: there is.
};

Value BadShareOf(const Limit& limit, const std::vector<const Cell*>& cells) {
  ShareCell sum;
  for (const Cell* cell : cells) {
    const ShareCell counts = BadCallsOf(limit.metric, cell->counts);
    sum.n += counts.n;
    sum.hits += counts.hits;
  }
  if (sum.n > 0 && sum.hits > 0) {
    return {.value = static_cast<double>(sum.hits) / static_cast<double>(sum.n)};
  }
  return {.wrong = fmt::format("has {}, of which nothing is a share; write a number such as 2%",
                               sum.n == 0 ? "nothing to count" : "none in all of its calls")};
}

Value PercentileOf(const Limit& limit, const std::vector<const Cell*>& cells) {
  const MetricTraits& traits = TraitsOf(limit.metric);
  Histogram values;
  std::uint64_t n = 0;
  for (const Cell* cell : cells) {
    n += cell->counts.*traits.n;
    values.Merge(cell->*traits.of_cell);
  }
  const std::uint64_t needed = FewestForQuantile(limit.quantile);
  if (n < needed) {
    return {.wrong = fmt::format("has {} calls for it, at least {} are needed; write a number or a "
                                 "lower percentile",
                                 n, needed)};
  }
  const std::uint64_t valueless = n - std::min(n, values.count());
  const MetricValue value = ValueAt(traits, values, valueless, limit.quantile);
  if (value.value && *value.value > 0) return {.value = *value.value};
  return {.wrong =
              "has it among its failed calls, so nothing can be relative to it; name a step "
              "that holds"};
}

Value ValueOf(const Limit& limit, const BaselineRun& run, const BaselineStep& step) {
  std::optional<std::size_t> tier;
  for (std::size_t t = 0; t < run.scenario.mix.size(); ++t) {
    if (run.scenario.mix[t].name == limit.tier) tier = t;
  }
  std::vector<const Cell*> cells;
  for (const Cell& cell : step.cells) {
    if (limit.tier.empty() || tier == cell.counts.tier) cells.push_back(&cell);
  }
  return IsBadShare(limit.metric) ? BadShareOf(limit, cells) : PercentileOf(limit, cells);
}

// Value and interval from the runs' values, all of them above zero.
void TakeBaseline(const std::vector<double>& values, Limit& limit) {
  const auto k = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += std::log(value) / k;
  LimitOrigin& origin = *limit.origin;
  origin.baseline = std::exp(mean);
  limit.value = origin.baseline * origin.factor;
  if (values.size() < 2) return;
  double squares = 0;
  for (const double value : values) squares += (std::log(value) - mean) * (std::log(value) - mean);
  const double half = StudentTQuantile(1 - kTail, k - 1) * std::sqrt(squares / (k - 1) / k);
  origin.low = limit.value * std::exp(-half);
  origin.high = limit.value * std::exp(half);
}

}  // namespace

BaselineAsked BaselinesOf(const Bar& bar) {
  for (const Limit& limit : bar.limits) {
    if (IsOpen(limit)) return {.runs = limit.origin->runs, .sessions = limit.origin->sessions};
  }
  return {};
}

std::vector<std::string> BaselineDoubts(const std::vector<BaselineRun>& runs) {
  std::vector<std::string> without;
  for (const BaselineRun& run : runs) {
    if (run.recipe.empty()) without.push_back(run.id);
  }
  if (runs.size() < 2 || without.empty()) return {};
  return {
      fmt::format("no recipe is kept with baseline run{} {}, so whether all of them are of one "
                  "recipe is not known; name recipe: {{files: [...]}} in their scenarios",
                  without.size() == 1 ? "" : "s", fmt::join(without, ", "))};
}

StatusOr<Bar> ResolveBar(const Scenario& scenario, const std::string& corpus_digest,
                         const std::vector<BaselineRun>& runs) {
  const std::uint32_t sessions = BaselinesOf(scenario.bar).sessions;
  std::vector<std::string> wrong;
  std::vector<const BaselineStep*> steps;
  std::vector<std::string> ids;
  const BaselineRun* with_recipe = nullptr;  // The first of which a recipe is kept.
  for (const BaselineRun& run : runs) {
    ids.push_back(run.id);
    if (with_recipe == nullptr && !run.recipe.empty()) with_recipe = &run;
    std::string other = OtherDeployment(runs.front(), run);
    if (other.empty() && with_recipe != nullptr) other = OtherDeployment(*with_recipe, run);
    if (!other.empty()) wrong.push_back(fmt::format("baseline run {} {}", run.id, other));
    Found found;
    std::string why = OtherLoad(run, scenario, corpus_digest);
    if (why.empty()) {
      found = StepOf(run, sessions);
      why = found.wrong;
    }
    if (!why.empty()) wrong.push_back(fmt::format("baseline run {} {}", run.id, why));
    steps.push_back(found.step);
  }
  Bar bar = scenario.bar;
  for (Limit& limit : bar.limits) {
    if (!IsOpen(limit)) continue;
    std::vector<double> values;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (steps[r] == nullptr) continue;
      Value value = ValueOf(limit, runs[r], *steps[r]);
      if (value.wrong.empty()) {
        values.push_back(value.value);
      } else {
        wrong.push_back(
            fmt::format("bar.{}: baseline run {} {}", PartKey(limit), runs[r].id, value.wrong));
      }
    }
    limit.origin->runs = ids;
    if (values.empty()) continue;
    TakeBaseline(values, limit);
    if (!IsBadShare(limit.metric) || limit.value < 1) continue;
    wrong.push_back(fmt::format("bar.{}: comes to {}, which nothing can miss; write a number",
                                PartKey(limit), LimitText(limit)));
  }
  if (runs.empty() && sessions > 0) wrong.emplace_back("bar.from_baseline names no run");
  if (!wrong.empty()) return absl::InvalidArgumentError(fmt::format("{}", fmt::join(wrong, "\n")));
  return bar;
}

}  // namespace plimsoll
