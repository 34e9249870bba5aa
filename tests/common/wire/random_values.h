// Seeded random values of what travels, each within the ranges that the reader accepts.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/plan/messages.h"
#include "common/wire/wire_limits.h"

namespace plimsoll::test {

// Small and large alike: the magnitude is drawn first. At most `max`.
inline std::uint64_t AnyUpTo(Rng* rng, std::uint64_t max) {
  const std::uint64_t bits = rng->Below(65);
  const std::uint64_t value = bits == 0 ? 0 : rng->Next() >> (64 - bits);
  return value <= max ? value : value % (max + 1);
}
inline std::uint32_t Any32(Rng* rng, std::uint64_t max = 0xFFFFFFFFu) {
  return static_cast<std::uint32_t>(AnyUpTo(rng, max));
}
inline std::int64_t AnySpanNs(Rng* rng) {
  return static_cast<std::int64_t>(
      AnyUpTo(rng, static_cast<std::uint64_t>(Duration(wire::kSpanMax).count())));
}
inline std::int64_t AnyOffsetNs(Rng* rng) {
  return rng->Chance(0.5) ? AnySpanNs(rng) : -AnySpanNs(rng);
}
inline std::string AnyDigest(Rng* rng) {
  std::string digest;
  for (int i = 0; i < 64; ++i) digest += "0123456789abcdef"[rng->Below(16)];
  return digest;
}
inline std::string AnyName(Rng* rng, std::uint64_t bytes_max = wire::kNameBytesMax) {
  std::string name(1 + AnyUpTo(rng, bytes_max - 1), ' ');
  for (char& c : name) c = static_cast<char>(' ' + rng->Below(95));
  return name;
}
inline std::uint32_t AnyBlock(Rng* rng) {
  if (rng->Chance(0.2)) return rng->Chance(0.5) ? kWarmUpBlock : kCoolDownBlock;
  return Any32(rng, limits::kBlocksMax - 1);
}

inline ToolFaultBits AnyFaults(Rng* rng) {
  return static_cast<ToolFaultBits>(Any32(rng, (1u << kToolFaults) - 1) & ~1u);
}

inline CallRecord AnyRecord(Rng* rng) {
  CallRecord r;
  r.step = Any32(rng, limits::kStepsMax - 1);
  r.lane = Any32(rng, limits::kLanesMax - 1);
  r.play = Any32(rng);
  r.session = Any32(rng);
  r.call = Any32(rng, limits::kCallsPerSessionMax - 1);
  r.stream = static_cast<std::uint16_t>(Any32(rng, 0xFFFF));
  r.attempt = static_cast<std::uint8_t>(1 + rng->Below(255));
  r.tier = static_cast<std::uint8_t>(rng->Below(limits::kTiersMax));
  r.block = AnyBlock(rng);
  r.released = AnyOffsetNs(rng);
  r.first_released = r.released - AnySpanNs(rng);
  const std::int64_t duration = AnySpanNs(rng);
  r.end = r.released + duration;
  const auto stamp = [&] {
    if (rng->Chance(0.3)) return kAbsentNanos;
    const auto after = AnyUpTo(rng, static_cast<std::uint64_t>(duration));
    return r.released + static_cast<std::int64_t>(after);
  };
  r.connecting = stamp();
  r.sent = stamp();
  r.upload_done = stamp();
  r.headers = stamp();
  r.first_chunk = stamp();
  r.first_token = stamp();
  if (r.first_token != kAbsentNanos) {
    const auto left = static_cast<std::uint64_t>(r.end - r.first_token);
    r.last_token = r.first_token + static_cast<std::int64_t>(AnyUpTo(rng, left));
  }
  const auto tokens = [&] { return rng->Chance(0.2) ? kAbsentTokens : Any32(rng); };
  r.tokens_in = tokens();
  r.tokens_cached = tokens();
  r.tokens_out = tokens();
  r.tokens_first_chunk = tokens();
  r.chunks = Any32(rng);
  r.messages = Any32(rng);
  r.tokens_asked = Any32(rng);
  r.answer = static_cast<std::uint8_t>(rng->Below(32));
  if ((r.answer & 3) == 3) r.answer &= ~1;  // Valid and invalid exclude each other.
  if ((r.answer & kToolCallsInvalid) != 0) r.tool_faults = AnyFaults(rng);
  r.tokens_planned = Any32(rng);
  r.http_status = static_cast<std::uint16_t>(rng->Chance(0.3) ? 0 : 100 + rng->Below(900));
  r.outcome = static_cast<Outcome>(1 + rng->Below(kOutcomes - 1));
  r.flags = static_cast<std::uint8_t>(rng->Below(16));
  r.resends = static_cast<std::uint8_t>(rng->Below(256));
  return r;
}

inline EvalRecord AnyEval(Rng* rng) {
  EvalRecord e;
  e.step = rng->Chance(0.3) ? kEvalMiniRun : Any32(rng, limits::kStepsMax - 1);
  e.lane = Any32(rng, limits::kLanesMax - 1);
  e.case_index = Any32(rng, limits::kEvalCasesMax - 1);
  e.turn = Any32(rng);
  e.block = AnyBlock(rng);
  e.released = AnyOffsetNs(rng);
  e.end = e.released + AnySpanNs(rng);
  e.http_status = static_cast<std::uint16_t>(rng->Chance(0.3) ? 0 : 100 + rng->Below(900));
  e.call = static_cast<Outcome>(1 + rng->Below(kOutcomes - 1));
  e.outcome = static_cast<EvalOutcome>(1 + rng->Below(kEvalOutcomes - 1));
  e.tool_faults = AnyFaults(rng);
  return e;
}

inline RecordBatch AnyBatch(Rng* rng) {
  RecordBatch batch;
  batch.agent_slot = Any32(rng, limits::kAgentsMax - 1);
  batch.incarnation = 1 + AnyUpTo(rng, ~std::uint64_t{1});
  batch.sequence = 1 + AnyUpTo(rng, ~std::uint64_t{1});
  batch.records.resize(AnyUpTo(rng, limits::kBatchRecordsMax));
  for (CallRecord& record : batch.records) record = AnyRecord(rng);
  batch.evals.resize(rng->Chance(0.5) ? 0 : AnyUpTo(rng, limits::kBatchRecordsMax));
  for (EvalRecord& eval : batch.evals) eval = AnyEval(rng);
  return batch;
}

inline HostLoad AnyHostLoad(Rng* rng) {
  HostLoad load;
  for (auto* share : {&load.cores_used_max, &load.cores, &load.thread_share_max}) {
    if (rng->Chance(0.7)) *share = rng->Uniform() * 64;
  }
  for (auto* ns : {&load.throttled_ns, &load.stolen_ns}) {
    if (rng->Chance(0.7)) *ns = AnySpanNs(rng);
  }
  for (auto* count :
       {&load.descriptors_max, &load.descriptors_limit, &load.ports_max, &load.ports_limit}) {
    if (rng->Chance(0.7)) *count = AnyUpTo(rng, ~std::uint64_t{0});
  }
  return load;
}

inline StepTally AnyTally(Rng* rng) {
  StepTally tally;
  tally.step = Any32(rng, limits::kStepsMax - 1);
  tally.attempts_released = rng->Next();
  for (std::size_t i = 1; i < kOutcomes; ++i) tally.outcomes[i] = AnyUpTo(rng, ~std::uint64_t{0});
  tally.in_flight_request_ns = AnySpanNs(rng);
  tally.start_error_ns = AnyOffsetNs(rng);
  tally.lateness_max_ns = AnySpanNs(rng);
  tally.lateness_p99_ns = AnySpanNs(rng);
  tally.loop_lag_max_ns = AnySpanNs(rng);
  tally.loop_stalled_ns = AnySpanNs(rng);
  tally.wall_moved_ns = AnyOffsetNs(rng);
  tally.cpu_share_max = rng->Uniform() * 2;
  tally.host = AnyHostLoad(rng);
  tally.records_lost = AnyUpTo(rng, ~std::uint64_t{0});
  tally.evals_asked = AnyUpTo(rng, wire::kCallsOfLaneMax);
  for (std::size_t i = 1; i < kEvalOutcomes; ++i) {
    tally.evals.by_outcome[i] = AnyUpTo(rng, wire::kCallsOfLaneMax);
  }
  const std::size_t lanes = rng->Below(6);
  for (std::size_t i = 0; i < lanes; ++i) {
    LaneTally lane;
    lane.lane = static_cast<std::uint32_t>(i * 700 + rng->Below(700) % 590);
    lane.tier = static_cast<std::uint8_t>(rng->Below(limits::kTiersMax));
    for (std::int64_t& ns : lane.state_ns) ns = AnySpanNs(rng);
    lane.fidelity.pauses = rng->Next();
    lane.fidelity.pause_recorded_ns = AnySpanNs(rng);
    lane.fidelity.pause_removed_ns = static_cast<std::int64_t>(
        AnyUpTo(rng, static_cast<std::uint64_t>(lane.fidelity.pause_recorded_ns)));
    lane.fidelity.answers_kept = rng->Next();
    lane.fidelity.answers_over_limit = rng->Next();
    lane.fidelity.answers_without_content = rng->Next();
    lane.fidelity.turns_live = rng->Next();
    lane.fidelity.turns_recorded = rng->Next();
    for (std::uint64_t* count :
         {&lane.plays.plays, &lane.plays.calls_total, &lane.plays.calls_skipped,
          &lane.plays.calls_before, &lane.plays.calls_released, &lane.plays.calls_remaining}) {
      *count = AnyUpTo(rng, std::uint64_t{1} << 40);
    }
    lane.plays.mixed = Any32(rng);
    lane.failed_plays.resize(rng->Below(5));
    for (FailedPlays& failed : lane.failed_plays) {
      failed.block = static_cast<std::uint32_t>(rng->Below(limits::kBlocksMax));
      failed.plays = 1 + static_cast<std::uint32_t>(rng->Below(1000));
      failed.calls_remaining = AnyUpTo(rng, std::uint64_t{1} << 40);
      failed.silent_ns = AnySpanNs(rng);
    }
    tally.lanes.push_back(std::move(lane));
  }
  return tally;
}

inline OutcomeSet AnyOutcomes(Rng* rng) {
  return OutcomeSet::FromBits(Any32(rng) & kAnsweredFailures.bits());
}

inline RunPlan AnyRunPlan(Rng* rng) {
  const auto positive = [&] { return Duration(1 + AnySpanNs(rng) / 2); };
  RunPlan plan;
  plan.run_id = AnyName(rng);
  plan.seed = rng->Next();
  plan.nonce = rng->Next();
  plan.corpus_digest = AnyDigest(rng);
  plan.tiers.resize(1 + rng->Below(limits::kTiersMax));
  for (TierPlan& tier : plan.tiers) {
    tier = {.name = AnyName(rng),
            .tier = static_cast<Tier>(1 + rng->Below(3)),
            .share = 1 + Any32(rng, 0xFFFFFFFEu)};
  }
  plan.think_time = rng->Chance(0.5) ? ThinkTime::kRecorded : ThinkTime::kNone;
  plan.think_time_cap = Duration(AnySpanNs(rng));
  plan.output_divisor = 1 + Any32(rng, 0xFFFFFFFEu);
  plan.isolate_prefixes = rng->Chance(0.5);
  plan.output_mode = static_cast<OutputMode>(rng->Below(3));
  if (plan.output_mode == OutputMode::kFixed) plan.output_tokens = 1 + Any32(rng, 0xFFFFFFFEu);
  plan.failure.attempts_max = static_cast<std::uint32_t>(1 + rng->Below(255));
  plan.failure.back_off_max = positive();
  plan.failure.back_off_min = std::min(plan.failure.back_off_max, positive());
  plan.failure.honour_retry_after = rng->Chance(0.5);
  plan.failure.retry_after_max = Duration(AnySpanNs(rng));
  plan.failure.retry = AnyOutcomes(rng);
  plan.failure.end_play = AnyOutcomes(rng);
  plan.failure.silence = rng->Chance(0.5) ? Silence::kStream : Silence::kLane;
  plan.context_limit = {Any32(rng), static_cast<OverLimit>(rng->Below(kOverLimitPolicies))};
  plan.history = rng->Chance(0.5) ? History::kLive : History::kRecorded;
  TargetPlan& target = plan.target;
  target.url = "https://" + AnyName(rng) + "x";
  target.model = AnyName(rng);
  target.bearer_env = rng->Chance(0.5) ? "" : AnyName(rng);
  target.ca_file = rng->Chance(0.5) ? "" : "/\xff/" + AnyName(rng);  // Paths are any bytes.
  for (std::uint64_t i = rng->Below(wire::kHeadersMax + 1); i > 0; --i) {
    target.headers.emplace_back(AnyName(rng), rng->Chance(0.2) ? "" : "\xe9" + AnyName(rng));
  }
  target.affinity_play_header = rng->Chance(0.5) ? "" : AnyName(rng);
  target.affinity_parent_header = rng->Chance(0.5) ? "" : AnyName(rng);
  target.max_tokens = 1 + Any32(rng, 0xFFFFFFFEu);
  target.min_tokens_accepted = rng->Chance(0.5);
  target.ignore_eos_accepted = rng->Chance(0.5);
  target.tools = rng->Chance(0.5);
  if (rng->Chance(0.5)) target.extra_body = R"("top_k":1,"x":{"y":[null,-1.5e3,"\u00e9"]})";
  if (rng->Chance(0.5)) {
    plan.liveness_percent = 10 + AnyUpTo(rng, 90);
    plan.evals = EvalPlan{.set_text = AnyName(rng) + "\n\xff",
                          .share = 0.0001 + rng->Uniform() * 0.19,
                          .repeats = static_cast<std::uint32_t>(1 + rng->Below(kEvalRepeatsMax)),
                          .deadline = Duration(1 + AnySpanNs(rng) % Duration(1h).count())};
  }
  target.connect_timeout = positive();
  target.idle_timeout = positive();
  target.call_deadline = positive();
  return plan;
}

inline StepPlan AnyStepPlan(Rng* rng) {
  StepPlan step;
  step.step = Any32(rng, limits::kStepsMax - 1);
  step.sessions = static_cast<std::uint32_t>(1 + rng->Below(limits::kLanesMax));
  step.block = Duration(1 + AnySpanNs(rng) / limits::kBlocksMax / 2);
  step.measure = step.block * static_cast<std::int64_t>(1 + rng->Below(limits::kBlocksMax));
  step.warm_up = Duration(AnySpanNs(rng));
  step.drain_limit = Duration(AnySpanNs(rng));
  step.prime_limit = Duration(AnySpanNs(rng));
  return step;
}

}  // namespace plimsoll::test
