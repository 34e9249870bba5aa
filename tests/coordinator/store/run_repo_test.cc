#include "coordinator/store/run_repo.h"

#include "coordinator/store/run_codec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/faulty_store.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunInfo ARun(std::string id, std::int64_t started_ns) {
  RunInfo run;
  run.id = std::move(id);
  run.name =
      "r\xe9"
      "cipe-7";  // Not UTF-8: kept as it came.
  run.scenario_text = std::string("name: x\n\0\xff", 10);
  run.scenario_digest = "aa11";
  run.seed = 0xffffffffffffffffu;
  run.nonce = 17;
  run.corpus_digest = "bb22";
  run.started = WallTime(Duration(started_ns));
  run.plimsoll_version = "0.1.0";
  return run;
}

PartVerdict APart() {
  PartVerdict part;
  part.limit = {Metric::kEndToEndInteractivity, 0.995, 10, "heavy",
                LimitOrigin{.runs = {"r-1", "r-2"},
                            .sessions = 15,
                            .factor = 0.8,
                            .baseline = 12.5,
                            .low = 9.5,
                            .high = 10.5}};
  part.verdict = Verdict::kTooClose;
  part.lean = Lean::kFail;
  part.reason = "the interval crosses the limit";
  part.n = 812;
  part.value = 9.75;
  part.value_ok_only = 10.25;
  part.share_within = 0.885;
  part.share_low = 0.85;
  part.share_high = 0.91;
  part.margin = -0.025;
  return part;
}

// Every field differs from its default, so that a forgotten one shows.
StepRow AStep(std::uint32_t step) {
  StepRow row;
  StepSummary& s = row.summary;
  s.plan = {step, 15, 120s, 300s, 60s, 110s, 50s};
  s.verdict.verdict = Verdict::kTooClose;
  s.verdict.is_void = true;
  s.verdict.reasons = {"a", "b"};
  s.verdict.parts = {APart()};
  s.verdict.offered_share = 0.99;
  s.verdict.sent_share = 0.98;
  s.requests_in_flight_mean = 12.5;
  s.ttft = {100,           {1.5, false}, {std::nullopt, true}, {2.5, false},
            {2.25, false}, {3.5, false}, {std::nullopt, true}};
  s.rate = {90, 4, 30.0, 11.0, 12.0, 8.0, 7.0, 6.0};
  s.broken_off_after = 133s;
  s.errors = {200, 190, 9, 1, 3, 0.059, {}};
  s.errors.outcomes[1] = 190;
  s.errors.outcomes[12] = 1;
  s.lane_state_share = {0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01};
  s.calls_ok_per_s = 3.5;
  s.tokens_in = 1;
  s.tokens_cached = 2;
  s.tokens_out = 3;
  s.usage_missing = 4;
  s.fidelity = {.output_n = 5,
                .output_ratio = 0.75,
                .output_ratio_p50 = 0.5,
                .prompt_n = 6,
                .cached_n = 7,
                .tokens_out_n = 21,
                .drift_p50 = 0.01,
                .drift_max = 0.25,
                .drift_total = -0.125,
                .drift_over = 8,
                .tool_present = 12,
                .tool_valid = 9,
                .tool_invalid = 2,
                .reasoning_only = 10,
                .hidden_reasoning = 11,
                .doubts = {21, 22, 23, 24, 25, 26, 27, 28, 29}};
  s.agents = {{1, "b:77", 8, 100, -5, 6, 7, 8, 4, 0.5, 9, true, true}};
  s.identities = {{"attempts = outcomes", 200, 199, 0}};
  s.replay = {
      ThinkTime::kRecorded,
      60s,
      {128'000, OverLimit::kDropLongStarts},
      History::kLive,
      {{"heavy", {1, 9, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12, 13, 14, 15, 16}}, {"light", {}, {}}}};
  row.notes = {"repeated because agent a was lost"};
  return row;
}

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
  // The encoding has no choices, so equal bytes mean that agents and identities came back too.
  EXPECT_EQ(EncodeStep(*back), EncodeStep(row));
  ASSERT_EQ(b.agents.size(), 1u);
  EXPECT_EQ(b.agents[0].name, "b:77");
  EXPECT_EQ(b.agents[0].skew_ns, -5);
  EXPECT_TRUE(b.agents[0].lost);
  EXPECT_TRUE(b.agents[0].no_tally);
  ASSERT_EQ(b.identities.size(), 1u);
  EXPECT_EQ(b.identities[0].left, 200);
  EXPECT_EQ(back->notes, row.notes);
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

class RunRepoTest : public testing::Test {
 protected:
  MemoryStore store_;
  RunRepo repo_{store_};
};

TEST_F(RunRepoTest, RunsAreListedLatestFirst) {
  ASSERT_TRUE(repo_.PutRun(ARun("b", 300)).ok());
  ASSERT_TRUE(repo_.PutRun(ARun("c", 100)).ok());
  ASSERT_TRUE(repo_.PutRun(ARun("a", 200)).ok());
  std::vector<std::string> ids;
  const auto found = repo_.ListRuns(2);
  ASSERT_TRUE(found.ok());
  for (const RunInfo& run : *found) ids.push_back(run.id);
  EXPECT_THAT(ids, ElementsAre("b", "a"));
  EXPECT_EQ(repo_.ListRuns(100)->size(), 3u);
}

TEST_F(RunRepoTest, ARunIsReplacedWhenItEnds) {
  RunInfo run = ARun("a", 200);
  ASSERT_TRUE(repo_.PutRun(run).ok());
  run.state = RunState::kFinished;
  run.exit_code = 1;
  ASSERT_TRUE(repo_.PutRun(run).ok());
  EXPECT_EQ(repo_.GetRun("a")->exit_code, 1);
  EXPECT_EQ(repo_.ListRuns(100)->size(), 1u);
  EXPECT_EQ(store_.synced_commits(), 2);
}

TEST_F(RunRepoTest, AnotherRunOfTheSameIdIsRefused) {
  ASSERT_TRUE(repo_.PutRun(ARun("a", 200)).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(repo_.PutRun(ARun("a", 201))));
  EXPECT_TRUE(absl::IsInvalidArgument(repo_.PutRun(ARun("a/b", 1))));
  EXPECT_TRUE(absl::IsInvalidArgument(repo_.PutRun(ARun("z", -1))));
  EXPECT_EQ(repo_.ListRuns(100)->size(), 1u);
}

TEST_F(RunRepoTest, RunsAreFoundByAnUnambiguousBeginning) {
  ASSERT_TRUE(repo_.PutRun(ARun("r-12", 1)).ok());
  ASSERT_TRUE(repo_.PutRun(ARun("r-123", 2)).ok());
  ASSERT_TRUE(repo_.PutRun(ARun("r-2", 3)).ok());
  EXPECT_EQ(repo_.FindRun("r-2")->id, "r-2");
  EXPECT_EQ(repo_.FindRun("r-12")->id, "r-12");  // Whole, though it begins another.
  EXPECT_EQ(repo_.FindRun("r-123")->id, "r-123");
  EXPECT_THAT(std::string(MessageOf(repo_.FindRun("r-").status())),
              HasSubstr("several runs begin with r-: r-12, r-123, r-2"));
  EXPECT_TRUE(absl::IsNotFound(repo_.FindRun("x").status()));
  EXPECT_TRUE(absl::IsNotFound(repo_.GetRun("r-1").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(repo_.FindRun("").status()));
}

TEST_F(RunRepoTest, StepsComeBackInOrderAndAreSynced) {
  for (const std::uint32_t step : {2u, 0u, 300u, 1u}) {
    ASSERT_TRUE(repo_.PutStep("a", AStep(step)).ok());
  }
  ASSERT_TRUE(repo_.PutStep("ab", AStep(9)).ok());
  std::vector<std::uint32_t> steps;
  const auto found = repo_.Steps("a");
  ASSERT_TRUE(found.ok());
  for (const StepRow& row : *found) steps.push_back(row.summary.plan.step);
  EXPECT_THAT(steps, ElementsAre(0u, 1u, 2u, 300u));
  EXPECT_THAT(*repo_.Steps("none"), IsEmpty());
  EXPECT_EQ(store_.synced_commits(), 5);
}

TEST_F(RunRepoTest, BatchesAreIdempotentByKeyAndOneLoggedWriteEach) {
  const keys::BatchKey key{"a", 1, 77, 1};
  const std::string bytes(10'000, 'x');
  EXPECT_EQ(*repo_.PutBatch(key, bytes), true);
  EXPECT_EQ(*repo_.PutBatch(key, "something else"), false);
  EXPECT_EQ(*repo_.PutBatch({"a", 1, 78, 1}, ""), true);  // A restarted agent.
  EXPECT_EQ(*repo_.PutBatch({"a", 0, 77, 1}, "first slot"), true);
  EXPECT_EQ(store_.commits(), 3);
  EXPECT_EQ(store_.synced_commits(), 0);
  std::vector<std::string> seen;
  ASSERT_TRUE(repo_
                  .ScanBatches("a",
                               [&](const keys::BatchKey&, std::string_view found) {
                                 seen.emplace_back(found);
                                 return absl::OkStatus();
                               })
                  .ok());
  EXPECT_THAT(seen, ElementsAre("first slot", bytes, ""));
}

TEST_F(RunRepoTest, DamagedBatchesAreDataLoss) {
  const auto ignore = [](const keys::BatchKey&, std::string_view) { return absl::OkStatus(); };
  ASSERT_TRUE(*repo_.PutBatch({"a", 1, 1, 1}, std::string(1000, 'x')));
  const std::string key = keys::Encode(keys::BatchKey{"a", 1, 1, 1});
  const std::string good = *store_.Get(key);
  for (const std::string& bad :
       {std::string("junk"), good.substr(0, good.size() - 3), std::string(), good + "x"}) {
    ASSERT_TRUE(store_.Commit({{key, bad}}, Durability::kLogged).ok());
    EXPECT_TRUE(absl::IsDataLoss(repo_.ScanBatches("a", ignore)));
  }
}

TEST_F(RunRepoTest, AFailedWriteIsReportedAndTheBatchMayComeAgain) {
  FaultyStore faulty(store_, 1);
  RunRepo repo(faulty);
  EXPECT_TRUE(absl::IsResourceExhausted(repo.PutBatch({"a", 1, 1, 1}, "x").status()));
  EXPECT_EQ(store_.size(), 0u);
  EXPECT_EQ(*repo.PutBatch({"a", 1, 1, 1}, "x"), true);
}

TEST_F(RunRepoTest, EventsKeepTheirOrder) {
  ASSERT_TRUE(repo_.PutEvent("a", {WallTime(2s), "third"}).ok());
  ASSERT_TRUE(repo_.PutEvent("a", {WallTime(1s), "first"}).ok());
  ASSERT_TRUE(repo_.PutEvent("a", {WallTime(1s), "second"}).ok());
  std::vector<std::string> texts;
  const auto found = repo_.Events("a");
  ASSERT_TRUE(found.ok());
  for (const RunLogLine& event : *found) texts.push_back(event.text);
  EXPECT_THAT(texts, ElementsAre("first", "second", "third"));
}

}  // namespace
}  // namespace plimsoll
