// Identities on the sample pages, and broken ones.
#include "coordinator/signals/identities.h"

#include <map>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;
using State = IdentityCheck::State;

// The worst state of each identity.
std::map<std::string, State> States(const std::vector<IdentityCheck>& checks) {
  std::map<std::string, State> states;
  for (const IdentityCheck& check : checks) {
    auto [found, is_new] = states.emplace(check.key, check.state);
    if (check.state == State::kBroken) found->second = State::kBroken;
    EXPECT_FALSE(IdentityWords(check).empty());
  }
  return states;
}

SourceReading Source(const std::string& kind, const std::string& stem,
                     const std::vector<std::string>& states) {
  return SourceOf(SampleReading(kind, stem, states));
}

TEST(Identities, HoldOnTheSamplePages) {
  std::map<std::string, State> vllm =
      States(CheckSource(Source("vllm", "vllm_v1", {"before", "after"})));
  EXPECT_EQ(vllm["buckets=count"], State::kHolds);
  EXPECT_EQ(vllm["mean-in-buckets"], State::kHolds);
  EXPECT_EQ(vllm["gaps=tokens"], State::kHolds);
  EXPECT_EQ(vllm["in=computed+cached"], State::kHolds);
  EXPECT_EQ(vllm["hits<=queries"], State::kHolds);
  EXPECT_EQ(vllm["finished<=durations"], State::kHolds);
  // Requests are under way, and the two move at different moments of one.
  EXPECT_EQ(vllm["queries<=tokens_in"], State::kUnknown);
  std::map<std::string, State> drained =
      States(CheckSource(Source("vllm", "vllm_v1", {"before", "after", "drained"})));
  EXPECT_EQ(drained["queries<=tokens_in"], State::kHolds);
  std::map<std::string, State> sglang =
      States(CheckSource(Source("sglang", "sglang", {"before", "after"})));
  EXPECT_EQ(sglang["gaps=tokens"], State::kUnknown) << "decoded tokens are logged, gaps are live";
  EXPECT_EQ(States(CheckSource(
                Source("sglang", "sglang", {"before", "after", "drained"})))["gaps=tokens"],
            State::kHolds);
  EXPECT_EQ(sglang["hits<=queries"], State::kHolds);
  std::map<std::string, State> envoy =
      States(CheckSource(Source("envoy", "envoy_proxy", {"before", "after"})));
  EXPECT_EQ(envoy["gaps=tokens"], State::kUnknown);
  EXPECT_EQ(envoy["buckets=count"], State::kHolds);
  std::map<std::string, State> gen_ai =
      States(CheckSource(Source("envoy_ai_gateway", "envoy_ai_gateway", {"before", "after"})));
  EXPECT_EQ(gen_ai["buckets=count"], State::kHolds);
  EXPECT_EQ(gen_ai["finished<=durations"], State::kHolds);
}

TEST(Identities, BetweenGatewayAndEngine) {
  const SourceReading engine = Source("vllm", "vllm_v1", {"before", "after"});
  std::map<std::string, State> envoy =
      States(CheckGateway(Source("envoy", "envoy_proxy", {"before", "after"}), engine));
  EXPECT_EQ(envoy["started<=admitted"], State::kHolds);
  EXPECT_EQ(envoy["open=in-engine"], State::kHolds);
  EXPECT_EQ(envoy["accounted"], State::kHolds);
  EXPECT_EQ(envoy["first-tokens"], State::kUnknown);
  std::map<std::string, State> gen_ai = States(
      CheckGateway(Source("envoy_ai_gateway", "envoy_ai_gateway", {"before", "after"}), engine));
  EXPECT_EQ(gen_ai["first-tokens"], State::kHolds);
}

TEST(Identities, SeveralTokensToAGapAreSaidAsSuch) {
  const Mapping mapping = MappingFrom(R"(
kind: x
signals:
  ttft: {histogram: [first]}
  token_gap: {histogram: [gap]}
  tokens_out: {counter: [tokens], moves: live}
)");
  const auto page = [](int first, int gaps, int tokens) {
    std::string text = "tokens " + std::to_string(tokens) + "\n";
    for (const auto& [name, count] : {std::pair("first", first), std::pair("gap", gaps)}) {
      for (const char* series : {"_bucket{le=\"1\"}", "_bucket{le=\"+Inf\"}", "_count", "_sum"}) {
        text.append(name).append(series).append(" ").append(std::to_string(count)).append("\n");
      }
    }
    return text;
  };
  const auto words = [&](const std::string& after) -> std::string {
    for (const IdentityCheck& one :
         CheckSource(SourceOf(ReadingOf(mapping, {page(0, 0, 0), after})))) {
      if (one.key == "gaps=tokens") return IdentityWords(one);
    }
    return "";
  };
  EXPECT_EQ(words(page(4, 40, 44)), "as many gaps as tokens after the first: 40 against 40");
  EXPECT_THAT(words(page(4, 16, 44)), HasSubstr("16 against 40: a gap covers several tokens"));
  EXPECT_THAT(words(page(4, 41, 44)), HasSubstr("41 against 40, which cannot both be right"));
}

TEST(Identities, WorkThatNobodyWaitsForIsSeen) {
  // The gateway has drained; the engine's gauges stand where they were.
  const std::vector<IdentityCheck> checks =
      CheckGateway(Source("envoy", "envoy_proxy", {"before", "drained"}),
                   Source("vllm", "vllm_v1", {"before", "after"}));
  std::map<std::string, State> states = States(checks);
  EXPECT_EQ(states["open=in-engine"], State::kBroken);
  for (const IdentityCheck& check : checks) {
    if (check.key != "open=in-engine") continue;
    EXPECT_EQ(check.left, 44);
    EXPECT_EQ(check.right, 0);
    EXPECT_THAT(IdentityWords(check), HasSubstr("44 against 0, which cannot both be right"));
  }
}

TEST(Identities, BrokenOnesOfOnePage) {
  const Mapping mapping = MappingFrom(R"(
kind: x
signals:
  ttft: {histogram: [h]}
  prefix_hits: {counter: [hits]}
  prefix_queries: {counter: [queries]}
)");
  const std::string zero =
      "h_bucket{le=\"1\"} 0\nh_bucket{le=\"2\"} 0\nh_bucket{le=\"+Inf\"} 0\nh_count 0\nh_sum 0\n"
      "hits 0\nqueries 0\n";
  const auto states = [&](const std::string& after) {
    return States(CheckSource(SourceOf(ReadingOf(mapping, {zero, after}))));
  };
  const std::string buckets =
      "h_bucket{le=\"1\"} 4\nh_bucket{le=\"2\"} 8\nh_bucket{le=\"+Inf\"} 8\n";
  const std::string hits = "hits 5\nqueries 5\n";
  EXPECT_EQ(states(buckets + "h_count 8\nh_sum 9\n" + hits)["buckets=count"], State::kHolds);
  EXPECT_EQ(states(buckets + "h_count 9\nh_sum 9\n" + hits)["buckets=count"], State::kBroken);
  EXPECT_EQ(states(buckets + "h_sum 9\n" + hits)["buckets=count"], State::kUnknown);
  // Four in (0, 1] and four in (1, 2]: 4 to 12.
  EXPECT_EQ(states(buckets + "h_count 8\nh_sum 12\n" + hits)["mean-in-buckets"], State::kHolds);
  EXPECT_EQ(states(buckets + "h_count 8\nh_sum 13\n" + hits)["mean-in-buckets"], State::kBroken);
  EXPECT_EQ(states(buckets + "h_count 8\nh_sum 3\n" + hits)["mean-in-buckets"], State::kBroken);
  EXPECT_EQ(states(buckets + "hits 6\nqueries 5\n")["hits<=queries"], State::kBroken);
}

}  // namespace
}  // namespace plimsoll
