#include "common/wire/tally_codec.h"

#include <bitset>
#include <cmath>
#include <utility>

#include "common/base/limits.h"
#include "common/wire/checks.h"
#include "common/wire/eval_codec.h"
#include "common/wire/host_load_codec.h"
#include "common/wire/parse.h"
#include "plimsoll/v1/records.pb.h"

namespace plimsoll {
namespace {

using wire::Checks;

void ToProto(const PlaySums& sums, v1::PlaySums* out) {
  out->set_plays(sums.plays);
  out->set_calls_total(sums.calls_total);
  out->set_calls_skipped(sums.calls_skipped);
  out->set_calls_before(sums.calls_before);
  out->set_calls_released(sums.calls_released);
  out->set_calls_remaining(sums.calls_remaining);
  out->set_mixed(sums.mixed);
}

// Of all lanes together they stay far from overflow.
std::uint64_t Calls(std::uint64_t count, std::string_view field, Checks* checks) {
  checks->Require(count <= wire::kCallsOfLaneMax, field, "at most 2^40");
  return count;
}

PlaySums FromProto(const v1::PlaySums& in, Checks* checks) {
  return {.plays = Calls(in.plays(), "plays.plays", checks),
          .calls_total = Calls(in.calls_total(), "plays.calls_total", checks),
          .calls_skipped = Calls(in.calls_skipped(), "plays.calls_skipped", checks),
          .calls_before = Calls(in.calls_before(), "plays.calls_before", checks),
          .calls_released = Calls(in.calls_released(), "plays.calls_released", checks),
          .calls_remaining = Calls(in.calls_remaining(), "plays.calls_remaining", checks),
          .mixed = in.mixed()};
}

void ToProto(const FailedPlays& plays, v1::FailedPlays* out) {
  out->set_block(plays.block);
  out->set_plays(plays.plays);
  out->set_calls_remaining(plays.calls_remaining);
  out->set_silent_ns(plays.silent_ns);
}

FailedPlays FromProto(const v1::FailedPlays& in, Checks* checks) {
  checks->Require(in.plays() > 0, "failed_plays.plays", "at least 1");
  return {.block = checks->Below(in.block(), limits::kBlocksMax, "failed_plays.block"),
          .plays = in.plays(),
          .calls_remaining = Calls(in.calls_remaining(), "failed_plays.calls_remaining", checks),
          .silent_ns = checks->Span(in.silent_ns(), "failed_plays.silent_ns").count()};
}

void ToProto(const FidelityCounts& counts, v1::LaneTally* out) {
  out->set_pauses(counts.pauses);
  out->set_pause_recorded_ns(counts.pause_recorded_ns);
  out->set_pause_removed_ns(counts.pause_removed_ns);
  out->set_answers_kept(counts.answers_kept);
  out->set_answers_over_limit(counts.answers_over_limit);
  out->set_answers_without_content(counts.answers_without_content);
  out->set_turns_live(counts.turns_live);
  out->set_turns_recorded(counts.turns_recorded);
}

FidelityCounts ReadFidelity(const v1::LaneTally& in, Checks* checks) {
  FidelityCounts counts;
  counts.pauses = in.pauses();
  // A recorded pause may be of weeks, and a lane has many: the sum is bounded by the type's half.
  checks->Require(in.pause_recorded_ns() >= 0 && in.pause_recorded_ns() <= wire::kInstantMaxNs,
                  "pause_recorded_ns", "not negative, at most 2^61");
  checks->Require(in.pause_removed_ns() >= 0 && in.pause_removed_ns() <= in.pause_recorded_ns(),
                  "pause_removed_ns", "from 0 to pause_recorded_ns");
  counts.pause_recorded_ns = in.pause_recorded_ns();
  counts.pause_removed_ns = in.pause_removed_ns();
  counts.answers_kept = in.answers_kept();
  counts.answers_over_limit = in.answers_over_limit();
  counts.answers_without_content = in.answers_without_content();
  counts.turns_live = in.turns_live();
  counts.turns_recorded = in.turns_recorded();
  return counts;
}

void ToProto(const LaneTally& lane, v1::LaneTally* out) {
  const auto ns = [&](LaneState state) { return lane.state_ns[static_cast<std::size_t>(state)]; };
  out->set_lane(lane.lane);
  out->set_tier(lane.tier);
  out->set_in_flight_ns(ns(LaneState::kInFlight));
  out->set_planned_delay_ns(ns(LaneState::kPlannedDelay));
  out->set_refused_ns(ns(LaneState::kRefused));
  out->set_late_ns(ns(LaneState::kLate));
  out->set_client_error_ns(ns(LaneState::kClientError));
  out->set_dead_man_ns(ns(LaneState::kDeadMan));
  out->set_no_session_ns(ns(LaneState::kNoSession));
  ToProto(lane.plays, out->mutable_plays());
  for (const FailedPlays& plays : lane.failed_plays) ToProto(plays, out->add_failed_plays());
  ToProto(lane.fidelity, out);
}
static_assert(kLaneStates == 7, "a new state needs a field in plimsoll.v1.LaneTally");

StatusOr<LaneTally> FromProto(const v1::LaneTally& in) {
  Checks checks("LaneTally");
  LaneTally lane;
  lane.lane = checks.Below(in.lane(), limits::kLanesMax, "lane");
  lane.tier = static_cast<std::uint8_t>(checks.Below(in.tier(), limits::kTiersMax, "tier"));
  const auto set = [&](LaneState state, std::int64_t ns, std::string_view field) {
    lane.state_ns[static_cast<std::size_t>(state)] = checks.Span(ns, field).count();
  };
  set(LaneState::kInFlight, in.in_flight_ns(), "in_flight_ns");
  set(LaneState::kPlannedDelay, in.planned_delay_ns(), "planned_delay_ns");
  set(LaneState::kRefused, in.refused_ns(), "refused_ns");
  set(LaneState::kLate, in.late_ns(), "late_ns");
  set(LaneState::kClientError, in.client_error_ns(), "client_error_ns");
  set(LaneState::kDeadMan, in.dead_man_ns(), "dead_man_ns");
  set(LaneState::kNoSession, in.no_session_ns(), "no_session_ns");
  checks.Require(in.has_plays(), "plays", "there");
  checks.Require(static_cast<std::size_t>(in.failed_plays_size()) <= wire::kFailedPlaysMax,
                 "failed_plays", "at most 4352");
  lane.fidelity = ReadFidelity(in, &checks);
  if (!checks.ok()) return checks.status();
  lane.plays = FromProto(in.plays(), &checks);
  lane.failed_plays.reserve(static_cast<std::size_t>(in.failed_plays_size()));
  for (const v1::FailedPlays& plays : in.failed_plays()) {
    lane.failed_plays.push_back(FromProto(plays, &checks));
  }
  if (!checks.ok()) return checks.status();
  return lane;
}

// The outcomes as listed, each at most once.
OutcomeCounts ReadOutcomes(const v1::StepTally& in, Checks* checks) {
  OutcomeCounts counts{};
  std::bitset<kOutcomes> seen;
  for (const v1::OutcomeCount& entry : in.outcomes()) {
    const auto outcome = static_cast<unsigned>(entry.outcome());
    checks->Require(IsOutcome(outcome), "outcomes.outcome", "a known outcome");
    if (!checks->ok()) break;
    checks->Require(!seen[outcome], "outcomes.outcome", "listed once");
    seen.set(outcome);
    counts[outcome] = entry.count();
  }
  return counts;
}

}  // namespace

void ToProto(const StepTally& tally, v1::StepTally* out) {
  out->Clear();
  out->set_step(tally.step);
  out->set_attempts_released(tally.attempts_released);
  for (std::size_t outcome = 1; outcome < kOutcomes; ++outcome) {
    if (tally.outcomes[outcome] == 0) continue;
    v1::OutcomeCount* entry = out->add_outcomes();
    entry->set_outcome(static_cast<v1::CallOutcome>(outcome));
    entry->set_count(tally.outcomes[outcome]);
  }
  out->set_in_flight_request_ns(tally.in_flight_request_ns);
  out->set_start_error_ns(tally.start_error_ns);
  out->set_lateness_max_ns(tally.lateness_max_ns);
  out->set_lateness_p99_ns(tally.lateness_p99_ns);
  out->set_loop_lag_max_ns(tally.loop_lag_max_ns);
  out->set_loop_stalled_ns(tally.loop_stalled_ns);
  out->set_wall_moved_ns(tally.wall_moved_ns);
  out->set_cpu_share_max(tally.cpu_share_max);
  ToProto(tally.host, out->mutable_host());
  out->set_records_lost(tally.records_lost);
  for (const LaneTally& lane : tally.lanes) ToProto(lane, out->add_lanes());
  out->set_evals_asked(tally.evals_asked);
  wire::WriteEvalCounts(tally.evals, out);
}

StatusOr<StepTally> FromProto(const v1::StepTally& in) {
  Checks checks("StepTally");
  StepTally tally;
  tally.step = checks.Below(in.step(), limits::kStepsMax, "step");
  tally.attempts_released = in.attempts_released();
  tally.outcomes = ReadOutcomes(in, &checks);
  checks.Require(in.in_flight_request_ns() >= 0, "in_flight_request_ns", "must not be negative");
  tally.in_flight_request_ns = in.in_flight_request_ns();
  tally.start_error_ns = checks.Offset(in.start_error_ns(), "start_error_ns");
  tally.lateness_max_ns = checks.Span(in.lateness_max_ns(), "lateness_max_ns").count();
  tally.lateness_p99_ns = checks.Span(in.lateness_p99_ns(), "lateness_p99_ns").count();
  tally.loop_lag_max_ns = checks.Span(in.loop_lag_max_ns(), "loop_lag_max_ns").count();
  tally.loop_stalled_ns = checks.Span(in.loop_stalled_ns(), "loop_stalled_ns").count();
  checks.Require(std::isfinite(in.cpu_share_max()) && in.cpu_share_max() >= 0, "cpu_share_max",
                 "finite and not negative");
  tally.cpu_share_max = in.cpu_share_max();
  tally.wall_moved_ns = checks.Offset(in.wall_moved_ns(), "wall_moved_ns");
  tally.host = ReadHostLoad(in.host(), &checks);
  tally.records_lost = in.records_lost();
  checks.Require(static_cast<std::uint32_t>(in.lanes_size()) <= limits::kLanesMax, "lanes",
                 "at most 16384");
  checks.Require(in.evals_asked() <= wire::kCallsOfLaneMax, "evals_asked", "at most 2^40");
  if (!checks.ok()) return checks.status();
  tally.evals_asked = in.evals_asked();
  ASSIGN_OR_RETURN(tally.evals, wire::ReadEvalCounts(in));
  std::bitset<limits::kLanesMax> seen;
  for (const v1::LaneTally& lane : in.lanes()) {
    ASSIGN_OR_RETURN(LaneTally read, FromProto(lane));
    checks.Require(!seen[read.lane], "lanes.lane", "listed once");
    if (!checks.ok()) return checks.status();
    seen.set(read.lane);
    tally.lanes.push_back(std::move(read));
  }
  return tally;
}

}  // namespace plimsoll
