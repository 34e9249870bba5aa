// From the sample pages exactly the values of expected.json come out.
#include <cmath>
#include <optional>

#include "common/json/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const json& Expected() {
  static const json expected = json::parse(TestData("expected.json"));
  return expected;
}

double Increase(const TargetReading& reading, Signal signal) {
  const SignalReading& one = reading.Of(signal);
  EXPECT_TRUE(one.here()) << TraitsOf(signal).key << ": " << MissingWords(one.missing);
  return one.increase;
}

double Last(const TargetReading& reading, Signal signal) {
  const SignalReading& one = reading.Of(signal);
  EXPECT_TRUE(one.here()) << TraitsOf(signal).key << ": " << MissingWords(one.missing);
  return one.gauge.last;
}

double Observed(const TargetReading& reading, Signal signal) {
  const SignalReading& one = reading.Of(signal);
  EXPECT_EQ(one.histograms.size(), 1u) << TraitsOf(signal).key;
  return one.histograms.empty() ? -1 : static_cast<double>(one.histograms[0].n);
}

void ExpectP90(const TargetReading& reading, Signal signal, const json& expected) {
  SCOPED_TRACE(expected.dump());
  const SignalReading& one = reading.Of(signal);
  ASSERT_EQ(one.histograms.size(), 1u) << TraitsOf(signal).key;
  const std::optional<QuantileBracket> bracket = BracketOf(one.histograms[0], 0.9);
  ASSERT_TRUE(bracket.has_value());
  EXPECT_EQ(bracket->lower, expected["lo"].get<double>());
  EXPECT_EQ(bracket->upper, expected["hi"].get<double>());
  EXPECT_NEAR(bracket->estimate, expected["est"].get<double>(), 0.5e-4 + 1e-9);
  EXPECT_EQ(one.histograms[0].n, expected["n"].get<std::uint64_t>());
  EXPECT_FALSE(one.histograms[0].repaired);
}

// Each key of `expected` is checked by `values`, or is among `done`.
void ExpectAll(const json& expected, const std::map<std::string, double>& values,
               const std::set<std::string>& done) {
  for (const auto& [key, value] : expected.items()) {
    if (done.count(key) > 0) continue;
    const auto found = values.find(key);
    if (found == values.end()) {
      ADD_FAILURE() << key << " is expected and not compared";
      continue;
    }
    EXPECT_DOUBLE_EQ(found->second, value.get<double>()) << key;
  }
}

TEST(Expected, Vllm) {
  const json& expected = Expected()["vllm_v1"]["from_metrics"];
  const TargetReading after = SampleReading("vllm", "vllm_v1", {"before", "after"});
  const TargetReading drained = SampleReading("vllm", "vllm_v1", {"before", "after", "drained"});
  EXPECT_EQ(after.continuity, Continuity::kWhole) << after.continuity_why;
  ExpectP90(after, Signal::kTtft, expected["ttft_p90"]);
  ExpectP90(drained, Signal::kTtft, expected["ttft_p90_drained"]);
  ExpectP90(after, Signal::kTimePerToken, expected["tpot_p90"]);
  ExpectP90(after, Signal::kTokenGap, expected["itl_p90"]);
  ExpectAll(expected,
            {{"first_tokens", Observed(after, Signal::kTtft)},
             {"first_tokens_drained", Observed(drained, Signal::kTtft)},
             {"finished", Increase(after, Signal::kFinished)},
             {"finished_drained", Increase(drained, Signal::kFinished)},
             {"abort_counter", Increase(after, Signal::kCancelled)},
             {"preemptions", Increase(after, Signal::kPreempted)},
             {"running", Last(after, Signal::kRunning)},
             {"waiting", Last(after, Signal::kWaiting)},
             {"prompt_tokens", Increase(after, Signal::kTokensIn)},
             {"cached_tokens", Increase(after, Signal::kTokensCached)},
             {"generation_tokens", Increase(after, Signal::kTokensOut)},
             {"prefix_hits", Increase(after, Signal::kPrefixHits)},
             {"prefix_queries", Increase(after, Signal::kPrefixQueries)},
             {"http_2xx", Increase(after, Signal::kAccepted)},
             {"http_4xx", Increase(after, Signal::kErrors)}},
            {"ttft_p90", "ttft_p90_drained", "tpot_p90", "itl_p90", "kv"});
  EXPECT_NEAR(Last(after, Signal::kKvFill), expected["kv"].get<double>(), 0.5e-6);
  EXPECT_EQ(Last(after, Signal::kAwake), 1);
  // The abort counter is known to be wrong, and says so.
  EXPECT_FALSE(after.Of(Signal::kCancelled).trusted);
  EXPECT_EQ(Last(drained, Signal::kRunning), 0);
  EXPECT_EQ(Last(drained, Signal::kWaiting), 0);
}

TEST(Expected, TheOpenRequestsTurnTheVerdict) {
  const json& expected = Expected()["vllm_v1"];
  const TargetReading after = SampleReading("vllm", "vllm_v1", {"before", "after"});
  const TargetReading drained = SampleReading("vllm", "vllm_v1", {"before", "drained"});
  const BucketCounts& early = after.Of(Signal::kTtft).histograms.at(0);
  const BucketCounts& late = drained.Of(Signal::kTtft).histograms.at(0);
  const auto open = expected["open_at_60s"].get<std::uint64_t>();
  // 5.3 s lies between 5 and 7.5; 184 of 198 are within 5 s.
  EXPECT_EQ(CountAt(early, 5.3, 0.9).resolved, Resolved::kUnder);
  EXPECT_EQ(CountAt(early, 5.3, 0.9).surely, 184u);
  EXPECT_EQ(CountAt(early, 5.3, 0.9, open).resolved, Resolved::kOpen);
  EXPECT_EQ(CountAt(late, 5.3, 0.9).resolved, Resolved::kOver);
  EXPECT_EQ(CountAt(late, 5.3, 0.9).surely, 184u);
  EXPECT_GT(expected["p90_ttft_all_arrivals"].get<double>(), 5.3);
}

TEST(Expected, EnvoyAiGateway) {
  const json& expected = Expected()["envoy_ai_gateway"];
  const TargetReading after =
      SampleReading("envoy_ai_gateway", "envoy_ai_gateway", {"before", "after"});
  const TargetReading drained =
      SampleReading("envoy_ai_gateway", "envoy_ai_gateway", {"before", "after", "drained"});
  EXPECT_EQ(after.continuity, Continuity::kWhole) << after.continuity_why;
  ExpectP90(after, Signal::kTtft, expected["ttft_p90"]);
  ExpectP90(after, Signal::kTimePerToken, expected["tpot_p90"]);
  const double ok = Increase(after, Signal::kFinished);
  const double errors = Increase(after, Signal::kErrors);
  ExpectAll(expected,
            {{"ok", ok},
             {"error", errors},
             {"first_tokens", Observed(after, Signal::kTtft)},
             {"input_tokens", Increase(after, Signal::kTokensIn)},
             {"cached_tokens", Increase(after, Signal::kTokensCached)},
             {"output_tokens", Increase(after, Signal::kTokensOut)},
             {"ok_drained", Increase(drained, Signal::kFinished)}},
            {"ttft_p90", "tpot_p90"});
  EXPECT_NEAR(errors / (ok + errors), Expected()["error_rate"]["gateway_genai_only"].get<double>(),
              0.5e-5);
}

TEST(Expected, EnvoyProxy) {
  const json& expected = Expected()["envoy_proxy"];
  const TargetReading after = SampleReading("envoy", "envoy_proxy", {"before", "after"});
  const TargetReading drained = SampleReading("envoy", "envoy_proxy", {"before", "drained"});
  EXPECT_EQ(after.continuity, Continuity::kWhole) << after.continuity_why;
  const double total = Increase(after, Signal::kRequests);
  const double errors = Increase(after, Signal::kErrors);
  ExpectAll(expected,
            {{"total", total},
             {"2", Increase(after, Signal::kAccepted)},
             {"reset", Increase(after, Signal::kCancelled)},
             {"ups", Increase(after, Signal::kForwarded)},
             {"u2", Increase(after, Signal::kForwardedAccepted)},
             {"u4", Increase(after, Signal::kForwardedErrors)},
             {"cancelled", Increase(after, Signal::kForwardedCancelled)},
             {"active", Last(after, Signal::kOpenRequests)},
             {"active_drained", Last(drained, Signal::kOpenRequests)}},
            {"4", "5"});
  EXPECT_EQ(errors, expected["4"].get<double>() + expected["5"].get<double>());
  const json& rates = Expected()["error_rate"];
  EXPECT_NEAR(errors / total, rates["envoy_4xx5xx_over_total"].get<double>(), 0.5e-5);
  EXPECT_EQ(errors - Increase(after, Signal::kForwardedErrors),
            rates["refused_at_envoy"].get<double>());
  EXPECT_EQ(Increase(after, Signal::kForwardedErrors), rates["refused_by_engine"].get<double>());
  EXPECT_EQ(Increase(drained, Signal::kCancelled), rates["aborted_by_clients"].get<double>());
  // Milliseconds on the page.
  EXPECT_DOUBLE_EQ(after.Of(Signal::kDuration).histograms.at(0).edges.front(), 0.0005);
}

TEST(Expected, Sglang) {
  const json& expected = Expected()["sglang"]["from_metrics"];
  const TargetReading after = SampleReading("sglang", "sglang", {"before", "after"});
  const TargetReading drained = SampleReading("sglang", "sglang", {"before", "after", "drained"});
  const TargetReading stale =
      SampleReading("sglang", "sglang", {"before", "after", "drained_but_gauge_stale"});
  EXPECT_EQ(after.continuity, Continuity::kWhole) << after.continuity_why;
  ExpectP90(after, Signal::kTtft, expected["ttft_p90"]);
  ExpectP90(after, Signal::kTokenGap, expected["itl_p90"]);
  ExpectAll(expected,
            {{"first_tokens", Observed(after, Signal::kTtft)},
             {"finished", Increase(after, Signal::kFinished)},
             {"finished_drained", Increase(drained, Signal::kFinished)},
             {"aborted", Increase(after, Signal::kCancelled)},
             {"retracted", Increase(after, Signal::kPreempted)},
             {"running", Last(after, Signal::kRunning)},
             {"waiting", Last(after, Signal::kWaiting)},
             {"token_usage", Last(after, Signal::kKvFill)},
             {"prompt_tokens", Increase(after, Signal::kTokensIn)},
             {"cached_tokens", Increase(after, Signal::kTokensCached)},
             {"generation_tokens", Increase(after, Signal::kTokensOut)},
             {"realtime_decode", Increase(after, Signal::kTokensDecoded)},
             {"stale_running", Last(stale, Signal::kRunning)}},
            {"ttft_p90", "itl_p90"});
  // All is done though the gauge still shows one.
  EXPECT_EQ(Increase(stale, Signal::kFinished), Increase(drained, Signal::kFinished));
  EXPECT_EQ(after.Of(Signal::kTimePerToken).missing, Missing::kByDesign);
  EXPECT_EQ(after.Of(Signal::kErrors).missing, Missing::kByDesign);
}

TEST(Expected, Llamacpp) {
  const json& expected = Expected()["llamacpp"]["from_metrics"];
  const TargetReading after = SampleReading("llamacpp", "llamacpp", {"before", "after"});
  EXPECT_EQ(after.continuity, Continuity::kWhole) << after.continuity_why;
  const SignalReading& computed = after.Of(Signal::kTokensComputed);
  ExpectAll(expected,
            {{"printed_pt_delta", computed.increase},
             {"gt", Increase(after, Signal::kTokensOut)},
             {"nd", Increase(after, Signal::kEngineSteps)},
             {"running", Last(after, Signal::kRunning)},
             {"deferred", Last(after, Signal::kWaiting)}},
            {"pt", "ps", "gs", "busy_slots_this_minute", "note"});
  // Six digits: what was counted is within what the page allows.
  const std::pair<const char*, Signal> rounded[] = {{"pt", Signal::kTokensComputed},
                                                    {"ps", Signal::kPrefillSeconds},
                                                    {"gs", Signal::kDecodeSeconds}};
  for (const auto& [key, signal] : rounded) {
    const SignalReading& one = after.Of(signal);
    ASSERT_TRUE(one.here()) << key;
    EXPECT_NEAR(one.increase, expected[key].get<double>(), one.uncertainty + 1e-3) << key;
    EXPECT_LT(one.uncertainty, 0.001 * one.increase) << key;
  }
  EXPECT_NEAR(Last(after, Signal::kMeanRunning), expected["busy_slots_this_minute"].get<double>(),
              2e-4);
  // What it has not is listed with a reason.
  for (const Signal signal : {Signal::kTtft, Signal::kErrors, Signal::kCancelled,
                              Signal::kTokensCached, Signal::kOpenRequests}) {
    EXPECT_EQ(after.Of(signal).missing, Missing::kByDesign) << TraitsOf(signal).key;
    EXPECT_NE(after.Of(signal).why, "");
  }
  EXPECT_EQ(after.Of(Signal::kKvFill).missing, Missing::kNoName);
}

TEST(Expected, ARestartInTheMiddleIsAnOutcome) {
  const TargetReading reading = SampleReading("vllm", "vllm_v1", {"before", "restarted"});
  EXPECT_EQ(reading.continuity, Continuity::kRestarted);
  EXPECT_EQ(reading.continuity_why, "its start time moved");
  EXPECT_EQ(Increase(reading, Signal::kTokensIn), 12001);  // What the new process counted.
  // Seen by the counters alone where the page has no start time.
  const auto without = [](std::string page) {
    const std::size_t at = page.find("\nprocess_start_time_seconds ") + 1;
    return page.erase(at, page.find('\n', at) + 1 - at);
  };
  const TargetReading counters = ReadingOf(
      Builtin("vllm"),
      {without(TestData("vllm_v1.after.prom")), without(TestData("vllm_v1.restarted.prom"))});
  EXPECT_EQ(counters.continuity, Continuity::kRestarted);
  EXPECT_THAT(counters.continuity_why, HasSubstr("fell from"));
}

}  // namespace
}  // namespace plimsoll
