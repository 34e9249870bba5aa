#include "coordinator/cli/progress_lines.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/text.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/run/live_words.h"

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

Line PartLine(const Limit& limit, const PartSoFar& part, std::size_t name_columns,
              const LiveNumbers& numbers) {
  const bool errors = limit.metric == Metric::kErrors;
  const char* judged = !part.enough ? kPlain : part.within ? kGood : kBad;
  Line line = {{fmt::format("  {:<{}}", part.name, name_columns)},
               {fmt::format("{:<12}", part.value), judged},
               {fmt::format("{:<15}", part.limit), kDim},
               {fmt::format(" {} {}", part.n, errors ? "attempts" : "calls")}};
  if (limit.metric == Metric::kToolCalls) {
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
  const std::vector<PartSoFar> texts = PartsOf(numbers, bar);
  std::size_t columns = 18;
  for (const PartSoFar& part : texts) columns = std::max(columns, part.name.size() + 1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lines->push_back(PartLine(bar.limits[i], texts[i], columns, numbers));
  }
}

// "[######------]" for the measured time.
std::string Bar20(double share) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * 20);
  return "[" + std::string(full, '#') + std::string(20 - full, '-') + "]";
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
  for (const PartSoFar& part : PartsOf(status.numbers, bar)) {
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
  block.reserve(lines.size());
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
  return fmt::format("  {}: {} of {} lanes, {} in flight{}", PartText(status), status.lanes,
                     status.sessions, status.calls_in_flight, PartsSoFar(status.numbers, bar));
}

}  // namespace plimsoll
