#include "coordinator/store/run_codec.h"

#include <limits>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/stored_samples.h"

namespace plimsoll {
namespace {

using testing::APart;
using testing::ARun;
using testing::AStep;

TEST(RunCodec, RunsKeepEveryField) {
  RunInfo run = ARun("r1", 5);
  run.ended = WallTime(9s);
  run.state = RunState::kStopped;
  run.exit_code = 0;  // Absent and 0 differ.
  run.message = "a person stopped it";
  run.capacity = Capacity{.passed = 10, .failed = 15, .sentence = "10 sessions hold"};
  run.preflight =
      PreflightSummary{.findings = {{FindingLevel::kOk, "a"}, {FindingLevel::kBlocking, "b\xff"}},
                       .fit = TemplateFit{.per_request = 11, .per_message = 4.5, .per_word = 1.25},
                       .min_tokens = true};
  run.bar.limits = {APart().limit,
                    {Metric::kErrors, 0, 0.02},
                    {Metric::kGoodput, 0.9, 30, "",
                     LimitOrigin{.runs = {"r-1"}, .sessions = 5, .factor = 1.1, .baseline = 27}}};
  run.bar.evals = {.pass_rate = 0.9, .drop = 0};
  const StatusOr<RunInfo> back = DecodeRun(EncodeRun(run));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->id, run.id);
  EXPECT_EQ(back->name, run.name);
  EXPECT_EQ(back->scenario_text, run.scenario_text);
  EXPECT_EQ(back->scenario_digest, run.scenario_digest);
  EXPECT_EQ(back->seed, run.seed);
  EXPECT_EQ(back->nonce, run.nonce);
  EXPECT_EQ(back->corpus_digest, run.corpus_digest);
  EXPECT_EQ(back->started, run.started);
  EXPECT_EQ(back->ended, run.ended);
  EXPECT_EQ(back->state, run.state);
  EXPECT_EQ(back->exit_code, 0);
  EXPECT_EQ(back->plimsoll_version, run.plimsoll_version);
  EXPECT_EQ(back->message, run.message);
  EXPECT_EQ(back->capacity, run.capacity);
  EXPECT_EQ(back->preflight, run.preflight);
  EXPECT_EQ(back->bar, run.bar);
}

TEST(RunCodec, AStepBrokenOffBeforeItBeganIsDamaged) {
  StepRow row = AStep(3);
  row.summary.broken_off_after = -1ns;
  EXPECT_EQ(DecodeStep(EncodeStep(row)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(RunCodec, WhatIsAbsentStaysAbsent) {
  const StatusOr<RunInfo> run = DecodeRun(EncodeRun(ARun("r1", 5)));
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->ended.has_value());
  EXPECT_FALSE(run->exit_code.has_value());
  EXPECT_FALSE(run->capacity.has_value());
  EXPECT_FALSE(run->preflight.has_value());
  const StatusOr<StepRow> row = DecodeStep(EncodeStep(StepRow{}));
  ASSERT_TRUE(row.ok()) << MessageOf(row.status());
  EXPECT_FALSE(row->summary.ttft.p50_s.value.has_value());
  EXPECT_FALSE(row->summary.rate.reached_by_90_tok_s.has_value());
  EXPECT_FALSE(row->summary.errors.error_share.has_value());
  EXPECT_EQ(row->summary.fidelity, FidelitySummary{});
  EXPECT_EQ(row->summary.origin, StepOrigin{});
  EXPECT_FALSE(row->summary.evals.has_value());
  EXPECT_FALSE(run->bar.evals.asks());
  EXPECT_FALSE(row->summary.calls_ok_per_s.has_value());
  EXPECT_FALSE(row->summary.tokens_in.has_value());
  EXPECT_FALSE(row->summary.tokens_cached.has_value());
  EXPECT_FALSE(row->summary.tokens_out.has_value());
}

TEST(RunCodec, ZeroTokensAndNoneDiffer) {
  StepRow row = AStep(3);
  row.summary.tokens_in = row.summary.tokens_cached = row.summary.tokens_out = 0;
  row.summary.calls_ok_per_s = 0;
  const StatusOr<StepRow> back = DecodeStep(EncodeStep(row));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->summary.tokens_in, 0u);
  EXPECT_EQ(back->summary.tokens_cached, 0u);
  EXPECT_EQ(back->summary.tokens_out, 0u);
  EXPECT_EQ(back->summary.calls_ok_per_s, 0);
}

TEST(RunCodec, CountsWithoutTheirSum) {
  StepRow row = AStep(3);
  row.summary.tokens_out.reset();
  EXPECT_TRUE(absl::IsDataLoss(DecodeStep(EncodeStep(row)).status()));
  row = AStep(3);
  row.summary.tokens_cached.reset();  // As an earlier version wrote a sum of zero.
  EXPECT_EQ(DecodeStep(EncodeStep(row))->summary.tokens_cached, 0u);
}

TEST(RunCodec, StepsKeepEveryField) {
  const StepRow row = AStep(3);
  const StatusOr<StepRow> back = DecodeStep(EncodeStep(row));
  ASSERT_TRUE(back.ok()) << MessageOf(back.status());
  const StepSummary& a = row.summary;
  const StepSummary& b = back->summary;
  EXPECT_EQ(b.plan, a.plan);
  EXPECT_EQ(b.verdict.verdict, a.verdict.verdict);
  EXPECT_EQ(b.verdict.is_void, a.verdict.is_void);
  EXPECT_EQ(b.verdict.reasons, a.verdict.reasons);
  EXPECT_EQ(b.verdict.offered_share, a.verdict.offered_share);
  EXPECT_EQ(b.verdict.sent_share, a.verdict.sent_share);
  ASSERT_EQ(b.verdict.parts.size(), 1u);
  const PartVerdict part = APart();
  const PartVerdict& got = b.verdict.parts[0];
  EXPECT_EQ(got.limit, part.limit);
  EXPECT_EQ(got.verdict, part.verdict);
  EXPECT_EQ(got.lean, part.lean);
  EXPECT_EQ(got.reason, part.reason);
  EXPECT_EQ(got.n, part.n);
  EXPECT_EQ(got.value, part.value);
  EXPECT_EQ(got.value_infinite, part.value_infinite);
  EXPECT_EQ(got.value_ok_only, part.value_ok_only);
  EXPECT_EQ(got.value_low, part.value_low);
  EXPECT_EQ(got.value_high, part.value_high);
  EXPECT_EQ(got.share_within, part.share_within);
  EXPECT_EQ(got.share_low, part.share_low);
  EXPECT_EQ(got.share_high, part.share_high);
  EXPECT_EQ(got.margin, part.margin);
  EXPECT_EQ(b.requests_in_flight_mean, a.requests_in_flight_mean);
  EXPECT_EQ(b.ttft.n, a.ttft.n);
  EXPECT_EQ(b.ttft.p50_s, a.ttft.p50_s);
  EXPECT_EQ(b.ttft.p90_s, a.ttft.p90_s);
  EXPECT_EQ(b.ttft.p90_ok_s, a.ttft.p90_ok_s);
  EXPECT_EQ(b.ttft.p90_sent_s, a.ttft.p90_sent_s);
  EXPECT_EQ(b.ttft.p95_s, a.ttft.p95_s);
  EXPECT_EQ(b.ttft.p99_s, a.ttft.p99_s);
  EXPECT_EQ(b.rate.reached_by_95_tok_s, a.rate.reached_by_95_tok_s);
  EXPECT_EQ(b.rate.reached_by_99_tok_s, a.rate.reached_by_99_tok_s);
  EXPECT_EQ(b.broken_off_after, a.broken_off_after);
  EXPECT_EQ(b.origin, a.origin);
  EXPECT_EQ(b.rate.n, a.rate.n);
  EXPECT_EQ(b.rate.one_chunk, a.rate.one_chunk);
  EXPECT_EQ(b.rate.reached_by_50_tok_s, a.rate.reached_by_50_tok_s);
  EXPECT_EQ(b.rate.reached_by_90_tok_s, a.rate.reached_by_90_tok_s);
  EXPECT_EQ(b.rate.reached_by_90_ok_tok_s, a.rate.reached_by_90_ok_tok_s);
  EXPECT_EQ(b.rate.end_to_end_reached_by_90_tok_s, a.rate.end_to_end_reached_by_90_tok_s);
  EXPECT_EQ(b.errors.attempts, a.errors.attempts);
  EXPECT_EQ(b.errors.ok, a.errors.ok);
  EXPECT_EQ(b.errors.failed, a.errors.failed);
  EXPECT_EQ(b.errors.client_errors, a.errors.client_errors);
  EXPECT_EQ(b.errors.unsent, a.errors.unsent);
  EXPECT_EQ(b.errors.error_share, a.errors.error_share);
  EXPECT_EQ(b.errors.outcomes, a.errors.outcomes);
  EXPECT_EQ(b.lane_state_share, a.lane_state_share);
  EXPECT_EQ(b.calls_ok_per_s, a.calls_ok_per_s);
  EXPECT_EQ(b.tokens_in, a.tokens_in);
  EXPECT_EQ(b.tokens_cached, a.tokens_cached);
  EXPECT_EQ(b.tokens_out, a.tokens_out);
  EXPECT_EQ(b.usage_missing, a.usage_missing);
  EXPECT_EQ(b.fidelity, a.fidelity);
  EXPECT_EQ(b.replay, a.replay);
  EXPECT_EQ(b.verdict.failed_beside, "evals");
  EXPECT_EQ(b.evals, a.evals);
  // The encoding has no choices, so equal bytes mean that agents and identities came back too.
  EXPECT_EQ(EncodeStep(*back), EncodeStep(row));
  ASSERT_EQ(b.agents.size(), 1u);
  EXPECT_EQ(b.agents[0].name, "b:77");
  EXPECT_EQ(b.agents[0].skew_ns, -5);
  EXPECT_TRUE(b.agents[0].lost);
  EXPECT_TRUE(b.agents[0].no_tally);
  EXPECT_EQ(b.agents[0].wall_moved_ns, -12);
  EXPECT_EQ(b.agents[0].host, a.agents[0].host) << "0 and absent are told apart";
  ASSERT_EQ(b.identities.size(), 1u);
  EXPECT_EQ(b.identities[0].left, 200);
  EXPECT_EQ(back->notes, row.notes);
}

TEST(RunCodec, FiguresOfAMachineThatCannotBeAreAbsent) {
  StepRow row = AStep(3);
  HostLoad& host = row.summary.agents.at(0).host;
  host = {.cores_used_max = -1.0,
          .cores = std::numeric_limits<double>::infinity(),
          .thread_share_max = std::numeric_limits<double>::quiet_NaN(),
          .throttled_ns = -1,
          .stolen_ns = std::numeric_limits<std::int64_t>::min(),
          .ports_limit = 9};
  const auto back = DecodeStep(EncodeStep(row));
  ASSERT_TRUE(back.ok()) << MessageOf(back.status());
  EXPECT_EQ(back->summary.agents.at(0).host, (HostLoad{.ports_limit = 9}));
}

TEST(RunCodec, OpenEndsOfAnIntervalStayOpenAndImpossibleOnesAreDamaged) {
  const auto with = [](ShownPercentile low, ShownPercentile high) {
    StepRow row = AStep(3);
    row.summary.verdict.parts[0].value_low = low;
    row.summary.verdict.parts[0].value_high = high;
    return DecodeStep(EncodeStep(row));
  };
  const ShownPercentile open;
  const ShownPercentile infinite{std::nullopt, true};
  const std::pair<ShownPercentile, ShownPercentile> fine[] = {
      {open, open},         {{0.0, false}, open},
      {open, {3.5, false}}, {{2.0, false}, infinite},
      {infinite, infinite}, {open, infinite},
      {infinite, open},     {{2.0, false}, {2.0, false}}};
  for (const auto& [low, high] : fine) {
    const auto row = with(low, high);
    ASSERT_TRUE(row.ok()) << MessageOf(row.status());
    EXPECT_EQ(row->summary.verdict.parts[0].value_low, low);
    EXPECT_EQ(row->summary.verdict.parts[0].value_high, high);
  }
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const double kInf = std::numeric_limits<double>::infinity();
  const std::pair<ShownPercentile, ShownPercentile> wrong[] = {
      {{3.0, false}, {2.0, false}}, {infinite, {2.0, false}}, {{kNan, false}, open},
      {open, {kNan, false}},        {open, {kInf, false}},    {{1.0, true}, infinite},
      {open, {1.0, true}}};
  for (const auto& [low, high] : wrong) {
    EXPECT_TRUE(absl::IsDataLoss(with(low, high).status()));
  }
}

TEST(RunCodec, APartOfAnEarlierVersionHasNoInterval) {
  StepRow row = AStep(3);
  row.summary.verdict.parts[0].value_low = row.summary.verdict.parts[0].value_high = {};
  const std::string bytes = EncodeStep(row);
  // Neither field 42 nor 43 (with their tags as a message's) is there: as it was written before.
  row.summary.verdict.parts[0].value_low = {1.0, false};
  EXPECT_GT(EncodeStep(row).size(), bytes.size());
  const auto back = DecodeStep(bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->summary.verdict.parts[0].value_low, ShownPercentile{});
  EXPECT_EQ(back->summary.verdict.parts[0].value, 9.75);
}

TEST(RunCodec, DamagedBytesNeverCrashAndMostlyAreDataLoss) {
  const std::string run = EncodeRun(ARun("r1", 5));
  const std::string step = EncodeStep(AStep(1));
  for (const std::string& bytes : {run, step}) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        (void)DecodeRun(damaged);
        (void)DecodeStep(damaged);
      }
      (void)DecodeStep(bytes.substr(0, i));
    }
  }
  EXPECT_TRUE(absl::IsDataLoss(DecodeRun("").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeStep("").status()));
  EXPECT_TRUE(absl::IsDataLoss(DecodeRun("garbage").status()));
}

}  // namespace
}  // namespace plimsoll
