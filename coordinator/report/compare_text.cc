#include "coordinator/report/compare_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/capacity_words.h"
#include "coordinator/report/bar_text.h"
#include "coordinator/report/cost_text.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll {
namespace {

constexpr const char* kAbsent = "–";
constexpr std::size_t kMetricColumns = 24;

std::string Tenths(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value) : kAbsent;
}

std::string LimitedBy(const Capacity& capacity) {
  if (capacity.limiting_part && *capacity.limiting_part < capacity.parts.size()) {
    return FirstColumns(LabelOf(capacity, *capacity.limiting_part), kMetricColumns);
  }
  return capacity.limited_by ? Name(*capacity.limited_by) : kAbsent;
}

std::string HeldTable(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows = {
      {"", "target", "sessions", "in flight", "limited by", "errors%", "per node"}};
  for (const RankedRun& run : comparison.runs) {
    const Capacity& capacity = run.capacity;
    const std::optional<double> in_flight =
        capacity.band ? capacity.band->value.requests_in_flight : std::nullopt;
    rows.push_back({run.letter, Name(run.verdict.verdict),
                    capacity.band ? WholeSessions(*capacity.band) : kAbsent, Tenths(in_flight),
                    LimitedBy(capacity),
                    run.error_share ? fmt::format("{:.2f}", *run.error_share * 100) : kAbsent,
                    Shown(run.cost.sessions_per_node)});
  }
  return Table(rows, 5);
}

std::string CostTable(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows = {
      {"", "", "", "", "session-", "million", "cached", "uncached", "", "M tokens"},
      {"", "nodes", "an hour", "", "hour", "tokens", "in", "in", "out", "node-hour"}};
  for (const RankedRun& run : comparison.runs) {
    const Cost& cost = run.cost;
    rows.push_back({run.letter, cost.settings ? fmt::format("{}", cost.settings->nodes) : kAbsent,
                    cost.settings ? ThreeDigits(cost.settings->hourly()) : kAbsent,
                    cost.settings ? cost.settings->currency : kAbsent, Shown(cost.per_session_hour),
                    Shown(cost.per_mtok.all), Shown(cost.per_mtok.cached),
                    Shown(cost.per_mtok.uncached), Shown(cost.per_mtok.out),
                    Shown(cost.mtok_per_node_hour)});
  }
  return Table(rows, 1);
}

// What is not known, once for each reason.
std::string MissingFigures(const Comparison& comparison) {
  std::string text;
  for (const RankedRun& run : comparison.runs) {
    std::vector<std::string> reasons;
    for (const auto& [name, figure] : FiguresOf(run.cost)) {
      if (figure.value ||
          std::find(reasons.begin(), reasons.end(), figure.why_not) != reasons.end()) {
        continue;
      }
      reasons.push_back(figure.why_not);
    }
    if (reasons.empty()) continue;
    text += Wrap(fmt::format("  {}: ", run.letter),
                 Printable(fmt::format("{} not known: {}", kAbsent, fmt::join(reasons, "; "))),
                 kReportColumns);
  }
  return text;
}

std::string Points(double share) {
  return fmt::format("{:+.1f}", share * 100);
}

std::string StepLine(const StepDifference& step, const std::string& other) {
  if (!step.why_not.empty()) return step.why_not;
  const ShareDifference& d = step.share;
  const bool bad = IsBadShare(step.limit.metric);
  const char* what = bad ? "bad" : "within";
  std::string text = fmt::format(
      "{:.1f}% {} against {:.1f}%: {} points (95% interval {} to {}): ", d.a.share * 100, what,
      d.b.share * 100, Points(d.value), Points(d.low), Points(d.high));
  if (!d.supported()) return text + "a difference is not supported by this data";
  return text + fmt::format("that {} is better is supported", step.first_better ? "A" : other);
}

std::string PairText(const PairComparison& pair) {
  std::string text = fmt::format("\nA against {}: {}\n", pair.letter,
                                 pair.paired ? "paired, lane by lane (same corpus, seed and plays)"
                                             : "not paired (" + Printable(pair.why_unpaired) + ")");
  if (pair.steps.empty()) {
    text += Wrap("  ", "no step of both was measured alike: no share is compared", kReportColumns);
  }
  std::optional<std::uint32_t> sessions;  // Of the lines so far.
  for (const StepDifference& step : pair.steps) {
    if (sessions != step.sessions) {
      text += fmt::format("  {} sessions, {} requests in flight against {}\n", step.sessions,
                          Tenths(step.in_flight_first), Tenths(step.in_flight_other));
    }
    sessions = step.sessions;
    text += Wrap(fmt::format("    {:<15}", Printable(step.label)),
                 Printable(StepLine(step, pair.letter)), kReportColumns);
  }
  text += Wrap("  capacity         ", pair.capacity, kReportColumns);
  text += Wrap("  cost             ", Printable(pair.cost), kReportColumns);
  return text;
}

// "10 sessions; requests in flight: A 9.7, B 9.9"
std::string TargetText(const Comparison& comparison) {
  std::string text = comparison.target ? fmt::format("{} sessions", *comparison.target)
                                       : std::string("the first step of each run");
  std::string kept;
  for (const RankedRun& run : comparison.runs) {
    if (!run.target_in_flight) continue;
    kept += fmt::format("{}{} {:.1f}", kept.empty() ? "; requests in flight: " : ", ", run.letter,
                        *run.target_in_flight);
  }
  return text + kept;
}

std::string Heading(const Comparison& comparison) {
  std::string text =
      LabelledLine(comparison.has_winner ? "WINNER" : "NO WINNER", comparison.winner);
  text += LabelledLine("target", TargetText(comparison));
  text += LabelledLine("bar", BarSentence(comparison.bar));
  for (const RankedRun& run : comparison.runs) {
    text += LabelledLine(run.letter, fmt::format("{} ({}), started {}: {}", run.name, run.id,
                                                 run.started_at, run.capacity.sentence));
  }
  return text;
}

}  // namespace

std::string CompareText(const Comparison& comparison) {
  std::string text = Heading(comparison);
  text +=
      "\ncapacity: sessions with their 95% interval, and the requests that they kept in flight; "
      "errors\nand per node at the last step that held\n";
  text += HeldTable(comparison);
  text += "\ncost at the last step that held; of a class as if it carried the whole price\n";
  text += CostTable(comparison);
  text += MissingFigures(comparison);
  for (const PairComparison& pair : comparison.pairs) text += PairText(pair);
  text += '\n';
  for (const std::string& warning : comparison.warnings) text += LabelledLine("warning", warning);
  for (const std::string& note : comparison.notes) text += LabelledLine("note", note);
  return text;
}

}  // namespace plimsoll
