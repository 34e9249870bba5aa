#include "coordinator/cli/progress_lines.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/text.h"
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
struct PartSoFar {
  std::string name;   // "TTFT P90".
  std::string value;  // "0.11 s"; "–" without one.
  std::string limit;  // "limit 1 s".
  std::uint64_t n = 0;
  bool enough = false;  // Calls for a percentile with an interval.
  bool within = false;
};

std::uint64_t FailuresOf(const OutcomeCounts& outcomes) {
  std::uint64_t failures = 0;
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    if (IsFailure(static_cast<Outcome>(i))) failures += outcomes[i];
  }
  return failures;
}

PartSoFar TtftSoFar(const Limit& limit, const LiveNumbers& numbers) {
  PartSoFar part{.name = fmt::format("TTFT P{:g}", limit.quantile * 100),
                 .value = numbers.ttft_at_bar_infinite ? "infinite" : "–",
                 .limit = fmt::format("limit {:g} s", limit.value),
                 .n = numbers.ttft_n,
                 .enough = numbers.ttft_n >= FewestForQuantile(limit.quantile)};
  if (!numbers.ttft_at_bar_s.has_value()) return part;
  part.value = ThreeDigits(*numbers.ttft_at_bar_s) + " s";
  part.within = *numbers.ttft_at_bar_s <= limit.value;
  return part;
}

PartSoFar RateSoFar(const Limit& limit, const LiveNumbers& numbers) {
  PartSoFar part{.name = fmt::format("interactivity P{:g}", limit.quantile * 100),
                 .value = "–",
                 .limit = fmt::format("limit {:g} tok/s", limit.value),
                 .n = numbers.rate_n,
                 .enough = numbers.rate_n >= FewestForQuantile(limit.quantile)};
  if (!numbers.rate_at_bar_tok_s.has_value()) return part;
  part.value = ThreeDigits(*numbers.rate_at_bar_tok_s) + " tok/s";
  part.within = *numbers.rate_at_bar_tok_s >= limit.value;
  return part;
}

PartSoFar ErrorsSoFar(const Limit& limit, const LiveNumbers& numbers) {
  PartSoFar part{.name = "errors",
                 .value = "–",
                 .limit = fmt::format("limit {:g}%", limit.value * 100),
                 .n = numbers.attempts,
                 .enough = numbers.attempts > 0};
  if (numbers.attempts == 0) return part;
  const double share =
      static_cast<double>(FailuresOf(numbers.outcomes)) / static_cast<double>(numbers.attempts);
  part.value = fmt::format("{:.2f}%", share * 100);
  part.within = share <= limit.value;
  return part;
}

PartSoFar SoFarOf(const Limit& limit, const LiveNumbers& numbers) {
  switch (limit.metric) {
    case Metric::kTtft:
      return TtftSoFar(limit, numbers);
    case Metric::kInteractivity:
      return RateSoFar(limit, numbers);
    case Metric::kErrors:
      break;
    case Metric::kToolCalls:  // Told by records alone, at the step's end.
      return {.name = "tool calls",
              .value = "–",
              .limit = fmt::format("limit {:g}%", limit.value * 100)};
  }
  return ErrorsSoFar(limit, numbers);
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

Line PartLine(const Limit& limit, const LiveNumbers& numbers) {
  const PartSoFar part = SoFarOf(limit, numbers);
  const bool errors = limit.metric == Metric::kErrors;
  const char* judged = !part.enough ? kPlain : part.within ? kGood : kBad;
  Line line = {{fmt::format("  {:<18}", part.name)},
               {fmt::format("{:<12}", part.value), judged},
               {fmt::format("{:<15}", part.limit), kDim},
               {fmt::format(" {} {}", part.n, errors ? "attempts" : "calls")}};
  if (limit.metric == Metric::kToolCalls) {
    line.back() = {" judged at the step's end", kDim};
  } else if (errors) {
    const std::string failures = FailuresByOutcome(numbers.outcomes);
    if (!failures.empty()) line.push_back({": " + failures, kWarn});
  } else if (!part.enough) {
    line.push_back(
        {fmt::format(", too few to judge: {} needed", FewestForQuantile(limit.quantile)), kDim});
  } else {
    line.push_back({part.within ? ", within so far" : ", over the limit so far", judged});
    if (!part.within && limit.metric == Metric::kInteractivity) {
      line.back().text = ", under the limit so far";
    }
  }
  return line;
}

// "[######------]" for the measured time.
std::string Bar20(double share) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * 20);
  return "[" + std::string(full, '#') + std::string(20 - full, '-') + "]";
}

std::string PlaceOf(const LiveStatus& status) {
  std::string text = status.place > 0
                         ? fmt::format("step {} of {}", status.place, status.steps_planned)
                         : std::string("step");
  if (status.kind != StepKind::kPlanned) text += fmt::format(" ({})", Name(status.kind));
  return text;
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
  const bool alone = !status.ladder.empty() && status.ladder != kMixLadder;
  Line line = {{fmt::format("{}: {}{} sessions", PlaceOf(status), status.sessions,
                            alone ? " " + status.ladder : ""),
                kBold},
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
  for (const Limit& limit : bar.limits) {
    const PartSoFar part = SoFarOf(limit, status.numbers);
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
    for (const Limit& limit : bar.limits) lines.push_back(PartLine(limit, status.numbers));
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
  for (const Limit& limit : bar.limits) {
    const PartSoFar part = SoFarOf(limit, status.numbers);
    text += fmt::format("; {} {} ({}, n {})", part.name, part.value, part.limit, part.n);
  }
  const std::string failures = FailuresByOutcome(status.numbers.outcomes);
  return failures.empty() ? text : text + ": " + failures;
}

}  // namespace plimsoll
