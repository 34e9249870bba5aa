#include "coordinator/run/live_status.h"

#include <algorithm>
#include <utility>

#include "common/base/limits.h"
#include "coordinator/run/ladders.h"

namespace plimsoll {
namespace {

std::optional<double> Scaled(std::optional<std::int64_t> value, double unit) {
  if (!value.has_value()) return std::nullopt;
  return static_cast<double>(*value) / unit;
}

LiveNumbers NumbersOf(const StepIngest& ingest, const Bar& bar) {
  StepSoFar so_far = SoFar(ingest.cells(), bar, ingest.tier_names());
  return {.attempts = ingest.attempts(),
          .outcomes = ingest.outcomes(),
          .ttft_n = so_far.ttft_n,
          .ttft_p90_s = Scaled(so_far.ttft_p90_ns.value, 1e9),
          .rate_n = so_far.rate_n,
          .rate_reached_by_90_tok_s = Scaled(so_far.rate_p90_mtok_s, 1e3),
          .ttft_p90_infinite = so_far.ttft_p90_ns.infinite,
          .parts = std::move(so_far.parts)};
}

Duration Left(MonoTime until, MonoTime now) {
  return std::max<Duration>(Duration{0}, until - now);
}

// The longest that a step can take from PrepareStep on.
Duration Longest(const StepPlan& step) {
  return step.prime_limit + limits::kStartAhead + step.warm_up + step.measure + step.drain_limit;
}

// Part and times of the step that is prepared or running.
void PlaceInStep(const StepPlan& plan, const LiveTimes& times, LiveStatus* status) {
  if (!times.step_start.has_value() || times.now < *times.step_start) {
    status->part = StepPart::kPriming;
    if (times.step_start.has_value()) {
      status->part_left = Left(*times.step_start, times.now);
      status->step_left = Left(*times.step_start + plan.warm_up + plan.measure, times.now);
    } else if (times.prepared.has_value()) {
      status->part_left = Left(*times.prepared + plan.prime_limit + limits::kStartAhead, times.now);
    }
    return;
  }
  const MonoTime measure_from = *times.step_start + plan.warm_up;
  const MonoTime measure_to = measure_from + plan.measure;
  status->step_left = Left(measure_to, times.now);
  if (times.now < measure_from) {
    status->part = StepPart::kWarmUp;
    status->part_left = Left(measure_from, times.now);
    return;
  }
  status->measured = std::min<Duration>(times.now - measure_from, plan.measure);
  status->part = times.now < measure_to ? StepPart::kMeasured : StepPart::kCoolDown;
  status->part_left = times.now < measure_to ? Left(measure_to, times.now)
                                             : Left(measure_to + plan.drain_limit, times.now);
}

// The longest that the run can still take without repeats.
Duration RunLeft(const RunSettings& settings, const MachineState& state, const LiveStatus& status,
                 const LiveTimes& times) {
  if (state.phase == RunPhase::kStop) return Left(times.stopped_by.value_or(times.now), times.now);
  if (state.phase == RunPhase::kSettle) {
    const Duration limit = settings.back_limit.value_or(Duration{0});
    return Left(times.settle_from.value_or(times.now) + limit, times.now);
  }
  if (state.phase == RunPhase::kDone) return Duration{0};
  const std::uint32_t reached =
      status.step.has_value() ? status.sessions
      : OfLadder(state.history, LadderName(settings, state.ladder)).empty()
          ? 0
          : state.history.back().sessions;
  const std::vector<std::uint32_t>& sessions = SessionsOf(settings, state.ladder);
  const bool climbing = !status.step.has_value() || status.kind != StepKind::kRefinement;
  const auto ahead = (climbing ? std::count_if(sessions.begin(), sessions.end(),
                                               [&](std::uint32_t n) { return n > reached; })
                               : 0) +
                     static_cast<std::int64_t>(StepsPlannedFrom(settings, state.ladder + 1));
  // Calls released after the last step's measured time are waited for as well.
  Duration left = Longest(settings.step) * ahead + settings.step.drain_limit;
  if (!status.step.has_value()) return left;
  const StepPlan& plan = state.step;
  if (times.step_start.has_value()) {
    return left +
           Left(*times.step_start + plan.warm_up + plan.measure + plan.drain_limit, times.now);
  }
  return left + Left(times.prepared.value_or(times.now) + Longest(plan), times.now);
}

void AddAgents(const Fleet& fleet, LiveStatus* status) {
  status->agents_planned = fleet.size();
  status->agents_present = fleet.present();
  if (!fleet.complete()) return;
  for (std::uint32_t slot = 0; slot < fleet.size(); ++slot) {
    const Hello& hello = fleet.hello(slot);
    status->agents.push_back({.slot = slot,
                              .name = hello.name,
                              .alive = fleet.alive(slot),
                              .cores = hello.cores,
                              .memory_bytes = hello.memory_bytes,
                              .lanes = fleet.lanes(slot),
                              .calls_in_flight = fleet.calls_in_flight(slot),
                              .silent_for = fleet.silent_for(slot)});
    status->lanes += status->agents.back().lanes;
    status->calls_in_flight += status->agents.back().calls_in_flight;
  }
}

}  // namespace

const char* Name(StepPart part) {
  switch (part) {
    case StepPart::kPriming:
      return "priming";
    case StepPart::kWarmUp:
      return "warm-up";
    case StepPart::kMeasured:
      return "measuring";
    case StepPart::kCoolDown:
      return "cool-down";
  }
  return "?";
}

LiveStatus MakeLiveStatus(const RunSettings& settings, const MachineState& state,
                          const Fleet& fleet, const StepIngest* ingest, const Bar& bar,
                          const LiveTimes& times) {
  LiveStatus status;
  status.phase = state.phase;
  status.running_for = times.now - times.begun;
  status.steps_planned = static_cast<std::uint32_t>(StepsPlannedFrom(settings, 0));
  status.steps_judged = static_cast<std::uint32_t>(state.history.size());
  AddAgents(fleet, &status);
  if (state.phase == RunPhase::kPrepareStep || state.phase == RunPhase::kStep) {
    status.step = state.step.step;
    status.sessions = state.step.sessions;
    status.kind = state.origin.kind;
    status.ladder = state.origin.ladder;
    const std::vector<std::uint32_t>& sessions = SessionsOf(settings, state.ladder);
    const auto at = std::find(sessions.begin(), sessions.end(), state.step.sessions);
    if (at != sessions.end()) {
      const std::size_t before =
          StepsPlannedFrom(settings, 0) - StepsPlannedFrom(settings, state.ladder);
      status.place = static_cast<std::uint32_t>(before + (at - sessions.begin())) + 1;
    }
    PlaceInStep(state.step, times, &status);
    if (ingest != nullptr) status.numbers = NumbersOf(*ingest, bar);
  }
  status.run_left = RunLeft(settings, state, status, times);
  return status;
}

}  // namespace plimsoll
