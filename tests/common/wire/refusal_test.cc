// Every refusal of the readers: a good message is spoiled in one place, and the words name it.
#include <cmath>
#include <functional>
#include <limits>

#include "common/base/limits.h"
#include "common/wire/message_codec.h"
#include "common/wire/plan_codec.h"
#include "common/wire/tally_codec.h"
#include "gtest/gtest.h"
#include "plimsoll/v1/control.pb.h"
#include "tests/common/wire/random_values.h"

namespace plimsoll::test {
namespace {

constexpr std::int64_t kTooLong = Duration(wire::kSpanMax).count() + 1;
constexpr std::int64_t kTooFar = wire::kInstantMaxNs + 1;

template <typename Proto>
struct Case {
  const char* words;
  std::function<void(Proto*)> spoil;
};

template <typename Proto>
void ExpectRefusals(const Proto& good, const std::vector<Case<Proto>>& cases) {
  ASSERT_TRUE(FromProto(good).ok()) << FromProto(good).status();
  for (const Case<Proto>& one : cases) {
    Proto bad = good;
    one.spoil(&bad);
    const Status status = FromProto(bad).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << one.words;
    EXPECT_NE(MessageOf(status).find(one.words), std::string_view::npos) << status;
  }
}

v1::RunPlan GoodPlan() {
  RunPlan plan;
  plan.run_id = "r";
  plan.corpus_digest = std::string(64, 'a');
  plan.tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1}};
  plan.target.url = "http://h/v1";
  plan.target.model = "m";
  plan.evals = EvalPlan{.set_text = "{}", .share = 0.1};
  v1::RunPlan good;
  ToProto(plan, &good);
  return good;
}

TEST(Refusals, OfRunPlan) {
  using P = v1::RunPlan;
  ExpectRefusals<P>(
      GoodPlan(),
      {{"RunPlan.run_id", [](P* p) { p->clear_run_id(); }},
       {"RunPlan.run_id", [](P* p) { p->set_run_id(std::string(257, 'x')); }},
       {"RunPlan.run_id", [](P* p) { p->set_run_id("a\nb"); }},
       {"RunPlan.corpus_digest", [](P* p) { p->set_corpus_digest(std::string(64, 'A')); }},
       {"RunPlan.corpus_digest", [](P* p) { p->set_corpus_digest(std::string(63, 'a')); }},
       {"RunPlan.tiers", [](P* p) { p->clear_tiers(); }},
       {"RunPlan.tiers",
        [](P* p) {
          while (p->tiers_size() < 9) *p->add_tiers() = p->tiers(0);
        }},
       {"RunPlan.think_time:", [](P* p) { p->clear_think_time(); }},
       {"RunPlan.think_time:", [](P* p) { p->set_think_time(static_cast<v1::ThinkTime>(9)); }},
       {"RunPlan.think_time_cap_ns", [](P* p) { p->set_think_time_cap_ns(-1); }},
       {"RunPlan.think_time_cap_ns", [](P* p) { p->set_think_time_cap_ns(kTooLong); }},
       {"RunPlan.output_divisor", [](P* p) { p->set_output_divisor(0); }},
       {"RunPlan.output_mode", [](P* p) { p->set_output_mode(static_cast<v1::OutputMode>(3)); }},
       {"RunPlan.output_tokens", [](P* p) { p->set_output_tokens(5); }},
       {"RunPlan.output_tokens", [](P* p) { p->set_output_mode(v1::OUTPUT_MODE_FIXED); }},
       {"TargetPlan.extra_body", [](P* p) { p->mutable_target()->set_extra_body("x"); }},
       {"TargetPlan.extra_body", [](P* p) { p->mutable_target()->set_extra_body(" "); }},
       {"TargetPlan.extra_body",
        [](P* p) { p->mutable_target()->set_extra_body("\"a\":1},{\"b\":2"); }},
       {"TargetPlan.extra_body",
        [](P* p) {
          p->mutable_target()->set_extra_body("\"a\":\"" + std::string(16'384, 'x') + "\"");
        }},
       {"RunPlan.liveness_percent", [](P* p) { p->set_liveness_percent(9); }},
       {"RunPlan.liveness_percent", [](P* p) { p->set_liveness_percent(101); }},
       {"EvalPlan.set_text", [](P* p) { p->mutable_evals()->clear_set_text(); }},
       {"EvalPlan.set_text",
        [](P* p) { p->mutable_evals()->set_set_text(std::string((4u << 20) + 1, 'x')); }},
       {"EvalPlan.share", [](P* p) { p->mutable_evals()->set_share(0.3); }},
       {"EvalPlan.share", [](P* p) { p->mutable_evals()->set_share(0); }},
       {"EvalPlan.share",
        [](P* p) { p->mutable_evals()->set_share(std::numeric_limits<double>::quiet_NaN()); }},
       {"EvalPlan.repeats", [](P* p) { p->mutable_evals()->set_repeats(0); }},
       {"EvalPlan.repeats", [](P* p) { p->mutable_evals()->set_repeats(11); }},
       {"EvalPlan.deadline_ns", [](P* p) { p->mutable_evals()->set_deadline_ns(0); }},
       {"EvalPlan.deadline_ns",
        [](P* p) { p->mutable_evals()->set_deadline_ns(Duration(1h).count() + 1); }},
       {"RunPlan.failure", [](P* p) { p->clear_failure(); }},
       {"RunPlan.target", [](P* p) { p->clear_target(); }},
       {"TierPlan.name", [](P* p) { p->mutable_tiers(0)->clear_name(); }},
       {"TierPlan.sessions", [](P* p) { p->mutable_tiers(0)->clear_sessions(); }},
       {"TierPlan.sessions",
        [](P* p) { p->mutable_tiers(0)->set_sessions(static_cast<v1::TierPlan::Sessions>(4)); }},
       {"RunPlan.tiers",
        [](P* p) {
          for (v1::TierPlan& tier : *p->mutable_tiers()) tier.set_share(0);
        }},
       {"FailurePolicy.attempts_max", [](P* p) { p->mutable_failure()->set_attempts_max(0); }},
       {"FailurePolicy.attempts_max", [](P* p) { p->mutable_failure()->set_attempts_max(256); }},
       {"FailurePolicy.back_off_min_ns",
        [](P* p) { p->mutable_failure()->set_back_off_min_ns(0); }},
       {"FailurePolicy.back_off_max_ns",
        [](P* p) { p->mutable_failure()->set_back_off_max_ns(kTooLong); }},
       {"at most back_off_max_ns", [](P* p) { p->mutable_failure()->set_back_off_max_ns(1); }},
       {"RunPlan.over_limit", [](P* p) { p->clear_over_limit(); }},
       {"RunPlan.over_limit", [](P* p) { p->set_over_limit(static_cast<v1::OverLimit>(6)); }},
       {"RunPlan.history", [](P* p) { p->clear_history(); }},
       {"RunPlan.history", [](P* p) { p->set_history(static_cast<v1::History>(3)); }},
       {"FailurePolicy.retry_after_max_ns",
        [](P* p) { p->mutable_failure()->set_retry_after_max_ns(-1); }},
       {"FailurePolicy.retry_after_max_ns",
        [](P* p) { p->mutable_failure()->set_retry_after_max_ns(kTooLong); }},
       {"FailurePolicy.retry_outcomes",
        [](P* p) { p->mutable_failure()->set_retry_outcomes(1u << 11); }},
       {"FailurePolicy.retry_outcomes",
        [](P* p) { p->mutable_failure()->set_retry_outcomes(1u << 1); }},
       {"FailurePolicy.retry_outcomes",
        [](P* p) { p->mutable_failure()->set_retry_outcomes(1u << 31); }},
       {"FailurePolicy.end_play_outcomes",
        [](P* p) { p->mutable_failure()->set_end_play_outcomes(1u << 13); }},
       {"FailurePolicy.silence", [](P* p) { p->mutable_failure()->clear_silence(); }},
       {"FailurePolicy.silence",
        [](P* p) { p->mutable_failure()->set_silence(static_cast<v1::Silence>(3)); }}});
}

TEST(Refusals, OfTargetPlan) {
  using P = v1::RunPlan;
  const auto target = [](P* p) { return p->mutable_target(); };
  ExpectRefusals<P>(
      GoodPlan(),
      {{"TargetPlan.url", [=](P* p) { target(p)->set_url("ftp://h"); }},
       {"TargetPlan.url", [=](P* p) { target(p)->set_url("http://h/"); }},
       {"TargetPlan.url", [=](P* p) { target(p)->set_url("http://" + std::string(2048, 'x')); }},
       {"TargetPlan.model", [=](P* p) { target(p)->clear_model(); }},
       {"TargetPlan.bearer_env", [=](P* p) { target(p)->set_bearer_env(std::string(257, 'x')); }},
       {"TargetPlan.ca_file", [=](P* p) { target(p)->set_ca_file(std::string("a\0b", 3)); }},
       {"TargetPlan.headers",
        [=](P* p) {
          for (int i = 0; i < 65; ++i) target(p)->add_headers();
        }},
       {"TargetPlan.headers.name", [=](P* p) { target(p)->add_headers(); }},
       {"TargetPlan.headers.value",
        [=](P* p) {
          v1::Header* header = target(p)->add_headers();
          header->set_name("x");
          header->set_value("a\r\nevil: 1");
        }},
       {"affinity_play_header", [=](P* p) { target(p)->set_affinity_play_header("a\nb"); }},
       {"affinity_parent_header", [=](P* p) { target(p)->set_affinity_parent_header("a\rb"); }},
       {"TargetPlan.max_tokens", [=](P* p) { target(p)->set_max_tokens(0); }},
       {"connect_timeout_ns", [=](P* p) { target(p)->set_connect_timeout_ns(0); }},
       {"idle_timeout_ns", [=](P* p) { target(p)->set_idle_timeout_ns(-5); }},
       {"call_deadline_ns", [=](P* p) { target(p)->set_call_deadline_ns(kTooLong); }}});
}

TEST(Refusals, OfStepPlanAndLanes) {
  PrepareStep prepare;
  prepare.step = {.sessions = 2, .measure = 10s, .block = 5s};
  prepare.lanes = {{.lane = 0}, {.lane = 1}};
  v1::CoordinatorMessage good;
  ToProto(CoordinatorMessage(prepare), &good);
  using P = v1::CoordinatorMessage;
  const auto step = [](P* p) { return p->mutable_prepare_step()->mutable_step(); };
  const auto lane = [](P* p) { return p->mutable_prepare_step()->mutable_lanes(1); };
  ExpectRefusals<P>(
      good, {{"PrepareStep.step", [](P* p) { p->mutable_prepare_step()->clear_step(); }},
             {"StepPlan.step", [=](P* p) { step(p)->set_step(64); }},
             {"StepPlan.sessions", [=](P* p) { step(p)->set_sessions(0); }},
             {"StepPlan.sessions", [=](P* p) { step(p)->set_sessions(limits::kLanesMax + 1); }},
             {"StepPlan.warm_up_ns", [=](P* p) { step(p)->set_warm_up_ns(-1); }},
             {"StepPlan.measure_ns", [=](P* p) { step(p)->set_measure_ns(0); }},
             {"whole number of blocks", [=](P* p) { step(p)->set_measure_ns(7'000'000'000); }},
             {"4096 blocks", [=](P* p) { step(p)->set_block_ns(1'000'000); }},
             {"StepPlan.block_ns", [=](P* p) { step(p)->set_block_ns(0); }},
             {"StepPlan.drain_limit_ns", [=](P* p) { step(p)->set_drain_limit_ns(-1); }},
             {"StepPlan.prime_limit_ns", [=](P* p) { step(p)->set_prime_limit_ns(kTooLong); }},
             {"LaneSpec.lane", [=](P* p) { lane(p)->set_lane(limits::kLanesMax); }},
             {"below the step's sessions", [=](P* p) { lane(p)->set_lane(2); }},
             {"listed once", [=](P* p) { lane(p)->set_lane(0); }},
             {"LaneSpec.tier", [=](P* p) { lane(p)->set_tier(8); }},
             {"LaneSpec.rank", [=](P* p) { lane(p)->set_rank(2); }},
             {"LaneSpec.agent_slot", [=](P* p) { lane(p)->set_agent_slot(10'000); }},
             {"PrepareStep.lanes", [](P* p) {
                while (p->prepare_step().lanes_size() <= static_cast<int>(limits::kLanesMax))
                  p->mutable_prepare_step()->add_lanes();
              }}});
}

TEST(Refusals, OfStepTally) {
  Rng rng(1);
  StepTally tally = AnyTally(&rng);
  tally.lanes = {{.lane = 1}, {.lane = 2}};
  tally.lanes[0].failed_plays = {{.block = 0}};
  v1::AgentMessage good;
  ToProto(AgentMessage(StepClosed{.tally = tally}), &good);
  using P = v1::AgentMessage;
  const auto t = [](P* p) { return p->mutable_step_closed()->mutable_tally(); };
  const auto lane = [t](P* p) { return t(p)->mutable_lanes(0); };
  const auto host = [t](P* p) { return t(p)->mutable_host(); };
  const auto plays = [lane](P* p) { return lane(p)->mutable_plays(); };
  const auto failed = [lane](P* p) { return lane(p)->mutable_failed_plays(0); };
  const std::uint64_t many = (std::uint64_t{1} << 40) + 1;
  ExpectRefusals<P>(
      good,
      {{"StepClosed.tally", [](P* p) { p->mutable_step_closed()->clear_tally(); }},
       {"StepTally.step", [=](P* p) { t(p)->set_step(64); }},
       {"known outcome", [=](P* p) { t(p)->add_outcomes(); }},
       {"known outcome",
        [=](P* p) { t(p)->add_outcomes()->set_outcome(static_cast<v1::CallOutcome>(13)); }},
       {"listed once", [=](P* p) { *t(p)->add_outcomes() = t(p)->outcomes(0); }},
       {"start_error_ns", [=](P* p) { t(p)->set_start_error_ns(-kTooLong); }},
       {"wall_moved_ns", [=](P* p) { t(p)->set_wall_moved_ns(kTooLong); }},
       {"in_flight_request_ns", [=](P* p) { t(p)->set_in_flight_request_ns(-1); }},
       {"lateness_max_ns", [=](P* p) { t(p)->set_lateness_max_ns(-1); }},
       {"lateness_p99_ns", [=](P* p) { t(p)->set_lateness_p99_ns(-1); }},
       {"loop_stalled_ns", [=](P* p) { t(p)->set_loop_stalled_ns(-1); }},
       {"loop_lag_max_ns", [=](P* p) { t(p)->set_loop_lag_max_ns(-1); }},
       {"cpu_share_max", [=](P* p) { t(p)->set_cpu_share_max(std::nan("")); }},
       {"cpu_share_max", [=](P* p) { t(p)->set_cpu_share_max(-0.5); }},
       {"cpu_share_max",
        [=](P* p) { t(p)->set_cpu_share_max(std::numeric_limits<double>::infinity()); }},
       {"host.cores_used_max", [=](P* p) { host(p)->set_cores_used_max(std::nan("")); }},
       {"host.cores_used_max", [=](P* p) { host(p)->set_cores_used_max(1e7); }},
       {"host.cores", [=](P* p) { host(p)->set_cores(-1); }},
       {"host.thread_share_max",
        [=](P* p) { host(p)->set_thread_share_max(std::numeric_limits<double>::infinity()); }},
       {"host.throttled_ns", [=](P* p) { host(p)->set_throttled_ns(-1); }},
       {"host.stolen_ns", [=](P* p) { host(p)->set_stolen_ns(kTooLong); }},
       {"lanes.lane", [=](P* p) { lane(p)->set_lane(2); }},
       {"LaneTally.lane", [=](P* p) { lane(p)->set_lane(limits::kLanesMax); }},
       {"LaneTally.tier", [=](P* p) { lane(p)->set_tier(8); }},
       {"in_flight_ns", [=](P* p) { lane(p)->set_in_flight_ns(-1); }},
       {"planned_delay_ns", [=](P* p) { lane(p)->set_planned_delay_ns(-1); }},
       {"refused_ns", [=](P* p) { lane(p)->set_refused_ns(-1); }},
       {"late_ns", [=](P* p) { lane(p)->set_late_ns(-1); }},
       {"client_error_ns", [=](P* p) { lane(p)->set_client_error_ns(-1); }},
       {"dead_man_ns", [=](P* p) { lane(p)->set_dead_man_ns(-1); }},
       {"no_session_ns", [=](P* p) { lane(p)->set_no_session_ns(kTooLong); }},
       {"LaneTally.plays: must be there", [=](P* p) { lane(p)->clear_plays(); }},
       {"plays.plays", [=](P* p) { plays(p)->set_plays(many); }},
       {"plays.calls_total", [=](P* p) { plays(p)->set_calls_total(many); }},
       {"plays.calls_skipped", [=](P* p) { plays(p)->set_calls_skipped(many); }},
       {"plays.calls_before", [=](P* p) { plays(p)->set_calls_before(many); }},
       {"plays.calls_released", [=](P* p) { plays(p)->set_calls_released(many); }},
       {"plays.calls_remaining", [=](P* p) { plays(p)->set_calls_remaining(many); }},
       {"failed_plays.block", [=](P* p) { failed(p)->set_block(limits::kBlocksMax); }},
       {"failed_plays.plays", [=](P* p) { failed(p)->set_plays(0); }},
       {"failed_plays.calls_remaining", [=](P* p) { failed(p)->set_calls_remaining(many); }},
       {"failed_plays.silent_ns", [=](P* p) { failed(p)->set_silent_ns(-1); }},
       {"failed_plays.silent_ns", [=](P* p) { failed(p)->set_silent_ns(kTooLong); }},
       {"LaneTally.pause_recorded_ns", [=](P* p) { lane(p)->set_pause_recorded_ns(-1); }},
       {"LaneTally.pause_recorded_ns",
        [=](P* p) { lane(p)->set_pause_recorded_ns(std::int64_t{1} << 62); }},
       {"LaneTally.pause_removed_ns",
        [=](P* p) { lane(p)->set_pause_removed_ns(lane(p)->pause_recorded_ns() + 1); }},
       {"LaneTally.pause_removed_ns", [=](P* p) { lane(p)->set_pause_removed_ns(-1); }},
       {"LaneTally.failed_plays",
        [=](P* p) {
          for (int i = 0; i < 4352; ++i) lane(p)->add_failed_plays()->set_plays(1);
        }},
       {"StepTally.lanes", [=](P* p) {
          for (std::uint32_t i = 0; i < limits::kLanesMax; ++i) t(p)->add_lanes();
        }}});
}

TEST(Refusals, OfAgentMessages) {
  using P = v1::AgentMessage;
  P hello;
  ToProto(AgentMessage(Hello{.name = "a", .incarnation = 1}), &hello);
  ExpectRefusals<P>(
      hello, {{"no known kind", [](P* p) { p->clear_kind(); }},
              {"Hello.name", [](P* p) { p->mutable_hello()->clear_name(); }},
              {"Hello.build", [](P* p) { p->mutable_hello()->set_build(std::string(257, 'x')); }},
              {"Hello.incarnation", [](P* p) { p->mutable_hello()->clear_incarnation(); }},
              {"Hello.corpora", [](P* p) { p->mutable_hello()->add_corpora("x"); }},
              {"Hello.corpora",
               [](P* p) {
                 for (int i = 0; i < 4097; ++i) p->mutable_hello()->add_corpora("");
               }},
              {"Pong.agent_ns", [](P* p) { p->mutable_pong()->set_agent_ns(kTooFar); }},
              {"Pong.lanes", [](P* p) { p->mutable_pong()->set_lanes(limits::kLanesMax + 1); }},
              {"StepReady.step", [](P* p) { p->mutable_step_ready()->set_step(64); }},
              {"StepReady.lanes_ended",
               [](P* p) { p->mutable_step_ready()->set_lanes_ended(limits::kLanesMax + 1); }},
              {"primers_failed", [](P* p) { p->mutable_step_ready()->set_primers_failed(1); }},
              {"AgentFault.message",
               [](P* p) { p->mutable_fault()->set_message(std::string(4097, 'x')); }}});
}

TEST(Refusals, OfCoordinatorMessages) {
  using P = v1::CoordinatorMessage;
  P good;
  ToProto(CoordinatorMessage(CorpusChunk{
              .digest = std::string(64, 'a'), .total_bytes = 10, .offset = 5, .bytes = "12345"}),
          &good);
  const auto chunk = [](P* p) { return p->mutable_corpus_chunk(); };
  ExpectRefusals<P>(
      good,
      {{"no known kind", [](P* p) { p->clear_kind(); }},
       {"CorpusChunk.digest", [=](P* p) { chunk(p)->clear_digest(); }},
       {"CorpusChunk.total_bytes", [=](P* p) { chunk(p)->set_total_bytes(0); }},
       {"CorpusChunk.total_bytes", [=](P* p) { chunk(p)->set_total_bytes((256u << 20) + 1); }},
       {"CorpusChunk.data", [=](P* p) { chunk(p)->clear_data(); }},
       {"CorpusChunk.data", [=](P* p) { chunk(p)->set_data(std::string((1u << 20) + 1, 'x')); }},
       {"CorpusChunk.offset_bytes", [=](P* p) { chunk(p)->set_offset_bytes(6); }},
       {"CorpusChunk.offset_bytes", [=](P* p) { chunk(p)->set_offset_bytes(~std::uint64_t{0}); }},
       {"Welcome.agent_slot", [](P* p) { p->mutable_welcome()->set_agent_slot(10'000); }},
       {"Refuse.reason", [](P* p) { p->mutable_refuse()->set_reason(std::string(4097, 'x')); }},
       {"PrepareRun.plan", [](P* p) { p->mutable_prepare_run(); }},
       {"EndMeasure.step",
        [](P* p) {
          p->mutable_end_measure()->set_step(64);
          p->mutable_end_measure()->set_measure_ns(1);
        }},
       {"EndMeasure.measure_ns", [](P* p) { p->mutable_end_measure()->set_measure_ns(0); }},
       {"EndMeasure.measure_ns", [](P* p) { p->mutable_end_measure()->set_measure_ns(-1); }},
       {"CommitStep.step", [](P* p) { p->mutable_commit_step()->set_step(64); }},
       {"CommitStep.start", [](P* p) { p->mutable_commit_step()->set_start_agent_ns(-kTooFar); }},
       {"Stop.kind", [](P* p) { p->mutable_stop(); }},
       {"Stop.kind", [](P* p) { p->mutable_stop()->set_kind(static_cast<v1::Stop::Kind>(3)); }},
       {"Stop.drain_limit_ns", [](P* p) {
          p->mutable_stop()->set_kind(v1::Stop::KIND_DRAIN);
          p->mutable_stop()->set_drain_limit_ns(-1);
        }}});
}

}  // namespace
}  // namespace plimsoll::test
