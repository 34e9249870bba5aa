#include "coordinator/cli/progress_lines.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/text.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll {
namespace {

constexpr std::size_t kBlockColumnsMin = 60;
constexpr std::size_t kBlockRowsMin = 9;
constexpr Duration kLogEvery = 15s;

constexpr const char* kPlain = "";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kGood = "\x1b[32m";
constexpr const char* kBad = "\x1b[31m";
constexpr const char* kWarn = "\x1b[33m";
constexpr const char* kReset = "\x1b[0m";

struct Piece {
  std::string text;
  const char* colour = kPlain;
};
using Line = std::vector<Piece>;

// As much of the line as fits; the last column stays free, so that no terminal wraps.
std::string Render(const Line& line, const ProgressStyle& style) {
  std::size_t room = style.columns > 1 ? style.columns - 1 : 1;
  std::string text;
  for (const Piece& piece : line) {
    const std::string shown = FirstColumns(Printable(piece.text), room);
    if (shown.empty()) continue;
    room -= Columns(shown);
    const bool coloured = style.colour && *piece.colour != '\0';
    text += coloured ? fmt::format("{}{}{}", piece.colour, shown, kReset) : shown;
  }
  return text;
}

// What a limit of the bar looks like so far.
struct PartShown {
  std::string name;   // "TTFT P90".
  std::string value;  // "0.11 s"; "–" without one.
  std::string limit;  // "limit 1 s".
  std::uint64_t n = 0;
  bool enough = false;  // Calls for a percentile with an interval.
  bool within = false;
};

// Told by records alone, at the step's end.
bool AtTheEnd(const Limit& limit) {
  return limit.metric == Metric::kToolCalls;
}

PartShown ShownOf(const Limit& limit, const PartSoFar& so_far) {
  const MetricTraits& traits = TraitsOf(limit.metric);
  PartShown part{.name = PartName(limit),
                 .value = so_far.value.infinite ? "infinite" : "–",
                 .limit = "limit " + LimitText(limit),
                 .n = so_far.n};
  if (AtTheEnd(limit)) return part;
  part.enough = IsBadShare(limit.metric) ? part.n > 0 : part.n >= FewestForQuantile(limit.quantile);
  if (!so_far.value.value) return part;
  const double value = *so_far.value.value;
  part.value = IsBadShare(limit.metric) ? fmt::format("{:.2f}%", value * 100)
                                        : fmt::format("{} {}", ThreeDigits(value), traits.unit);
  part.within = traits.at_most ? value <= limit.value : value >= limit.value;
  return part;
}

// One for each limit of the bar; nothing is known of those that the status does not have yet.
std::vector<PartShown> ShownOf(const Bar& bar, const LiveNumbers& numbers) {
  std::vector<PartShown> texts;
  for (std::size_t i = 0; i < bar.limits.size(); ++i) {
    const bool known = i < numbers.parts.size();
    texts.push_back(ShownOf(bar.limits[i], known ? numbers.parts[i] : PartSoFar{}));
  }
  return texts;
}

// "1 refused, 2 cut"; empty without failures.
std::string FailuresByOutcome(const OutcomeCounts& outcomes) {
  std::string text;
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (outcome == Outcome::kOk || outcomes[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", outcomes[i], Name(outcome));
  }
  return text;
}

Line PartLine(const Limit& limit, const PartShown& part, std::size_t name_columns,
              const LiveNumbers& numbers) {
  const bool errors = limit.metric == Metric::kErrors;
  const char* judged = !part.enough ? kPlain : part.within ? kGood : kBad;
  Line line = {{fmt::format("  {:<{}}", part.name, name_columns)},
               {fmt::format("{:<12}", part.value), judged},
               {fmt::format("{:<15}", part.limit), kDim},
               {fmt::format(" {} {}", part.n, errors ? "attempts" : "calls")}};
  if (AtTheEnd(limit)) {
    line.back() = {" judged at the step's end", kDim};
  } else if (errors) {
    const std::string failures = FailuresByOutcome(numbers.outcomes);
    if (!failures.empty() && limit.tier.empty()) line.push_back({": " + failures, kWarn});
  } else if (!part.enough) {
    line.push_back(
        {fmt::format(", too few to judge: {} needed", FewestForQuantile(limit.quantile)), kDim});
  } else {
    const char* missed =
        TraitsOf(limit.metric).at_most ? ", over the limit so far" : ", under the limit so far";
    line.push_back({part.within ? ", within so far" : missed, judged});
  }
  return line;
}

void AddPartLines(const Bar& bar, const LiveNumbers& numbers, std::vector<Line>* lines) {
  const std::vector<PartShown> texts = ShownOf(bar, numbers);
  std::size_t columns = 18;
  for (const PartShown& part : texts) columns = std::max(columns, part.name.size() + 1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lines->push_back(PartLine(bar.limits[i], texts[i], columns, numbers));
  }
}

// "[######------]" for the measured time.
std::string Bar20(double share) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * 20);
  return "[" + std::string(full, '#') + std::string(20 - full, '-') + "]";
}

std::string PlaceOf(const LiveStatus& status) {
  return status.place > 0 ? fmt::format("step {} of {}", status.place, status.steps_planned)
                          : std::string("step");
}

// "measuring 2m13s of 5m" · "warm-up, 12s left" · "cool-down, at most 20s".
std::string PartText(const LiveStatus& status) {
  const std::string left = status.part_left ? ShortTime(*status.part_left) : "";
  switch (status.part) {
    case StepPart::kMeasured:
      if (status.measured && status.step_left) {
        return fmt::format("measuring, {} of {}", ShortTime(*status.measured),
                           ShortTime(*status.measured + *status.step_left));
      }
      return "measuring";
    case StepPart::kWarmUp:
      return fmt::format("warm-up, {} left", left);
    case StepPart::kPriming:
      return left.empty() ? "priming" : fmt::format("priming, at most {} left", left);
    case StepPart::kCoolDown:
      return fmt::format("cool-down, at most {} left", left);
  }
  return "";
}

Line StepLine(const LiveStatus& status) {
  Line line = {{fmt::format("{}: {} sessions", PlaceOf(status), status.sessions), kBold},
               {"  " + PartText(status)}};
  if (status.part == StepPart::kMeasured && status.measured && status.step_left) {
    const double whole = ToSeconds(*status.measured + *status.step_left);
    const double share = whole > 0 ? ToSeconds(*status.measured) / whole : 0;
    line.push_back({"  " + Bar20(share), kDim});
  }
  return line;
}

std::string PhaseText(const LiveStatus& status) {
  switch (status.phase) {
    case RunPhase::kPreflight:
      return "preflight: a few calls to the target";
    case RunPhase::kGather:
      return fmt::format("waiting for agents: {} of {} are here", status.agents_present,
                         status.agents_planned);
    case RunPhase::kPrepareRun:
      return "agents take over the plan and the corpus";
    case RunPhase::kReplace:
      return fmt::format("waiting for another agent: {} of {} are here", status.agents_present,
                         status.agents_planned);
    case RunPhase::kStop:
      return fmt::format("stopping, {} calls in flight", status.calls_in_flight);
    default:
      return Name(status.phase);
  }
}

// "agents 2 of 2", with those that are silent or gone by name.
Line LoadLine(const LiveStatus& status) {
  Line line = {{fmt::format("  lanes {} of {} · {} requests in flight · agents {} of {}",
                            status.lanes, status.sessions, status.calls_in_flight,
                            status.agents_present, status.agents_planned)}};
  for (const LiveAgent& agent : status.agents) {
    if (!agent.alive) {
      line.push_back({fmt::format(", {} is lost", agent.name), kBad});
    } else if (agent.silent_for >= limits::kAgentSuspect) {
      line.push_back(
          {fmt::format(", {} is silent for {}", agent.name, ShortTime(agent.silent_for)), kWarn});
    }
  }
  return line;
}

Line TimeLine(const LiveStatus& status) {
  std::string text = fmt::format("  {} so far", ShortTime(status.running_for));
  if (status.run_left > Duration{0}) {
    text += fmt::format(", at most {} to go", ShortTime(status.run_left));
  }
  const bool stopping = status.phase == RunPhase::kStop;
  return {{text + (stopping ? " · Ctrl-C again hangs up on them" : " · Ctrl-C stops and reports"),
           kDim}};
}

// All of it in one line, the most important first.
Line ShortLine(const LiveStatus& status, const Bar& bar) {
  if (!status.step.has_value()) return {{PhaseText(status)}};
  std::string text = fmt::format("{}/{} {} sessions {}", status.place, status.steps_planned,
                                 status.sessions, Name(status.part));
  if (status.part_left) text += " " + ShortTime(*status.part_left);
  for (const PartShown& part : ShownOf(bar, status.numbers)) {
    if (part.n > 0) text += fmt::format(", {} {}", part.name, part.value);
  }
  return {{text}};
}

}  // namespace

std::vector<std::string> ProgressBlock(const LiveStatus& status, const Bar& bar,
                                       const ProgressStyle& style) {
  std::vector<Line> lines;
  if (style.columns < kBlockColumnsMin || style.rows < kBlockRowsMin) {
    lines.push_back(ShortLine(status, bar));
  } else if (!status.step.has_value()) {
    lines = {{{PhaseText(status), kBold}}, TimeLine(status)};
  } else {
    lines = {StepLine(status), LoadLine(status)};
    AddPartLines(bar, status.numbers, &lines);
    lines.push_back(TimeLine(status));
  }
  std::vector<std::string> block;
  for (const Line& line : lines) block.push_back(Render(line, style));
  return block;
}

std::optional<std::string> ProgressLog::Next(const LiveStatus& status, const Bar& bar) {
  if (!status.step.has_value()) return std::nullopt;
  if (status.step != step_) {
    step_ = status.step;
    part_ = StepPart::kPriming;
    said_ = Duration{0};
  }
  const Duration left = status.part_left.value_or(Duration{0});
  if (status.part != part_) {
    part_ = status.part;
    switch (part_) {
      case StepPart::kWarmUp:
        return fmt::format("  warm-up, {} left", ShortTime(left));
      case StepPart::kMeasured:
        return fmt::format("  measuring, {} left", ShortTime(left));
      case StepPart::kCoolDown:
        return fmt::format("  cool-down, at most {} left", ShortTime(left));
      case StepPart::kPriming:
        break;
    }
    return std::nullopt;
  }
  if (part_ != StepPart::kMeasured || !status.measured || *status.measured - said_ < kLogEvery) {
    return std::nullopt;
  }
  said_ = *status.measured / kLogEvery * kLogEvery;
  std::string text = fmt::format("  {}: {} of {} lanes, {} in flight", PartText(status),
                                 status.lanes, status.sessions, status.calls_in_flight);
  for (const PartShown& part : ShownOf(bar, status.numbers)) {
    text += fmt::format("; {} {} ({}, n {})", part.name, part.value, part.limit, part.n);
  }
  const std::string failures = FailuresByOutcome(status.numbers.outcomes);
  return failures.empty() ? text : text + ": " + failures;
}

}  // namespace plimsoll
