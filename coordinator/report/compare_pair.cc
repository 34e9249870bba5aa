#include "coordinator/report/compare_pair.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "coordinator/judge/capacity_words.h"
#include "coordinator/judge/judge_part.h"
#include "coordinator/report/cost_text.h"
#include "coordinator/report/run_differences.h"

namespace plimsoll {
namespace {

// Between which whole sessions the capacity lies: at least `low` hold and no more than `high`.
// Absent: an open end.
struct CapacityEnds {
  std::optional<std::uint32_t> low;
  std::optional<std::uint32_t> high;
};

CapacityEnds EndsOf(const Capacity& capacity) {
  CapacityEnds ends;
  if (!capacity.band) return ends;
  const CapacityEnd& low = capacity.band->low;
  const CapacityEnd& high = capacity.band->high;
  // Under the first step measured it may be nothing, over the last anything.
  if (low.kind != CapacityEnd::Kind::kBelow) ends.low = low.whole();
  if (high.kind == CapacityEnd::Kind::kAt) ends.high = high.whole();
  // Fewer than that step's: at most one less.
  if (high.kind == CapacityEnd::Kind::kBelow) ends.high = std::max(high.whole(), 1u) - 1;
  return ends;
}

// Of the mix's ladder: a tier alone is another load.
bool Says(const StepSummary& step) {
  return !step.verdict.is_void && !step.broken_off_after && step.origin.ladder == kMixLadder;
}

// Why the runs are not the same plays; empty: they are.
std::string WhyUnpaired(const ComparedRun& a, const ComparedRun& b) {
  if (a.info.seed != b.info.seed) {
    return fmt::format("other sessions: seed {} against {}", a.info.seed, b.info.seed);
  }
  return "";
}

std::vector<std::string> TierNames(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const TierPlan& tier : scenario.mix) names.push_back(tier.name);
  return names;
}

std::string WhyNoCells(const ComparedRun& run, std::size_t step) {
  if (!run.cells_unread.empty()) return run.cells_unread;
  return step < run.cells.size() && !run.cells[step].empty() ? "" : "no cell of it is kept";
}

// Why the shares of a step are not those of its whole time; empty: they are.
std::string WhyPartial(const ComparedRun& run, const FoundStep& found) {
  const StepSummary& step = found.step->summary;
  if (!step.origin.failed_early_after) return "";
  return fmt::format(
      "the step of {} was failed early, after {} of {} blocks, and calls that were "
      "open then have no result",
      run.info.id, *step.origin.failed_early_after, step.plan.blocks());
}

StepDifference DifferenceAt(const ComparedRun& a, const FoundStep& of_a, const ComparedRun& b,
                            const FoundStep& of_b, std::size_t part, Pairing pairing) {
  const StepVerdict& verdict_a = of_a.step->summary.verdict;
  const StepVerdict& verdict_b = of_b.step->summary.verdict;
  const PartVerdict& part_a = verdict_a.parts[part];
  StepDifference difference{.sessions = of_a.step->summary.plan.sessions,
                            .in_flight_first = KnownInFlight(of_a.step->summary),
                            .in_flight_other = KnownInFlight(of_b.step->summary),
                            .limit = part_a.limit,
                            .label = LabelOf(verdict_a, part)};
  const PartVerdict* without = part_a.verdict == Verdict::kNoData ? &part_a : nullptr;
  if (part >= verdict_b.parts.size()) {
    difference.why_not = "the other run has no such limit";
    return difference;
  }
  if (without == nullptr && verdict_b.parts[part].verdict == Verdict::kNoData) {
    without = &verdict_b.parts[part];
  }
  if (without != nullptr) {
    difference.why_not = "no data: " + without->reason;
    return difference;
  }
  difference.why_not = WhyPartial(a, of_a);
  if (difference.why_not.empty()) difference.why_not = WhyPartial(b, of_b);
  if (difference.why_not.empty()) difference.why_not = WhyNoCells(a, of_a.index);
  if (difference.why_not.empty()) difference.why_not = WhyNoCells(b, of_b.index);
  if (!difference.why_not.empty()) return difference;
  SharePart shares_a{.half_block = of_a.step->summary.plan.block / 2};
  SharePart shares_b{.half_block = of_b.step->summary.plan.block / 2};
  const std::vector<std::string> tiers = TierNames(a.scenario);
  if (!ShareCellsOf(part_a.limit, part, a.cells[of_a.index], tiers, &shares_a.cells) ||
      !ShareCellsOf(part_a.limit, part, b.cells[of_b.index], tiers, &shares_b.cells)) {
    difference.why_not = "the stored cells are of another bar";
    return difference;
  }
  const bool bad = IsBadShare(part_a.limit.metric);
  difference.share = DifferenceOf(shares_a, shares_b, pairing, bad);
  difference.first_better = bad ? difference.share.value < 0 : difference.share.value > 0;
  return difference;
}

void CompareSteps(const ComparedRun& a, const ComparedRun& b, PairComparison* pair) {
  std::set<std::uint32_t> sessions;
  for (const ReportedStep& step : a.model.steps) {
    if (StepWith(b.model, step.summary.plan.sessions).step != nullptr && Says(step.summary)) {
      sessions.insert(step.summary.plan.sessions);
    }
  }
  const Pairing pairing = pair->paired ? Pairing::kByLane : Pairing::kNone;
  for (const std::uint32_t count : sessions) {
    const FoundStep of_a = StepWith(a.model, count);
    const FoundStep of_b = StepWith(b.model, count);
    for (std::size_t part = 0; part < of_a.step->summary.verdict.parts.size(); ++part) {
      pair->steps.push_back(DifferenceAt(a, of_a, b, of_b, part, pairing));
    }
  }
}

// Apart: the intervals have no whole number of sessions in common.
void CompareCapacities(const RankedRun& a, const RankedRun& b, PairComparison* pair) {
  const CapacityEnds of_a = EndsOf(a.capacity);
  const CapacityEnds of_b = EndsOf(b.capacity);
  const bool a_more = of_a.low && of_b.high && *of_a.low > *of_b.high;
  const bool b_more = of_b.low && of_a.high && *of_b.low > *of_a.high;
  pair->capacity_supported = a_more || b_more;
  const std::string ends =
      fmt::format("A {}, {} {}", CapacityNumber(a.capacity), b.letter, CapacityNumber(b.capacity));
  if (!pair->capacity_supported) {
    pair->capacity = ends + ": that they differ is not supported by this data";
    return;
  }
  pair->capacity =
      fmt::format("{}: that {} holds more is supported", ends, a_more ? "A" : b.letter);
}

// The dearer the fewer sessions hold: between hourly / high and hourly / low.
void CompareCosts(const RankedRun& a, const RankedRun& b, PairComparison* pair) {
  if (!a.cost.per_session_hour.value || !b.cost.per_session_hour.value) {
    const RankedRun& without = a.cost.per_session_hour.value ? b : a;
    pair->cost =
        fmt::format("no data of {}: {}", without.letter, without.cost.per_session_hour.why_not);
    return;
  }
  if (CurrencyOf(a.cost) != CurrencyOf(b.cost)) {
    pair->cost =
        fmt::format("not comparable: {} against {}", CurrencyOf(a.cost), CurrencyOf(b.cost));
    return;
  }
  const CapacityEnds of_a = EndsOf(a.capacity);
  const CapacityEnds of_b = EndsOf(b.capacity);
  constexpr double kBeyond = std::numeric_limits<double>::infinity();
  const auto per_session = [](const RankedRun& run, std::uint32_t sessions) {
    return sessions > 0 ? run.cost.settings->hourly() / sessions : kBeyond;
  };
  const auto least = [&](const RankedRun& run, const CapacityEnds& ends) {
    return ends.high ? per_session(run, *ends.high) : 0.0;
  };
  const auto most = [&](const RankedRun& run, const CapacityEnds& ends) {
    return ends.low ? per_session(run, *ends.low) : kBeyond;
  };
  const bool a_less = most(a, of_a) < least(b, of_b);
  const bool b_less = most(b, of_b) < least(a, of_a);
  pair->cost_supported = a_less || b_less;
  const std::string figures =
      fmt::format("A {}, {} {}", PricePerHour(a.cost), b.letter, PricePerHour(b.cost));
  pair->cost = pair->cost_supported
                   ? fmt::format("{}: that {} is cheaper at its capacity is supported", figures,
                                 a_less ? "A" : b.letter)
                   : figures +
                         ": by what is known of the capacities either may be cheaper, so a "
                         "difference is not supported by this data";
}

}  // namespace

FoundStep StepWith(const ReportModel& model, std::uint32_t sessions) {
  for (std::size_t i = model.steps.size(); i-- > 0;) {
    const StepSummary& step = model.steps[i].summary;
    if (step.plan.sessions == sessions && Says(step)) return {&model.steps[i], i};
  }
  return {};
}

std::optional<double> KnownInFlight(const StepSummary& step) {
  if (!HasTallies(step)) return std::nullopt;
  return StepResult{.requests_in_flight = step.requests_in_flight_mean}.known_in_flight();
}

std::string CurrencyOf(const Cost& cost) {
  return cost.settings ? cost.settings->currency : "";
}

std::string PricePerHour(const Cost& cost) {
  return fmt::format("{} {} per session-hour", Shown(cost.per_session_hour), CurrencyOf(cost));
}

PairComparison ComparePair(const ComparedRun& a, const ComparedRun& b, const RankedRun& ranked_a,
                           const RankedRun& ranked_b) {
  PairComparison pair{.letter = ranked_b.letter};
  const bool alike = LoadDifferences(a, b).empty();
  pair.why_unpaired = alike ? WhyUnpaired(a, b) : "they were not measured alike";
  pair.paired = pair.why_unpaired.empty();
  if (alike) {
    CompareSteps(a, b, &pair);
    CompareCapacities(ranked_a, ranked_b, &pair);
    CompareCosts(ranked_a, ranked_b, &pair);
  } else {
    pair.capacity = pair.cost = "not comparable: they were not measured alike";
  }
  return pair;
}

}  // namespace plimsoll
