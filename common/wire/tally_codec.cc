#include "common/wire/tally_codec.h"

#include <bitset>
#include <cmath>
#include <utility>

#include "common/base/limits.h"
#include "common/wire/checks.h"
#include "common/wire/parse.h"
#include "plimsoll/v1/records.pb.h"

namespace plimsoll {
namespace {

using wire::Checks;

void ToProto(const PlayTally& play, v1::PlayTally* out) {
  out->set_play(play.play);
  out->set_calls_total(play.calls_total);
  out->set_calls_skipped(play.calls_skipped);
  out->set_calls_before(play.calls_before);
  out->set_calls_released(play.calls_released);
  out->set_calls_remaining(play.calls_remaining);
  if (play.failed) {
    v1::PlayTally::Failure* failure = out->mutable_failure();
    failure->set_block_code(wire::BlockCode(play.failed_block));
    failure->set_at_ns(play.failed_at_ns);
    failure->set_next_play_at_ns(play.next_play_at_ns);
    failure->set_client_fault(play.client_fault);
  }
}

PlayTally FromProto(const v1::PlayTally& in, Checks* checks) {
  PlayTally play;
  play.play = in.play();
  play.calls_total = in.calls_total();
  play.calls_skipped = in.calls_skipped();
  play.calls_before = in.calls_before();
  play.calls_released = in.calls_released();
  play.calls_remaining = in.calls_remaining();
  if (in.has_failure()) {
    const v1::PlayTally::Failure& failure = in.failure();
    play.failed = true;
    play.failed_block = wire::BlockOf(failure.block_code(), "plays.failure.block_code", checks);
    play.failed_at_ns = checks->Offset(failure.at_ns(), "plays.failure.at_ns");
    play.next_play_at_ns =
        checks->Offset(failure.next_play_at_ns(), "plays.failure.next_play_at_ns");
    play.client_fault = failure.client_fault();
  }
  return play;
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
  for (const PlayTally& play : lane.plays) ToProto(play, out->add_plays());
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
  checks.Require(static_cast<std::size_t>(in.plays_size()) <= wire::kPlaysPerLaneMax, "plays",
                 "at most 65536");
  lane.fidelity = ReadFidelity(in, &checks);
  if (!checks.ok()) return checks.status();
  lane.plays.reserve(static_cast<std::size_t>(in.plays_size()));
  for (const v1::PlayTally& play : in.plays()) lane.plays.push_back(FromProto(play, &checks));
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
  out->set_cpu_share_max(tally.cpu_share_max);
  out->set_records_lost(tally.records_lost);
  for (const LaneTally& lane : tally.lanes) ToProto(lane, out->add_lanes());
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
  tally.records_lost = in.records_lost();
  checks.Require(static_cast<std::uint32_t>(in.lanes_size()) <= limits::kLanesMax, "lanes",
                 "at most 16384");
  if (!checks.ok()) return checks.status();
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

std::string EncodeTally(const StepTally& tally) {
  v1::StepTally message;
  ToProto(tally, &message);
  return message.SerializeAsString();
}

StatusOr<StepTally> DecodeTally(std::string_view bytes) {
  v1::StepTally message;
  if (!wire::Parse(bytes, &message)) {
    return absl::InvalidArgumentError("StepTally: not a message");
  }
  return FromProto(message);
}

}  // namespace plimsoll
