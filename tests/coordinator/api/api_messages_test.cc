// The mapping from values to messages, field by field, and the JSON of it.
#include "coordinator/api/api_messages.h"

#include <cmath>
#include <limits>

#include <google/protobuf/util/json_util.h>

#include "coordinator/api/api_json.h"
#include "coordinator/store/run_codec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plimsoll/v1/api.pb.h"
#include "tests/coordinator/api/full_view.h"
#include "tests/coordinator/api/sample_runs.h"

namespace plimsoll {
namespace {

using testing::ALiveStatus;
using testing::ARun;
using testing::DefaultBar;
using testing::FullStep;
using testing::FullView;
using ::testing::HasSubstr;
using testing::Healthy;
using ::testing::Not;
using testing::SampleRun;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Names of the fields of `message` and of what is in it that are not set: every one of them is a
// field that the mapping forgot, since the sample leaves none at its default.
std::vector<std::string> Unset(const google::protobuf::Message& message, const std::string& path) {
  std::vector<std::string> unset;
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const auto* field = message.GetDescriptor()->field(i);
    const std::string name = path + field->name();
    const bool is_message = field->message_type() != nullptr;
    if (field->is_repeated()) {
      if (reflection->FieldSize(message, field) == 0) unset.push_back(name);
      if (is_message && reflection->FieldSize(message, field) > 0) {
        const auto more = Unset(reflection->GetRepeatedMessage(message, field, 0), name + ".");
        unset.insert(unset.end(), more.begin(), more.end());
      }
    } else if (!reflection->HasField(message, field)) {
      unset.push_back(name);
    } else if (is_message && field->message_type()->name() != "Timestamp") {
      const auto more = Unset(reflection->GetMessage(message, field), name + ".");
      unset.insert(unset.end(), more.begin(), more.end());
    }
  }
  return unset;
}

TEST(ApiMessages, ARunForgetsNoField) {
  v1::Run run;
  ToApi(FullView(), &run);
  // No step is both: one that was stopped, or lost an agent, lacks what agents tell at its end.
  EXPECT_THAT(Unset(run, ""), ::testing::ElementsAre("steps.agents.lost", "steps.stopped_after_s"));
}

TEST(ApiMessages, AStepKeepsItsNumbersAndUnits) {
  v1::Step step;
  ToApi(FullStep(), &step);
  EXPECT_EQ(step.step(), 3u);
  EXPECT_EQ(step.sessions(), 15u);
  EXPECT_EQ(step.origin().kind(), v1::STEP_KIND_REFINEMENT);
  EXPECT_EQ(step.origin().ladder(), "light");
  EXPECT_EQ(step.origin().failed_early_after_blocks(), 3u);
  EXPECT_EQ(step.origin().failed_early_measured_s(), 182);
  EXPECT_EQ(step.warm_up_s(), 120);
  EXPECT_EQ(step.measure_s(), 300);
  EXPECT_EQ(step.block_s(), 60);
  EXPECT_EQ(step.verdict(), v1::VERDICT_TOO_CLOSE);
  EXPECT_EQ(step.lean(), v1::LEAN_FAIL);
  const v1::Part& part = step.parts(0);
  EXPECT_EQ(part.limit().metric(), v1::METRIC_INTERACTIVITY);
  EXPECT_EQ(part.limit().quantile_share(), 0.9);
  EXPECT_EQ(part.limit().key(), "heavy.interactivity_p90");
  EXPECT_EQ(part.limit().tier(), "heavy");
  EXPECT_EQ(part.limit().origin().runs(1), "r-2");
  EXPECT_EQ(part.limit().origin().factor(), 0.8);
  EXPECT_EQ(part.limit().origin().low_95(), 3);
  EXPECT_EQ(part.value().value(), 9.75);
  EXPECT_EQ(part.share().value(), 0.885);
  EXPECT_EQ(part.share().low_95(), 0.85);
  EXPECT_EQ(part.share().high_95(), 0.91);
  EXPECT_EQ(part.margin_of_limit(), -0.025);
  EXPECT_EQ(step.lane_time().in_flight_share(), 0.5);
  EXPECT_EQ(step.lane_time().planned_delay_share(), 0.3);
  EXPECT_EQ(step.lane_time().idle_refused_share(), 0.1);
  EXPECT_EQ(step.lane_time().idle_late_share(), 0.04);
  EXPECT_EQ(step.lane_time().idle_client_error_share(), 0.03);
  EXPECT_EQ(step.lane_time().idle_dead_man_share(), 0.02);
  EXPECT_EQ(step.lane_time().idle_no_session_share(), 0.01);
  EXPECT_EQ(step.ttft().p50_s().value(), 1.5);
  EXPECT_EQ(step.ttft().p90_ok_only_s().value(), 2.5);
  EXPECT_EQ(step.ttft().p90_from_sent_s().value(), 2.25);
  EXPECT_EQ(step.interactivity().reached_by_90_percent_tok_s(), 11);
  EXPECT_EQ(step.interactivity().reached_by_90_percent_ok_only_tok_s(), 12);
  EXPECT_EQ(step.interactivity().end_to_end_reached_by_90_percent_tok_s(), 8);
  ASSERT_EQ(step.errors().outcomes_size(), 2);
  EXPECT_EQ(step.errors().outcomes(0).outcome(), "ok");
  EXPECT_EQ(step.errors().outcomes(0).count(), 190u);
  EXPECT_EQ(step.errors().outcomes(1).outcome(), "client_error");
  EXPECT_DOUBLE_EQ(step.agents(0).lateness_p99_s(), 6e-9);
  const v1::StepHost& host = step.agents(0).host();
  EXPECT_EQ(host.cores_used_max(), 1.5);
  EXPECT_EQ(host.cores(), 4);
  EXPECT_EQ(host.thread_max_share(), 0.25);
  EXPECT_DOUBLE_EQ(host.throttled_s(), 0.003);
  EXPECT_DOUBLE_EQ(host.stolen_s(), 0.004);
  EXPECT_EQ(host.descriptors_max(), 50u);
  EXPECT_EQ(host.descriptors_limit(), 1024u);
  EXPECT_EQ(host.ports_max(), 60u);
  EXPECT_EQ(host.ports_limit(), 28'232u);
  EXPECT_TRUE(step.identities(0).holds());
  EXPECT_EQ(step.fidelity().output_came_share(), 0.97);
  EXPECT_EQ(step.fidelity().drift_total_share(), -0.02);
  EXPECT_EQ(step.fidelity().tool_calls_invalid(), 8u);
}

TEST(ApiMessages, AStepSaysHowTrueItWasToTheRecordedSessions) {
  v1::Step step;
  ToApi(FullStep(), &step);
  const v1::Replay& replay = step.replay();
  EXPECT_EQ(replay.think_time(), "recorded");
  EXPECT_EQ(replay.think_time_cap_s(), 60);
  EXPECT_EQ(replay.context_limit_tokens(), 128'000u);
  EXPECT_EQ(replay.over_limit(), Name(OverLimit::kDropLongStarts));
  EXPECT_EQ(replay.history(), "live");
  ASSERT_EQ(replay.tiers_size(), 1);
  EXPECT_EQ(replay.tiers(0).tier(), "heavy");
  EXPECT_DOUBLE_EQ(replay.tiers(0).counts().pause_removed_s(), 3e-9);
  EXPECT_EQ(replay.tiers(0).counts().turns_recorded(), 8u);
  EXPECT_EQ(replay.tiers(0).sessions().calls_left_out(), 13u);
  EXPECT_EQ(replay.tiers(0).sessions().prompt_tokens_left_out(), 16u);

  ReportedStep plain = FullStep();
  plain.summary.replay = {.tiers = {{.name = "light"}}};
  ToApi(plain, &step);
  EXPECT_EQ(step.replay().think_time(), "none");
  EXPECT_FALSE(step.replay().has_think_time_cap_s());
  EXPECT_FALSE(step.replay().has_context_limit_tokens());
  EXPECT_FALSE(step.replay().has_over_limit());
  plain.summary.replay = {};  // Of an earlier version.
  ToApi(plain, &step);
  EXPECT_FALSE(step.has_replay());
}

TEST(ApiMessages, OfAnInterruptedStepNothingUnmeasuredIsSaid) {
  ReportedStep reported = FullStep();
  reported.summary.broken_off_after = 133s;
  reported.summary.verdict.parts[0].n = 0;
  v1::Step step;
  ToApi(reported, &step);
  EXPECT_EQ(step.stopped_after_s(), 133);
  EXPECT_FALSE(step.has_offered_share());
  EXPECT_FALSE(step.has_sent_share());
  EXPECT_FALSE(step.has_lane_time());
  EXPECT_FALSE(step.has_requests_in_flight_mean());
  EXPECT_FALSE(step.errors().has_unsent_calls());
  EXPECT_FALSE(step.parts(0).has_share());
  EXPECT_EQ(step.agents(0).lanes(), 8u);
  EXPECT_FALSE(step.agents(0).has_attempts());
  EXPECT_FALSE(step.agents(0).has_skew_s());
  EXPECT_FALSE(step.agents(0).has_loop_stalled_s());
  EXPECT_FALSE(step.agents(0).has_records_lost());
  EXPECT_FALSE(step.agents(0).has_host());
  EXPECT_FALSE(step.replay().tiers(0).has_counts());
  EXPECT_EQ(step.replay().tiers(0).sessions().sessions(), 9u);
  EXPECT_EQ(step.errors().attempts(), 200u);  // What was measured is said.
  EXPECT_EQ(step.tokens_out(), 3u);

  reported.summary.broken_off_after.reset();
  reported.summary.agents[0].lost = true;
  ToApi(reported, &step);
  EXPECT_FALSE(step.has_stopped_after_s());
  EXPECT_FALSE(step.has_sent_share());
  EXPECT_FALSE(step.agents(0).has_attempts());
  EXPECT_TRUE(step.agents(0).lost());
}

TEST(ApiMessages, TokensThatNobodyReportedAreAbsentAndZeroIsSaid) {
  ReportedStep reported = FullStep();
  reported.summary.tokens_in.reset();
  reported.summary.tokens_cached = 0;
  reported.summary.tokens_out.reset();
  reported.summary.calls_ok_per_s.reset();
  v1::Step step;
  ToApi(reported, &step);
  EXPECT_FALSE(step.has_tokens_in());
  EXPECT_FALSE(step.has_tokens_out());
  EXPECT_FALSE(step.has_ok_calls_per_s());
  const auto json = ToJson(step);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_THAT(*json, HasSubstr(R"("tokens_cached":"0")"));
  EXPECT_THAT(*json, Not(HasSubstr(R"("tokens_in":)")));
  EXPECT_THAT(*json, Not(HasSubstr(R"("tokens_out":)")));
}

TEST(ApiMessages, AbsentIsAbsentAndInfiniteIsSaid) {
  ReportedStep reported;
  reported.summary.ttft.p90_s = {std::nullopt, true};
  PartVerdict part;
  part.limit = {Metric::kErrors, 0, 0.02};
  reported.summary.verdict.parts = {part};
  v1::Step step;
  ToApi(reported, &step);
  EXPECT_FALSE(step.ttft().p90_s().has_value());
  EXPECT_TRUE(step.ttft().p90_s().infinite());
  EXPECT_FALSE(step.ttft().p50_s().has_value());
  EXPECT_FALSE(step.ttft().p50_s().infinite());
  EXPECT_FALSE(step.errors().has_error_share());
  EXPECT_FALSE(step.interactivity().has_reached_by_90_percent_tok_s());
  EXPECT_FALSE(step.parts(0).limit().has_quantile_share());
  EXPECT_FALSE(step.parts(0).has_margin_of_limit());
  EXPECT_FALSE(step.parts(0).value_low_95().has_value());
  EXPECT_FALSE(step.parts(0).value_high_95().infinite());

  const auto json = ToJson(step);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_THAT(*json, HasSubstr(R"("p90_s":{"infinite":true})"));
  EXPECT_THAT(*json, HasSubstr(R"("p50_s":{"infinite":false})"));
  EXPECT_THAT(*json, Not(HasSubstr("\"error_share\"")));
  EXPECT_THAT(*json, HasSubstr(R"("requests_in_flight_mean":0)"));  // Zero is said.
}

TEST(ApiMessages, AJudgedStepKeepsItsValuesIntervalThroughTheStore) {
  StepEvidence evidence = Healthy();
  for (CellCounts& cell : evidence.cells) cell.parts[0].n += 2;  // Two calls a cell failed.
  evidence.ttft_infinite = 100;
  const StepVerdict verdict = JudgeStep(evidence, DefaultBar());
  ASSERT_TRUE(verdict.parts[0].value_high.infinite);
  ASSERT_TRUE(verdict.parts[1].value_low.value && verdict.parts[1].value_high.value);
  const auto row = DecodeStep(EncodeStep({.summary = Summarize(evidence, verdict), .notes = {}}));
  ASSERT_TRUE(row.ok()) << row.status();
  v1::Step step;
  ToApi(ReportedStep{.summary = row->summary}, &step);
  EXPECT_EQ(step.parts(0).value_low_95().has_value(), verdict.parts[0].value_low.value.has_value());
  EXPECT_FALSE(step.parts(0).value_high_95().has_value());
  EXPECT_TRUE(step.parts(0).value_high_95().infinite());
  EXPECT_EQ(step.parts(1).value_low_95().value(), *verdict.parts[1].value_low.value);
  EXPECT_EQ(step.parts(1).value_high_95().value(), *verdict.parts[1].value_high.value);
  EXPECT_EQ(step.parts(2).value_high_95().value(), verdict.parts[2].share_high);
}

TEST(ApiMessages, NumbersThatAreNoneNeverReachAReader) {
  ReportedStep reported = FullStep();
  reported.summary.requests_in_flight_mean = kInfinity;
  reported.summary.errors.error_share = std::nan("");
  reported.summary.ttft.p50_s.value = kInfinity;
  v1::Step step;
  ToApi(reported, &step);
  EXPECT_FALSE(step.has_requests_in_flight_mean());
  EXPECT_FALSE(step.errors().has_error_share());
  EXPECT_FALSE(step.ttft().p50_s().has_value());
}

TEST(ApiMessages, TextsThatAreNotUtf8AreMended) {
  RunView view = FullView();
  view.info.name =
      "r\xe9"
      "cipe";
  view.info.scenario_text = "\xff\xfe: 1";
  view.model.steps[0].notes = {"\xed\xa0\x80"};  // A surrogate.
  view.log[0].text = "\xc0\x80";                 // An overlong zero.
  v1::Run run;
  ToApi(view, &run);
  EXPECT_EQ(run.summary().name(),
            "r\xEF\xBF\xBD"
            "cipe");
  EXPECT_TRUE(ToJson(run).ok());
  std::string bytes;
  EXPECT_TRUE(run.SerializeToString(&bytes));
  v1::Run read;
  EXPECT_TRUE(read.ParseFromString(bytes));
}

TEST(ApiMessages, JsonReadsBackAsTheSameMessage) {
  v1::Run run;
  ToApi(FullView(), &run);
  const auto json = ToJson(run);
  ASSERT_TRUE(json.ok());
  v1::Run read;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(*json, &read).ok()) << *json;
  EXPECT_EQ(read.SerializeAsString(), run.SerializeAsString());
  EXPECT_THAT(*json, HasSubstr(R"("started_at":"2027-01-15T08:00:00.250Z")"));
  EXPECT_THAT(*json, HasSubstr(R"("seed":"18446744073709551615")"));
  EXPECT_THAT(*json, HasSubstr(R"("verdict":"VERDICT_FAIL")"));
}

TEST(ApiMessages, ARunThatGoesOnHasNoEndAndNoVerdictYet) {
  RunView view{.info = ARun("r1", 1'800'000'000)};
  Conclude(view.model);
  v1::Run run;
  ToApi(view, &run);
  EXPECT_FALSE(run.summary().has_ended_at());
  EXPECT_FALSE(run.summary().has_exit_code());
  EXPECT_FALSE(run.summary().has_capacity());
  EXPECT_FALSE(run.has_verdict());
  EXPECT_FALSE(run.has_live());
}

TEST(ApiMessages, AgentsAreThoseOfTheRunHereOrAWordWhereToAsk) {
  v1::ListAgentsResponse agents;
  ToApi(std::optional<LiveRun>(), &agents);
  EXPECT_FALSE(agents.has_run_id());
  ToApi(LiveRun{.run_id = "r1", .status = ALiveStatus()}, &agents);
  EXPECT_EQ(agents.run_id(), "r1");
  ASSERT_EQ(agents.agents_size(), 2);
  EXPECT_EQ(agents.agents(0).memory_bytes(), std::uint64_t{16} << 30);
  EXPECT_EQ(agents.agents(1).silent_for_s(), 20);
  ToApi(LiveRun{.run_id = "r1", .coordinator_http = "127.0.0.1:9"}, &agents);
  EXPECT_FALSE(agents.has_run_id());
  EXPECT_EQ(agents.coordinator_http(), "127.0.0.1:9");
}

TEST(ApiMessages, LiveIsTheRunThatACoordinatorIsAt) {
  v1::ListRunsResponse runs;
  ToApi({ARun("a", 3), ARun("b", 2), ARun("c", 1, RunState::kFailed)}, "b", &runs);
  ASSERT_EQ(runs.runs_size(), 3);
  EXPECT_FALSE(runs.runs(0).live());
  EXPECT_TRUE(runs.runs(1).live());
  EXPECT_EQ(runs.runs(2).state(), v1::RUN_STATE_FAILED);
}

TEST(ApiMessages, LivePartsFollowTheBarAndTheOldFieldsTheFirstLimitOnAllCalls) {
  v1::LiveStatus out;
  LiveStatus status = *FullView().status;
  ToApi(status, &out);
  ASSERT_EQ(out.numbers().parts_size(), 4);
  EXPECT_EQ(out.numbers().parts(0).limit().key(), "heavy.ttft_p99.5");
  EXPECT_EQ(out.numbers().parts(0).n(), 40u);
  EXPECT_EQ(out.numbers().parts(0).value().value(), 9);
  EXPECT_EQ(out.numbers().ttft_at_bar_s().value(), 2.5) << "not the heavy tier's";
  EXPECT_EQ(out.numbers().interactivity_at_bar_tok_s(), 30.5);
  status.numbers.parts.clear();  // A bar without limits on either: P90, as before.
  ToApi(status, &out);
  EXPECT_EQ(out.numbers().ttft_at_bar_s().value(), 1.5);
  EXPECT_EQ(out.numbers().interactivity_at_bar_tok_s(), 31.5);
}

}  // namespace
}  // namespace plimsoll
