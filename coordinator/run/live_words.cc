#include "coordinator/run/live_words.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/proportion.h"

namespace plimsoll {
namespace {

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

}  // namespace

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
  for (const Limit& limit : bar.limits) {
    const PartSoFar part = SoFarOf(limit, numbers);
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
    case RunPhase::kReplace:
      return fmt::format("waiting for another agent: {} of {} are here", status.agents_present,
                         status.agents_planned);
    case RunPhase::kStop:
      return fmt::format("stopping, {} calls in flight", status.calls_in_flight);
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
