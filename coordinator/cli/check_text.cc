#include "coordinator/cli/check_text.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/config/quantities.h"
#include "coordinator/cli/hooks_text.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/step_origin.h"
#include "coordinator/planning/replay_plan.h"
#include "coordinator/report/bar_text.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll {
namespace {

std::string Agents(std::uint32_t count) {
  return fmt::format("{} agent{}", count, count == 1 ? "" : "s");
}

// 950, 12.3k, 4.56M, 7.8G: three digits, as an estimate deserves.
std::string About(double value) {
  if (value < 999.5) return fmt::format("{:.0f}", value);
  for (const auto& [unit, name] : {std::pair{1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}) {
    const double scaled = value / unit;
    if (scaled < 9.995) return fmt::format("{:.2f}{}", scaled, name);
    if (scaled < 99.95) return fmt::format("{:.1f}{}", scaled, name);
    if (scaled < 999.5) return fmt::format("{:.0f}{}", scaled, name);
  }
  return fmt::format("{:.3g}", value);
}

// "313", or "210–313" where a deployment at the bar makes fewer.
std::string Requests(const DryStep& step) {
  const std::string most = About(step.requests);
  const std::string fewest = About(step.requests_at_bar);
  return most == fewest ? most : fewest + "–" + most;
}

// "5.8", or "5.8–6.0" where it depends on how fast the deployment is; "–" without any call.
std::string InFlight(const DryStep& step) {
  const auto text = [](double value) {
    return value < 99.95 ? fmt::format("{:.1f}", value) : About(value);
  };
  if (!(step.in_flight > 0) || !(step.in_flight_at_bar > 0)) return "–";
  const auto [least, most] = std::minmax(step.in_flight, step.in_flight_at_bar);
  const std::string low = text(least);
  const std::string high = text(most);
  return low == high ? low : low + "–" + high;
}

// "3/3", or of many agents "2 to 3 each".
std::string PerAgent(const std::vector<std::uint32_t>& lanes) {
  if (lanes.size() <= 6) return fmt::format("{}", fmt::join(lanes, "/"));
  const auto [low, high] = std::minmax_element(lanes.begin(), lanes.end());
  if (*low == *high) return fmt::format("{} each", *low);
  return fmt::format("{} to {} each", *low, *high);
}

std::string StepTable(const Scenario& scenario, const RunPlan& plan, const DryPlan& dry) {
  std::vector<std::vector<std::string>> rows = {{"", "", "requests"},
                                                {"step", "sessions", "in flight"}};
  for (const TierPlan& tier : plan.tiers) {
    rows[0].emplace_back();
    rows[1].push_back(tier.name);
  }
  for (const auto& [above, name] : {std::pair{"per", "agent"},
                                    {"", "requests"},
                                    {"tokens", "in"},
                                    {"tokens", "cached"},
                                    {"tokens", "out"},
                                    {"", "time"}}) {
    rows[0].emplace_back(above);
    rows[1].emplace_back(name);
  }
  for (std::size_t i = 0; i < dry.steps.size(); ++i) {
    const DryStep& step = dry.steps[i];
    const bool mix = step.ladder == kMixLadder;
    const bool target = mix && scenario.sweep.target == step.sessions;
    std::vector<std::string> row = {fmt::format("{}{}", i + 1, mix ? "" : " " + step.ladder),
                                    fmt::format("{}{}", step.sessions, target ? "*" : ""),
                                    InFlight(step)};
    for (const std::uint32_t lanes : step.lanes_per_tier) row.push_back(fmt::format("{}", lanes));
    row.insert(row.end(),
               {PerAgent(step.lanes_per_agent), Requests(step), About(step.tokens_in),
                About(step.tokens_cached), About(step.tokens_out),
                fmt::format("{}–{}", ShortTime(step.at_least), ShortTime(step.at_most))});
    rows.push_back(std::move(row));
  }
  return Table(rows, 0);
}

// "84.6–95.4%": the shares that would read too close.
std::string CloseShares(const Precision& part) {
  if (!IsBadShare(part.limit.metric) && part.calls < part.calls_needed) return "no data";
  if (!part.close) return "none";
  return fmt::format("{:.1f}–{:.1f}%", part.close->low * 100, part.close->high * 100);
}

std::string PrecisionTable(const DryPlan& dry) {
  const auto chance = [](const Precision& part, const std::optional<double>& value) {
    if (!value || part.calls < part.calls_needed) return std::string("–");
    return fmt::format("{:.0f}%", *value * 100);
  };
  std::vector<std::vector<std::string>> rows = {
      {"", "", "", "95% interval", "time for", "better", "worse"},
      {"sessions", "part", "calls", "at the limit", "half of it", "passes", "fails"}};
  for (const DryStep& step : dry.steps) {
    const std::string alone = step.ladder == kMixLadder ? "" : " " + step.ladder;
    for (const Precision& part : step.parts) {
      rows.push_back({fmt::format("{}{}", step.sessions, alone), PartName(part.limit),
                      fmt::format("{}", part.calls), CloseShares(part),
                      part.close ? ShortTime(part.measure_for_half) : "–",
                      chance(part, part.better_passes), chance(part, part.worse_fails)});
    }
  }
  return Table(rows, 2);
}

std::string Sessions(std::uint32_t count) {
  return fmt::format("{} session{}", count, count == 1 ? "" : "s");
}

std::string EdgeText(Limit limit, double edge) {
  limit.value = edge;
  return LimitText(limit);
}

// Calls of the part on a deployment as slow as the bar allows.
double CallsAtBar(const Precision& part, Duration measure) {
  const double needed = ToSeconds(part.measure_needed_at_bar);
  return needed > 0 ? static_cast<double>(part.calls_needed) * ToSeconds(measure) / needed : 0;
}

// "6 sessions", or where there are several ladders "6 sessions of the mix", "6 sessions of light
// alone".
std::string Load(const Scenario& scenario, const DryStep& step) {
  if (scenario.tier_ladders.empty()) return Sessions(step.sessions);
  return fmt::format("{} of {}", Sessions(step.sessions),
                     step.ladder == kMixLadder ? "the mix" : step.ladder + " alone");
}

const char* Make(const DryStep& step) {
  return step.sessions == 1 ? "makes" : "make";
}

// What would be enough, or that nothing is.
std::string Remedy(const Scenario& scenario, Duration needed) {
  if (const auto measure = MeasureOfBlocks(needed, scenario.sweep.block)) {
    return fmt::format("set sweep.measure to {} or more", PrintDuration(*measure));
  }
  return "no sweep.measure of such blocks is long enough: use more sessions, longer blocks or "
         "another bar";
}

// Of a step that makes, or may make, too few calls for `part`; `so` says what comes of it.
std::string FewCalls(const Scenario& scenario, const DryStep& step, const Precision& part,
                     const std::string& what, const std::string& so) {
  const std::string measure = ShortTime(scenario.sweep.measure);
  if (part.calls < part.calls_needed) {
    return LabelledLine("warning",
                        fmt::format("{} {} about {} calls in {}, not the {}: {}; {}",
                                    Load(scenario, step), Make(step), part.calls, measure, what, so,
                                    Remedy(scenario, part.measure_needed)));
  }
  const auto at_bar =
      static_cast<std::uint64_t>(std::nearbyint(CallsAtBar(part, scenario.sweep.measure)));
  if (at_bar < part.calls_needed) {
    return LabelledLine(
        "warning",
        fmt::format("{} on a deployment as slow as the bar allows {} about {} calls in {}, not "
                    "the {}; {}",
                    Load(scenario, step), Make(step), at_bar, measure, what,
                    Remedy(scenario, part.measure_needed_at_bar)));
  }
  return {};
}

// The percentile that needs the most calls, and the share of errors.
std::string FewCalls(const Scenario& scenario, const DryStep& step) {
  if (step.requests <= 0) {
    return LabelledLine("warning", fmt::format("{} {} no call at all; use a corpus with calls",
                                               Load(scenario, step), Make(step)));
  }
  const Precision* most = nullptr;
  std::string text;
  for (const Precision& part : step.parts) {
    if (IsBadShare(part.limit.metric)) continue;
    if (most == nullptr || part.calls_needed > most->calls_needed) most = &part;
  }
  if (most != nullptr) {
    text += FewCalls(scenario, step, *most,
                     fmt::format("{} calls that {} needs for a verdict", most->calls_needed,
                                 PartName(most->limit)),
                     "it would read no data");
  }
  for (const Precision& part : step.parts) {
    if (part.limit.metric != Metric::kErrors || part.calls_needed == kNoNumber) continue;
    text += FewCalls(
        scenario, step, part,
        fmt::format(
            "{} attempts without a failure that errors <= {} needs to pass with a design effect "
            "of {:g}",
            part.calls_needed, EdgeText(part.limit, StrictEdge(part.limit)), kDesignEffectAssumed),
        "it may read too close at best");
  }
  return text;
}

std::string Warnings(const Scenario& scenario, const DryPlan& dry) {
  std::string text;
  for (const DryStep& step : dry.steps) {
    text += FewCalls(scenario, step);
    if (std::any_of(step.parts.begin(), step.parts.end(),
                    [](const Precision& part) { return part.too_few_slices; })) {
      text += LabelledLine(
          "warning",
          fmt::format("{}: {} in blocks of {} are too short to tell how calls of one time depend "
                      "on each other, so TTFT and speeds can only be too close; make sweep.measure "
                      "longer, or sweep.block shorter where calls are short",
                      Load(scenario, step), ShortTime(scenario.sweep.measure),
                      ShortTime(scenario.sweep.block)));
    }
    // Of every ladder alike, and said once.
    if (step.sessions >= 3 || step.ladder != kMixLadder) continue;
    text += LabelledLine(
        "warning", fmt::format("{}: with fewer than three, intervals rest on runs of calls and are "
                               "wide; start with three or more",
                               Sessions(step.sessions)));
  }
  return text;
}

std::string Corpora(const RunPlan& plan, const Corpus& corpus) {
  std::string text;
  for (const TierPlan& tier : plan.tiers) {
    std::size_t sessions = 0;
    std::size_t calls = 0;
    for (const Session& s : corpus.sessions) {
      if (s.tier != tier.tier) continue;
      ++sessions;
      calls += s.calls.size();
    }
    text += fmt::format("{}{}: {} session{}, {} call{}", text.empty() ? "" : "; ", tier.name,
                        sessions, sessions == 1 ? "" : "s", calls, calls == 1 ? "" : "s");
  }
  return text;
}

// What limits from baseline runs do to the table of precision; empty without one.
std::string BaselineLines(const Bar& bar) {
  std::string text;
  for (const Limit& limit : bar.limits) {
    if (!limit.origin) continue;
    if (limit.origin->low && limit.origin->high) {
      text += LabelledLine(
          "baseline",
          fmt::format("{}: the {} baseline runs differ, so it passes only by {} and fails only by "
                      "{}; its interval and chances above are for that",
                      PartName(limit), limit.origin->runs.size(),
                      EdgeText(limit, StrictEdge(limit)), EdgeText(limit, LooseEdge(limit))));
    } else {
      text += LabelledLine(
          "baseline",
          fmt::format("{}: one run cannot tell how windows differ, so the limit of {} is taken as "
                      "exact, and its interval and chances above are too hopeful; name two or more",
                      PartName(limit), LimitText(limit)));
    }
  }
  return text;
}

std::string CostWords(const Scenario& scenario, const DryPlan& dry) {
  if (!scenario.cost.has_value()) {
    return "not known: add cost: {nodes: 4, per_node_hour: 14.40 USD} to the scenario";
  }
  const CostSpec& cost = *scenario.cost;
  const std::string rate = fmt::format("{} node{} at {} an hour each", cost.nodes,
                                       cost.nodes == 1 ? "" : "s", PrintMoney(cost.per_node_hour));
  if (!dry.cost_at_least || !dry.cost_at_most) return rate + ": beyond counting";
  return fmt::format("{} to {} ({}, while the steps run)", PrintMoney(*dry.cost_at_least),
                     PrintMoney(*dry.cost_at_most), rate);
}

// What may take more time, or less, than the planned steps.
std::string PolicyWords(const Scenario& scenario) {
  const Sweep& sweep = scenario.sweep;
  std::string text = scenario.tier_ladders.empty()
                         ? "the first miss ends the sweep"
                         : "the first miss ends a ladder, of the first step the run";
  text += ", a step without data is repeated once";
  if (sweep.extend) {
    text += fmt::format(", one too close gets {} more once", ShortTime(sweep.measure));
  }
  if (sweep.fail_early) text += ", one that clearly misses ends early";
  if (!sweep.budget) return text;
  text += fmt::format("; the budget is {}", ShortTime(*sweep.budget));
  if (sweep.refine) {
    text +=
        ", and what is left of it goes between the last step that held and the first that did not";
  }
  return text;
}

// "1m27s to 2m15s if all 3 steps run once", or that the budget may be over before.
std::string TimeWords(const Scenario& scenario, const DryPlan& dry) {
  const std::string steps = dry.steps.size() == 1
                                ? std::string("the step runs")
                                : fmt::format("all {} steps run", dry.steps.size());
  Duration most{0};
  for (const DryStep& step : dry.steps) most += step.at_most;
  const auto& budget = scenario.sweep.budget;
  if (!budget || most <= *budget) {
    return fmt::format("{} to {} if {} once", ShortTime(dry.at_least), ShortTime(dry.at_most),
                       steps);
  }
  return fmt::format(
      "{} to {}: if {} once they take up to {}, and what does not fit the budget is left out",
      ShortTime(dry.at_least), ShortTime(dry.at_most), steps, ShortTime(most));
}

}  // namespace

std::string CheckText(const Scenario& scenario, const RunPlan& plan, const Corpus& corpus,
                      const DryPlan& dry) {
  const Sweep& sweep = scenario.sweep;
  std::string text = LabelledLine(
      "scenario", fmt::format("{}: {} at {}", scenario.name, plan.target.model, plan.target.url));
  text += LabelledLine("corpus", Corpora(plan, corpus));
  for (const std::string& line : ReplayLines(plan, corpus)) {
    // Theirs begin with a label of ten columns.
    text += Wrap(line.substr(0, 10) + " ",
                 Printable(line.substr(std::min<std::size_t>(10, line.size()))), kReportColumns);
  }
  text += LabelledLine("bar", BarSentence(scenario.bar));
  text +=
      LabelledLine("fleet", scenario.fleet.local > 0
                                ? fmt::format("{} started here", Agents(scenario.fleet.local))
                                : fmt::format("{} to dial in to {}", Agents(scenario.fleet.agents),
                                              scenario.fleet.listen));
  text += '\n' + StepTable(scenario, plan, dry);
  if (sweep.target) text += "* the target\n";
  text += LabelledLine(
      "requests",
      "in the measured time: if every call is as slow as the bar allows, to as fast as it "
      "was recorded; a faster deployment gets more. Tokens are for the larger number, "
      "cached ones with a cache that forgets nothing of a session");
  text += LabelledLine("in flight",
                       "requests that the sessions keep open on average, between the same two "
                       "ends");
  text += LabelledLine(
      "each step",
      fmt::format("priming (at most {}), 2s to start, {} warm-up, {} measured in {} blocks "
                  "of {}, cool-down (at most {})",
                  ShortTime(sweep.prime_limit), ShortTime(sweep.warm_up), ShortTime(sweep.measure),
                  sweep.measure / sweep.block, ShortTime(sweep.block),
                  ShortTime(sweep.drain_limit)));
  text += LabelledLine("in all",
                       fmt::format("{}; {}", TimeWords(scenario, dry), PolicyWords(scenario)));
  text += HooksText(scenario);
  text += LabelledLine("cost", CostWords(scenario, dry));
  text += "\nhow sharp the verdicts can be\n" + PrecisionTable(dry);
  text += LabelledLine(
      "reading",
      fmt::format(
          "an interval is of the share of calls within the limit (errors: failed "
          "calls); a deployment whose share lies inside it reads too close. "
          "Time: measured time at which it is half as wide. Better passes, worse fails: the chance "
          "that a deployment 20% better than the bar does, and that one 20% worse does. Assumed: "
          "calls as recorded, a design effect "
          "of {:g} (calls of one session resemble each other), times spread as "
          "docs/statistics.md says",
          kDesignEffectAssumed));
  text += BaselineLines(scenario.bar);
  const std::string warnings = Warnings(scenario, dry);
  return warnings.empty() ? text : text + '\n' + warnings;
}

}  // namespace plimsoll
