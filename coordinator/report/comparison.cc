#include "coordinator/report/comparison.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "coordinator/judge/capacity_words.h"
#include "coordinator/report/compare_pair.h"
#include "coordinator/report/run_differences.h"

namespace plimsoll {
namespace {

// Sessions of the mix's first step; absent: it has none.
std::optional<std::uint32_t> FirstStepOf(const ReportModel& model) {
  const SweepHistory mix = OfLadder(HistoryOf(model), kMixLadder);
  if (mix.empty()) return std::nullopt;
  return mix.front().sessions;
}

RankedRun Ranked(const ComparedRun& run, std::optional<std::uint32_t> target) {
  RankedRun ranked{.name = run.info.name,
                   .id = run.info.id,
                   .started_at = run.model.started_at,
                   .verdict = JudgeTarget(OfLadder(HistoryOf(run.model), kMixLadder), target),
                   .capacity = run.model.capacity,
                   .cost = run.model.cost};
  if (const auto sessions = target ? target : FirstStepOf(run.model)) {
    const FoundStep at = StepWith(run.model, *sessions);
    if (at.step != nullptr) ranked.target_in_flight = KnownInFlight(at.step->summary);
  }
  if (!run.model.capacity.passed) return ranked;
  const FoundStep held = StepWith(run.model, *run.model.capacity.passed);
  if (held.step == nullptr) return ranked;
  ranked.error_share = held.step->summary.errors.error_share;
  ranked.requests_in_flight = KnownInFlight(held.step->summary);
  return ranked;
}

int Standing(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return 0;
    case Verdict::kTooClose:
      return 1;
    case Verdict::kNoData:
      return 2;
    case Verdict::kFail:
      return 3;
  }
  return 4;
}

// Prices in one currency: others cannot be put in order.
bool OneCurrency(const std::vector<RankedRun>& runs) {
  std::string currency;
  for (const RankedRun& run : runs) {
    const std::string of_run = CurrencyOf(run.cost);
    if (of_run.empty()) continue;
    if (!currency.empty() && currency != of_run) return false;
    currency = of_run;
  }
  return true;
}

// Whoever holds the target first, the cheapest of them in front; then by what is held.
bool Before(const RankedRun& a, const RankedRun& b, bool by_price) {
  const int standing_a = Standing(a.verdict.verdict);
  const int standing_b = Standing(b.verdict.verdict);
  if (standing_a != standing_b) return standing_a < standing_b;
  const auto price = [&](const RankedRun& run) {
    return by_price
               ? run.cost.per_session_hour.value.value_or(std::numeric_limits<double>::infinity())
               : 0.0;
  };
  if (standing_a == 0 && price(a) != price(b)) return price(a) < price(b);
  const std::uint32_t held_a = a.capacity.passed.value_or(0);
  const std::uint32_t held_b = b.capacity.passed.value_or(0);
  if (held_a != held_b) return held_a > held_b;
  if (price(a) != price(b)) return price(a) < price(b);
  return a.id < b.id;
}

std::string TargetWords(std::optional<std::uint32_t> target) {
  return target ? fmt::format("{} sessions", *target) : std::string("its first step");
}

// The letters of the runs whose load is not the first's, as "B, C"; `runs` in rank.
std::string OtherLoads(const std::vector<const ComparedRun*>& runs,
                       const std::vector<RankedRun>& ranked) {
  std::string letters;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (LoadDifferences(*runs.front(), *runs[i]).empty()) continue;
    letters += (letters.empty() ? "" : ", ") + ranked[i].letter;
  }
  return letters;
}

// Sets the winner of ranked runs, or says why there is none. `unlike`: OtherLoads.
void ChooseWinner(bool one_currency, const std::string& unlike, Comparison* comparison) {
  if (!unlike.empty()) {
    comparison->winner = fmt::format(
        "none: not comparable: A was not measured as {} was, so what holds and costs the one says "
        "nothing of the other",
        unlike);
    return;
  }
  const std::string target = TargetWords(comparison->target);
  std::vector<const RankedRun*> holders;
  for (const RankedRun& run : comparison->runs) {
    if (run.verdict.verdict == Verdict::kPass) holders.push_back(&run);
  }
  if (holders.empty()) {
    comparison->winner = fmt::format("none: no recipe holds {}", target);
    return;
  }
  const RankedRun& first = *holders.front();
  if (holders.size() == 1) {
    comparison->has_winner = true;
    comparison->winner =
        fmt::format("A, {}: the only one that holds {}{}{}", first.name, target,
                    InFlightWords(first.target_in_flight),
                    first.cost.per_session_hour.value ? ", at " + PricePerHour(first.cost) : "");
    return;
  }
  std::string unpriced;
  for (const RankedRun* run : holders) {
    if (!run->cost.per_session_hour.value) {
      unpriced += (unpriced.empty() ? "" : ", ") + run->letter;
    }
  }
  if (!one_currency) {
    comparison->winner = fmt::format("none: {} recipes hold {}, priced in different currencies",
                                     holders.size(), target);
  } else if (!unpriced.empty()) {
    comparison->winner = fmt::format(
        "none: {} recipes hold {}, and which is the cheapest cannot be said, because "
        "{} has no price; add cost: {{nodes: 4, per_node_hour: 14.40 USD}} to its "
        "scenario",
        holders.size(), target, unpriced);
  } else {
    comparison->has_winner = true;
    comparison->winner =
        fmt::format("A, {}: the cheapest of {} that hold {}{}, at {}; next is {} with {}",
                    first.name, holders.size(), target, InFlightWords(first.target_in_flight),
                    PricePerHour(first.cost), holders[1]->letter, PricePerHour(holders[1]->cost));
  }
}

void WarnOf(const ComparedRun& a, const ComparedRun& b, const std::string& letter,
            Comparison* comparison) {
  for (const std::string& load : LoadDifferences(a, b)) {
    comparison->warnings.push_back(fmt::format("A and {} are not comparable: {}", letter, load));
  }
  if (!a.recipe || !b.recipe) {
    comparison->warnings.push_back(
        fmt::format("no recipe is kept with {}, so in what A and {} differ is not known; name "
                    "recipe: {{files: [...]}} in its scenario",
                    !a.recipe && !b.recipe ? "A and " + letter
                    : !a.recipe            ? "A"
                                           : letter,
                    letter));
  }
  const RecipeDifferences differences = DifferencesOf(a, b);
  const std::string words = fmt::format("{}", fmt::join(differences.words, "; "));
  if (differences.things > 1) {
    comparison->warnings.push_back(
        fmt::format("A and {} differ in {} things, so a difference cannot be put down to one of "
                    "them: {}",
                    letter, differences.things, words));
  } else if (differences.things == 1) {
    comparison->notes.push_back(fmt::format("A and {} differ in one thing: {}", letter, words));
  } else if (a.recipe && b.recipe && LoadDifferences(a, b).empty()) {
    comparison->notes.push_back(fmt::format(
        "A and {} do not differ in recipe, target or load, as far as is kept: what differs is the "
        "window{}",
        letter, a.info.seed != b.info.seed ? ", and which sessions were drawn" : ""));
  }
  if (a.info.plimsoll_version != b.info.plimsoll_version) {
    comparison->warnings.push_back(fmt::format("A was run by plimsoll {}, {} by {}",
                                               a.info.plimsoll_version, letter,
                                               b.info.plimsoll_version));
  }
}

// Of a run that did not end by itself: what it would have shown yet is not known.
void WarnOfEnd(const RunInfo& run, const std::string& letter, Comparison* comparison) {
  const char* how = run.state == RunState::kStopped       ? "was stopped"
                    : run.state == RunState::kFailed      ? "failed"
                    : run.state == RunState::kInterrupted ? "was interrupted"
                    : run.state == RunState::kRunning     ? "has not ended"
                                                          : nullptr;
  if (how == nullptr) return;
  comparison->warnings.push_back(
      fmt::format("{} {}{}{}: it is ranked by the steps that it has, and more of them may have "
                  "changed its rank",
                  letter, how, run.message.empty() ? "" : ": ", run.message));
}

void AddNotes(Comparison* comparison) {
  std::size_t looked_at = 0;
  for (const PairComparison& pair : comparison->pairs) {
    for (const StepDifference& step : pair.steps) looked_at += step.why_not.empty() ? 1 : 0;
  }
  if (looked_at > 1) {
    comparison->notes.push_back(
        fmt::format("{} differences were looked at, each at 95%: where nothing differs, about one "
                    "in 20 is supported by chance",
                    looked_at));
  }
  comparison->notes.emplace_back(
      "one night is one night: each run saw one window, and how windows differ is not known from "
      "these runs, so what is supported is supported of these windows: two windows of one recipe "
      "may differ as much (docs/statistics.md); run both again on other nights before a small "
      "difference is believed");
}

}  // namespace

std::vector<std::string> NotComparable(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> reasons;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    for (const std::string& load : LoadDifferences(runs.front(), runs[i])) {
      reasons.push_back(fmt::format("{} and {} were not measured alike: {}", runs.front().info.id,
                                    runs[i].info.id, load));
    }
  }
  return reasons;
}

StatusOr<std::optional<std::uint32_t>> CommonTarget(const std::vector<ComparedRun>& runs,
                                                    std::optional<std::uint32_t> asked) {
  if (asked || runs.empty()) return asked;
  const std::optional<std::uint32_t> target = runs.front().model.target;
  const std::optional<std::uint32_t> first = FirstStepOf(runs.front().model);
  std::string targets;
  std::string first_steps;
  bool targets_differ = false;
  bool first_steps_differ = false;
  const auto add = [](std::string* list, const std::string& id,
                      const std::optional<std::uint32_t>& sessions) {
    *list += fmt::format("{}{} {}", list->empty() ? "" : ", ", id,
                         sessions ? fmt::format("{}", *sessions) : "none");
  };
  for (const ComparedRun& run : runs) {
    const std::optional<std::uint32_t> own_first = FirstStepOf(run.model);
    targets_differ = targets_differ || run.model.target != target;
    first_steps_differ = first_steps_differ || own_first != first;
    add(&targets, run.info.id, run.model.target);
    add(&first_steps, run.info.id, own_first);
  }
  if (targets_differ) {
    return absl::InvalidArgumentError(
        fmt::format("the runs have different targets ({}); name one with --target N", targets));
  }
  if (!target && first_steps_differ) {
    return absl::InvalidArgumentError(fmt::format(
        "the runs have no target, and their first steps, which stand in for it, differ ({}); name "
        "one with --target N",
        first_steps));
  }
  return target;
}

Comparison CompareRuns(const std::vector<ComparedRun>& runs, std::optional<std::uint32_t> target) {
  Comparison comparison{.target = target};
  std::vector<std::pair<RankedRun, const ComparedRun*>> ranked;
  for (const ComparedRun& run : runs) {
    comparison.runs.push_back(Ranked(run, target));
    ranked.emplace_back(comparison.runs.back(), &run);
  }
  const bool one_currency = OneCurrency(comparison.runs);
  std::sort(ranked.begin(), ranked.end(),
            [&](const auto& a, const auto& b) { return Before(a.first, b.first, one_currency); });
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    comparison.runs[i] = ranked[i].first;
    comparison.runs[i].letter = std::string(1, static_cast<char>('A' + i % kRunsComparedMax));
  }
  if (ranked.empty()) return comparison;
  const ComparedRun& first = *ranked.front().second;
  comparison.bar = first.model.bar;
  std::vector<const ComparedRun*> in_rank;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    in_rank.push_back(ranked[i].second);
    WarnOfEnd(in_rank[i]->info, comparison.runs[i].letter, &comparison);
  }
  ChooseWinner(one_currency, OtherLoads(in_rank, comparison.runs), &comparison);
  for (std::size_t i = 1; i < ranked.size(); ++i) {
    const ComparedRun& other = *ranked[i].second;
    comparison.pairs.push_back(
        ComparePair(first, other, comparison.runs.front(), comparison.runs[i]));
    WarnOf(first, other, comparison.runs[i].letter, &comparison);
  }
  AddNotes(&comparison);
  return comparison;
}

}  // namespace plimsoll
