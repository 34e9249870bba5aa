// How many requests may still become an observation.
#include "coordinator/signals/censoring.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

SourceReading Vllm(const std::vector<std::string>& states) {
  return SourceOf(SampleReading("vllm", "vllm_v1", states));
}
SourceReading Envoy(const std::vector<std::string>& states) {
  return SourceOf(SampleReading("envoy", "envoy_proxy", states));
}

TEST(Censoring, TheGatewaysOpenRequestsBoundItAndAdmittedLessSeenMayBeFewer) {
  const SourceReading engine = Vllm({"before", "after"});
  const SourceReading gateway = Envoy({"before", "after"});
  // 235 admitted, 198 first tokens: 37 of the 44 open ones at most.
  const OpenAtEnd ttft = OpenWithoutObservation(Signal::kTtft, engine, &gateway);
  EXPECT_EQ(ttft.most, 37u);
  EXPECT_THAT(ttft.how, HasSubstr("admitted"));
  // What moves at the finish is missing of every open one.
  EXPECT_EQ(OpenWithoutObservation(Signal::kTimePerToken, engine, &gateway).most, 44u);
  EXPECT_EQ(OpenWithoutObservation(Signal::kTtft, engine, nullptr).most, 15u + 29u);
  const BucketCounts& counts = engine.Of(Signal::kTtft).reading.histograms.at(0);
  EXPECT_EQ(CountAt(counts, 5.3, 0.9, *ttft.most).resolved, Resolved::kOpen);
}

TEST(Censoring, OnceDrainedNoneIsLeft) {
  const SourceReading engine = Vllm({"before", "drained"});
  const SourceReading gateway = Envoy({"before", "drained"});
  EXPECT_EQ(OpenWithoutObservation(Signal::kTtft, engine, &gateway).most, 0u);
  EXPECT_EQ(OpenWithoutObservation(Signal::kTtft, engine, nullptr).most, 0u);
}

TEST(Censoring, WhatWasOpenBeforeMayStillBe) {
  // From the end of the load to the drain: 44 were open, 27 first tokens came.
  const SourceReading engine = Vllm({"after", "drained"});
  const SourceReading gateway = Envoy({"after", "after"});
  EXPECT_EQ(OpenWithoutObservation(Signal::kTtft, engine, &gateway).most, 44u - 27u);
}

TEST(Censoring, WithoutGaugesNobodyKnows) {
  const Mapping mapping = MappingFrom("kind: x\nsignals: {waiting: {gauge: [w]}}\n");
  const SourceReading engine = SourceOf(ReadingOf(mapping, {"w 3\n", "w 4\n"}));
  const OpenAtEnd open = OpenWithoutObservation(Signal::kTtft, engine, nullptr);
  EXPECT_EQ(open.most, std::nullopt);
  EXPECT_EQ(open.how, "running of the engines is not known");
  // A gateway that cannot tell is none.
  EXPECT_EQ(OpenWithoutObservation(Signal::kTtft, engine, &engine).most, std::nullopt);
}

}  // namespace
}  // namespace plimsoll
