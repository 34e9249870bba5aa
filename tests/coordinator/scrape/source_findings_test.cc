// What the first read tells: who answers, what is missing, what buckets can decide.
#include "coordinator/scrape/source_findings.h"

#include <algorithm>

#include "tests/coordinator/scrape/scrape_rig.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Limit kTtft{.metric = Metric::kTtft, .quantile = 0.9, .value = 5.3};
const Limit kErrors{.metric = Metric::kErrors, .quantile = 0, .value = 0.02};
const Limit kInteractivity{.metric = Metric::kInteractivity, .quantile = 0.9, .value = 30};

TargetSeries Series(const std::string& source, const std::string& name, const std::string& kind,
                    const std::string& text) {
  TargetSeries series{
      .source = source, .name = name, .samples = {}, .mapping = SharedMapping(kind)};
  if (text.empty()) {
    series.samples.push_back(
        TargetReader::Unreadable(absl::UnavailableError("connection refused"), MonoTime(1s), 1ms));
    return series;
  }
  PageParser parser;
  const StatusOr<Page> page = parser.Parse(text, PageSyntax::kText);
  EXPECT_TRUE(page.ok()) << page.status();
  if (page.ok()) {
    series.samples.push_back(TargetReader(series.mapping, {}).Read(*page, MonoTime(1s), 1ms));
  }
  return series;
}

std::vector<std::string> TextsOf(const std::vector<Finding>& findings, FindingLevel level) {
  std::vector<std::string> texts;
  for (const Finding& finding : findings) {
    if (finding.level == level) texts.push_back(finding.text);
  }
  return texts;
}

TEST(SourceFindings, PagesThatAnswerAreListedBySource) {
  const SignalHistory history{{Series("engines", "a", "vllm", VllmPage(1, 1)),
                               Series("engines", "b", "vllm", VllmPage(1, 1))}};
  const auto findings = SourceFindings(history, {{kTtft}}, JudgeMode::kServer);
  EXPECT_THAT(TextsOf(findings, FindingLevel::kOk),
              ElementsAre("signals of engines (kind vllm): 2 pages are read: a, b"));
  EXPECT_EQ(findings.size(), 1u);
}

TEST(SourceFindings, AMissingPageBlocksOnlyWhereTheServerJudges) {
  const SignalHistory history{{Series("engines", "a", "vllm", VllmPage(1, 1)),
                               Series("engines", "b", "vllm", ""),
                               Series("production", "p", "envoy", "")}};
  const auto both = SourceFindings(history, {{kTtft}}, JudgeMode::kBoth);
  EXPECT_THAT(TextsOf(both, FindingLevel::kBlocking), ElementsAre());
  EXPECT_EQ(TextsOf(both, FindingLevel::kWarning).size(), 2u);
  const auto server = SourceFindings(history, {{kTtft}}, JudgeMode::kServer);
  EXPECT_THAT(
      TextsOf(server, FindingLevel::kBlocking),
      ElementsAre(AllOf(HasSubstr("b of engines (kind vllm) cannot be read"),
                        HasSubstr("connection refused"), HasSubstr("judge: server needs it"))));
  EXPECT_THAT(TextsOf(server, FindingLevel::kWarning), ElementsAre(HasSubstr("p of production")));
}

TEST(SourceFindings, ManySilentPagesAreCounted) {
  SignalHistory history;
  for (int i = 0; i < 40; ++i) {
    history.targets.push_back(Series("production", std::to_string(i), "envoy", ""));
  }
  const auto texts = TextsOf(SourceFindings(history, {}, JudgeMode::kBoth), FindingLevel::kWarning);
  ASSERT_EQ(texts.size(), 17u);
  EXPECT_EQ(texts.back(), "24 more pages cannot be read");
}

TEST(SourceFindings, ASignalThatNobodyHasIsNamedWithTheReason) {
  const SignalHistory history{
      {Series("engines", "a", "llamacpp", "llamacpp:requests_processing 1\n")}};
  const auto server = SourceFindings(history, {{kTtft}}, JudgeMode::kServer);
  EXPECT_THAT(TextsOf(server, FindingLevel::kBlocking),
              ElementsAre(AllOf(HasSubstr("TTFT"), HasSubstr("a of engines (kind llamacpp):"))));
  const auto client = SourceFindings(history, {{kTtft}}, JudgeMode::kClient);
  EXPECT_THAT(TextsOf(client, FindingLevel::kBlocking), ElementsAre());
}

TEST(SourceFindings, ASecondSourceStandsInForASignal) {
  // vLLM's page without an HTTP server's counters says nothing of errors: lazily none yet. Envoy's
  // does.
  const SignalHistory history{
      {Series("gateway", "g", "envoy",
              "envoy_http_downstream_rq_total{envoy_http_conn_manager_prefix=\"x\"} 1\n"
              "envoy_http_downstream_rq_xx{envoy_response_code_class=\"5\","
              "envoy_http_conn_manager_prefix=\"x\"} 0\n"),
       Series("engines", "a", "vllm", VllmPage(1, 1))}};
  const auto findings = SourceFindings(history, {{kTtft, kErrors}}, JudgeMode::kServer);
  EXPECT_THAT(TextsOf(findings, FindingLevel::kBlocking), ElementsAre());
}

TEST(SourceFindings, WithoutAnyTargetItSaysSo) {
  EXPECT_THAT(TextsOf(SourceFindings({}, {{kTtft}}, JudgeMode::kServer), FindingLevel::kBlocking),
              ::testing::Contains(HasSubstr("no server's page was found")));
}

TEST(SourceFindings, LimitsThatNoServerCanSayBlockWhereTheServerJudges) {
  const SignalHistory history{{Series("engines", "a", "vllm", VllmPage(1, 1))}};
  const Limit limits[] = {
      {.metric = Metric::kTtft, .quantile = 0.9, .value = 5, .tier = "heavy"},
      {.metric = Metric::kToolCalls, .quantile = 0, .value = 0.01},
      {.metric = Metric::kEndToEndInteractivity, .quantile = 0.9, .value = 10},
      {.metric = Metric::kGoodput, .quantile = 0.95, .value = 10},
  };
  for (const Limit& limit : limits) {
    const auto server = SourceFindings(history, {{limit}}, JudgeMode::kServer);
    EXPECT_THAT(
        TextsOf(server, FindingLevel::kBlocking),
        ElementsAre(AllOf(HasSubstr("no server's numbers say it"), HasSubstr("use judge: both"))));
    const auto both = SourceFindings(history, {{limit}}, JudgeMode::kBoth);
    EXPECT_THAT(TextsOf(both, FindingLevel::kBlocking), ElementsAre());
    EXPECT_EQ(TextsOf(both, FindingLevel::kWarning).size(), 1u);
    EXPECT_EQ(SourceFindings(history, {{limit}}, JudgeMode::kClient).size(), 1u);
  }
  EXPECT_THAT(
      TextsOf(SourceFindings(history, {{limits[0]}}, JudgeMode::kBoth), FindingLevel::kWarning),
      ElementsAre(HasSubstr("do not tell tiers apart")));
}

TEST(Decidability, EachLimitAndEachListOfEdgesOnce) {
  const SignalHistory history{{Series("engines", "a", "vllm", VllmPage(1, 1)),
                               Series("engines", "b", "vllm", VllmPage(1, 1))}};
  Limit edge = kTtft;
  edge.value = 5;
  EXPECT_THAT(
      DecidabilityLines(history, {{kTtft, edge, kErrors, kInteractivity}}),
      ElementsAre(
          AllOf(HasSubstr("by engines (kind vllm): 5.3 s lies between the edges 5 and 7.5 s"),
                HasSubstr("limits of 5 s and 7.5 s can")),
          HasSubstr("is an edge, so it can be decided")))
      << "nothing of interactivity is on these pages";
}

TEST(Decidability, GapsAreSaidToBeGaps) {
  const std::string page =
      "vllm:inter_token_latency_seconds_bucket{model_name=\"m\",le=\"0.025\"} 1\n"
      "vllm:inter_token_latency_seconds_bucket{model_name=\"m\",le=\"0.05\"} 1\n"
      "vllm:inter_token_latency_seconds_bucket{model_name=\"m\",le=\"+Inf\"} 1\n"
      "vllm:inter_token_latency_seconds_count{model_name=\"m\"} 1\n";
  const SignalHistory history{{Series("engines", "a", "vllm", page)}};
  EXPECT_THAT(DecidabilityLines(history, {{kInteractivity}}),
              ElementsAre(AllOf(HasSubstr("30 tok/s lies between the edges 40 and 20 tok/s"),
                                HasSubstr("gaps between tokens"))));
}

}  // namespace
}  // namespace plimsoll
