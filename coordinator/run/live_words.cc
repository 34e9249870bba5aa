#include "coordinator/run/live_words.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"

namespace plimsoll {
namespace {

// Told by records alone, at the step's end.
bool AtTheEnd(const Limit& limit) {
  return limit.metric == Metric::kToolCalls;
}

PartSoFar InWords(const Limit& limit, const LimitSoFar& so_far) {
  const MetricTraits& traits = TraitsOf(limit.metric);
  PartSoFar part{.name = PartName(limit),
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

}  // namespace

std::vector<PartSoFar> PartsOf(const LiveNumbers& numbers, const Bar& bar) {
  std::vector<PartSoFar> parts;
  for (std::size_t i = 0; i < bar.limits.size(); ++i) {
    const bool known = i < numbers.parts.size();
    parts.push_back(InWords(bar.limits[i], known ? numbers.parts[i] : LimitSoFar{}));
  }
  return parts;
}

std::string FailuresByOutcome(const OutcomeCounts& outcomes) {
  std::string text;
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (outcome == Outcome::kOk || outcomes[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", outcomes[i], Name(outcome));
  }
  return text;
}

std::string PartsSoFar(const LiveNumbers& numbers, const Bar& bar) {
  std::string text;
  for (const PartSoFar& part : PartsOf(numbers, bar)) {
    text += fmt::format("; {} {} ({}, n {})", part.name, part.value, part.limit, part.n);
  }
  const std::string failures = FailuresByOutcome(numbers.outcomes);
  return failures.empty() ? text : text + ": " + failures;
}

std::string PlaceOf(const LiveStatus& status) {
  std::string text = status.place > 0
                         ? fmt::format("step {} of {}", status.place, status.steps_planned)
                         : std::string("step");
  if (status.kind != StepKind::kPlanned) text += fmt::format(" ({})", Name(status.kind));
  return text;
}

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

std::string PhaseText(const LiveStatus& status) {
  switch (status.phase) {
    case RunPhase::kPreflight:
      return "preflight: a few calls to the target";
    case RunPhase::kGather:
      return fmt::format("waiting for agents: {} of {} are here", status.agents_present,
                         status.agents_planned);
    case RunPhase::kPrepareRun:
      return "agents take over the plan and the corpus";
    case RunPhase::kMiniEvals:
      return "evals without load, before the first step";
    case RunPhase::kReplace:
      return fmt::format("waiting for another agent: {} of {} are here", status.agents_present,
                         status.agents_planned);
    case RunPhase::kStop:
      return fmt::format("stopping, {} calls in flight", status.calls_in_flight);
    case RunPhase::kSettle:
      return "waiting until the deployment is back where it was before the run";
    default:
      return Name(status.phase);
  }
}

std::string NowSentence(const LiveStatus& status, const Bar& bar) {
  std::string text =
      status.step
          ? fmt::format("{}: {} sessions, {}; {} of {} lanes, {} in flight{}", PlaceOf(status),
                        status.sessions, PartText(status), status.lanes, status.sessions,
                        status.calls_in_flight, PartsSoFar(status.numbers, bar))
          : PhaseText(status);
  text += fmt::format("; {} of {} agents; {} so far", status.agents_present, status.agents_planned,
                      ShortTime(status.running_for));
  if (status.run_left > Duration{0}) {
    text += fmt::format(", at most {} to go", ShortTime(status.run_left));
  }
  return text;
}

}  // namespace plimsoll
