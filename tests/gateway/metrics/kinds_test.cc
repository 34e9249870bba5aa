// The gateway's pages under each server's names, read as Plimsoll reads that server: exactly what
// the engine model and its callers saw.
#include <cmath>
#include <string>
#include <vector>

#include "gateway/metrics/pages.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"
#include "tests/gateway/metrics/metered_engine.h"

namespace plimsoll {
namespace {

constexpr std::uint64_t kSeed = 20261130;
constexpr const char* kModel = "org/model \"m\"";

std::string PageOf(MetricKind kind, MeteredEngine& engine) {
  if (kind == MetricKind::kEnvoy) {
    return EnvoyPage(engine.counts(), {.model = kModel, .up = engine.up()});
  }
  if (kind == MetricKind::kAiGateway) {
    return AiGatewayPage(engine.counts(), {.model = kModel, .up = engine.up()});
  }
  const std::vector<EngineState> states = engine.Show();
  return EnginePageOf(kind,
                      {.model = kModel, .prefix = "/v1", .kv_blocks = 60'000, .copies = states});
}

// The page before any load, and as it is now.
class Read {
 public:
  Read(MetricKind kind, const std::string& before, const std::string& after)
      : reading_(ReadingOf(Builtin(std::string(Name(kind))), {before, after}, Filter(kind))) {
    EXPECT_EQ(reading_.continuity, Continuity::kWhole) << reading_.continuity_why;
  }

  // Each edge's count, and all.
  void ExpectHistogram(Signal signal, const std::vector<double>& observed) const {
    SCOPED_TRACE(TraitsOf(signal).key);
    const SignalReading& r = reading_.Of(signal);
    ASSERT_TRUE(r.here()) << r.why;
    ASSERT_EQ(r.histograms.size(), 1u);
    const BucketCounts& counts = r.histograms[0];
    EXPECT_EQ(counts.n, observed.size());
    EXPECT_EQ(r.counted, static_cast<double>(observed.size()));
    for (std::size_t i = 0; i < counts.edges.size(); ++i) {
      std::uint64_t at_most = 0;
      for (const double value : observed) at_most += value <= counts.edges[i] * (1 + 1e-12);
      EXPECT_EQ(counts.at_most[i], at_most) << "at " << counts.edges[i];
    }
    double sum = 0;
    for (const double value : observed) sum += value;
    EXPECT_NEAR(counts.sum, sum, 1e-6 * sum + 1e-9);
  }
  void ExpectCount(Signal signal, double value) const {
    const SignalReading& r = reading_.Of(signal);
    EXPECT_TRUE(r.here()) << TraitsOf(signal).key << ": " << r.why;
    EXPECT_NEAR(r.increase, value, r.uncertainty) << TraitsOf(signal).key;
  }
  void ExpectGauge(Signal signal, double value, double off = 0) const {
    const SignalReading& r = reading_.Of(signal);
    ASSERT_TRUE(r.here()) << TraitsOf(signal).key << ": " << r.why;
    EXPECT_NEAR(r.gauge.last, value, off) << TraitsOf(signal).key;
  }
  const TargetReading& reading() const { return reading_; }

 private:
  static SourceFilter Filter(MetricKind kind) {
    if (Builtin(std::string(Name(kind))).model_label.empty()) return {};
    return {.model = kModel, .where = {}};
  }
  TargetReading reading_;
};

std::vector<double> Both(const MeteredEngine& engine, std::vector<double> SeenOfCopy::*which) {
  std::vector<double> all = engine.seen(0).*which;
  all.insert(all.end(), (engine.seen(1).*which).begin(), (engine.seen(1).*which).end());
  return all;
}
std::uint64_t Both(const MeteredEngine& engine, std::uint64_t SeenOfCopy::*which) {
  return engine.seen(0).*which + engine.seen(1).*which;
}
double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// In the middle of the load, where what moves at the finish differs from what moves before, and
// after it.
template <typename Check>
void UnderWayAndDrained(MetricKind kind, const Check& check) {
  MeteredEngine engine(kind, 2, kSeed);
  const std::string before = PageOf(kind, engine);
  engine.Load(150);
  {
    SCOPED_TRACE("under way");
    ASSERT_GT(engine.gauges(0).running + engine.gauges(1).running, 0u);
    check(engine, Read(kind, before, PageOf(kind, engine)));
  }
  engine.Drain();
  SCOPED_TRACE("drained");
  EXPECT_GT(Both(engine, &SeenOfCopy::aborted), 5u);
  EXPECT_GT(Both(engine, &SeenOfCopy::cached), 0u);
  check(engine, Read(kind, before, PageOf(kind, engine)));
}

TEST(GatewayPages, VllmsSaysWhatTheEngineDid) {
  UnderWayAndDrained(MetricKind::kVllm, [](const MeteredEngine& e, const Read& read) {
    const EngineGauges a = e.gauges(0);
    const EngineGauges b = e.gauges(1);
    read.ExpectHistogram(Signal::kTtft, Both(e, &SeenOfCopy::ttft));
    read.ExpectHistogram(Signal::kTokenGap, Both(e, &SeenOfCopy::gaps));
    read.ExpectHistogram(Signal::kTimePerToken, Both(e, &SeenOfCopy::per_token));
    read.ExpectHistogram(Signal::kDuration, Both(e, &SeenOfCopy::durations));
    read.ExpectGauge(Signal::kRunning, a.running + b.running);
    read.ExpectGauge(Signal::kWaiting, a.waiting + b.waiting);
    read.ExpectGauge(Signal::kKvFill, std::max(a.kv_usage, b.kv_usage));
    read.ExpectGauge(Signal::kAwake, 1);
    read.ExpectCount(Signal::kFinished, static_cast<double>(a.finished + b.finished));
    read.ExpectCount(Signal::kCancelled, 0);  // As in the real one.
    read.ExpectCount(Signal::kPreempted, 0);
    const auto prompt = static_cast<double>(a.prompt_tokens + b.prompt_tokens);
    const auto cached = static_cast<double>(a.cached_tokens + b.cached_tokens);
    EXPECT_EQ(prompt, static_cast<double>(Both(e, &SeenOfCopy::prompt)));
    read.ExpectCount(Signal::kTokensIn, prompt);
    read.ExpectCount(Signal::kTokensCached, cached);
    read.ExpectCount(Signal::kTokensComputed, prompt - cached);
    read.ExpectCount(Signal::kPrefixQueries, prompt);
    read.ExpectCount(Signal::kPrefixHits, cached);
    read.ExpectCount(Signal::kTokensOut,
                     static_cast<double>(a.generated_tokens + b.generated_tokens));
    read.ExpectCount(Signal::kErrors, static_cast<double>(Both(e, &SeenOfCopy::refused)));
    read.ExpectCount(Signal::kAccepted, static_cast<double>(e.succeeded.size() + e.hung_up));
    EXPECT_NEAR(read.reading().Of(Signal::kDecodeSeconds).increase,
                Sum(Both(e, &SeenOfCopy::decodes)), 1e-6);
    // Each gap is a token after the first one.
    EXPECT_EQ(Both(e, &SeenOfCopy::gaps).size(),
              a.generated_tokens + b.generated_tokens - a.first_tokens - b.first_tokens);
  });
}

// The gateway looks at its engine now and then; a page in between must not count tokens whose gaps
// it does not have yet.
TEST(GatewayPages, VllmsTokensAndGapsAreOfOneInstant) {
  MeteredEngine engine(MetricKind::kVllm, 2, kSeed);
  const auto page = [&] {
    const std::vector<EngineState> states = engine.Show(/*looked=*/false);
    return EnginePageOf(MetricKind::kVllm, {.model = kModel, .prefix = "/v1", .copies = states});
  };
  const std::string before = page();
  engine.Load(30);
  for (const std::uint32_t copy : {0u, 1u}) engine.SendTo(copy, 100, 500);
  engine.RunFor(3s);
  const auto shown = [&] {
    return engine.gauges(0).generated_tokens + engine.gauges(1).generated_tokens;
  };
  const std::uint64_t looked = shown();
  engine.RunBlind(1s);
  ASSERT_GT(shown(), looked) << "the engine is at work";
  const Read read(MetricKind::kVllm, before, page());
  const auto counted = [&](Signal signal) {
    return static_cast<double>(read.reading().Of(signal).observations());
  };
  EXPECT_EQ(read.reading().Of(Signal::kTokensOut).increase,
            counted(Signal::kTtft) + counted(Signal::kTokenGap));
}

TEST(GatewayPages, SglangsCountsAtTheFinishAndShowsWhatItLastLogged) {
  UnderWayAndDrained(MetricKind::kSglang, [](const MeteredEngine& e, const Read& read) {
    read.ExpectHistogram(Signal::kTtft, Both(e, &SeenOfCopy::ttft));
    read.ExpectHistogram(Signal::kTokenGap, Both(e, &SeenOfCopy::gaps));
    read.ExpectHistogram(Signal::kDuration, Both(e, &SeenOfCopy::durations));
    EXPECT_EQ(read.reading().Of(Signal::kTimePerToken).missing, Missing::kByDesign);
    read.ExpectCount(Signal::kFinished, static_cast<double>(e.succeeded.size()));
    read.ExpectCount(Signal::kCancelled, static_cast<double>(Both(e, &SeenOfCopy::aborted)));
    read.ExpectCount(Signal::kTokensIn, static_cast<double>(Both(e, &SeenOfCopy::finished_prompt)));
    read.ExpectCount(Signal::kTokensCached,
                     static_cast<double>(Both(e, &SeenOfCopy::finished_cached)));
    read.ExpectCount(Signal::kTokensOut,
                     static_cast<double>(Both(e, &SeenOfCopy::finished_output)));
    // A prefill is logged as it ends: live, before its request is.
    read.ExpectCount(Signal::kPrefixHits, static_cast<double>(Both(e, &SeenOfCopy::cached)));
    read.ExpectCount(Signal::kPrefixQueries, static_cast<double>(Both(e, &SeenOfCopy::prompt)));
    read.ExpectCount(Signal::kTokensComputed, static_cast<double>(Both(e, &SeenOfCopy::prompt) -
                                                                  Both(e, &SeenOfCopy::cached)));
    // Of tokens and gauges, what was the case at the last log line, forty steps ago at most.
    double decoded = 0;
    double possible = 0;
    for (const std::uint32_t copy : {0u, 1u}) {
      const EngineGauges now = e.gauges(copy);
      decoded += static_cast<double>(now.generated_tokens - now.first_tokens);
      possible += 40.0 * now.running;
    }
    EXPECT_LE(read.reading().Of(Signal::kTokensDecoded).increase, decoded);
    EXPECT_GE(read.reading().Of(Signal::kTokensDecoded).increase, decoded - possible);
    if (e.gauges(0).running + e.gauges(1).running > 0) return;
    read.ExpectGauge(Signal::kRunning, 0);
    read.ExpectGauge(Signal::kWaiting, 0);
    read.ExpectGauge(Signal::kKvFill, 0);
    read.ExpectCount(Signal::kTokensDecoded, decoded);
  });
}

TEST(GatewayPages, LlamaCppsHasSixDigitsAndNoHistograms) {
  MeteredEngine engine(MetricKind::kLlamaCpp, 1, kSeed);
  const std::string before = PageOf(MetricKind::kLlamaCpp, engine);
  engine.Load(150);
  const Read read(MetricKind::kLlamaCpp, before, PageOf(MetricKind::kLlamaCpp, engine));
  const SeenOfCopy& seen = engine.seen(0);
  const EngineGauges now = engine.gauges(0);
  read.ExpectGauge(Signal::kRunning, now.running);
  read.ExpectGauge(Signal::kWaiting, now.waiting);
  read.ExpectCount(Signal::kTokensComputed, static_cast<double>(seen.prompt - seen.cached));
  read.ExpectCount(Signal::kTokensOut, static_cast<double>(seen.ended_output));
  EXPECT_NEAR(read.reading().Of(Signal::kPrefillSeconds).increase, Sum(seen.prefills), 0.01);
  EXPECT_NEAR(read.reading().Of(Signal::kDecodeSeconds).increase, seen.ended_decode, 0.01);
  read.ExpectCount(Signal::kEngineSteps, std::floor(now.steps));
  EXPECT_EQ(read.reading().Of(Signal::kTtft).missing, Missing::kByDesign);
  // Its two rates are of the time since anybody asked.
  const std::string page = PageOf(MetricKind::kLlamaCpp, engine);
  EXPECT_NE(page.find("\nllamacpp:prompt_tokens_seconds 0\n"), std::string::npos) << page;
}

TEST(GatewayPages, EnvoysHasTheCallersAndWhatNoEngineSaw) {
  UnderWayAndDrained(MetricKind::kEnvoy, [](const MeteredEngine& e, const Read& read) {
    const auto number = [](auto value) { return static_cast<double>(value); };
    const double open = number(e.requests) - number(e.ended.size());
    read.ExpectGauge(Signal::kOpenRequests, open);
    read.ExpectGauge(Signal::kForwardedOpen, open);
    read.ExpectCount(Signal::kRequests, number(e.requests));
    read.ExpectCount(Signal::kAccepted, number(e.accepted));
    read.ExpectCount(Signal::kErrors, number(e.refused + e.engine_refused - e.retried));
    read.ExpectCount(Signal::kCancelled, number(e.hung_up));
    read.ExpectCount(Signal::kForwarded, number(e.accepted + e.engine_refused));
    read.ExpectCount(Signal::kForwardedAccepted, number(e.accepted));
    read.ExpectCount(Signal::kForwardedErrors, number(e.engine_refused));
    read.ExpectCount(Signal::kForwardedCancelled, number(e.hung_up));
    read.ExpectCount(Signal::kRetried, number(e.retried));
    EXPECT_GT(e.refused, 5u);
    EXPECT_GT(e.retried, 2u);
    // In milliseconds, as of the last flush.
    std::vector<double> flushed;
    for (const auto& one : e.ended) {
      if (one.at / 5s < e.up() / 5s) flushed.push_back(one.seconds);
    }
    EXPECT_LT(flushed.size(), e.ended.size());
    read.ExpectHistogram(Signal::kDuration, flushed);
  });
}

TEST(GatewayPages, TheAiGatewaysHasNeitherRefusalsInFrontOfItNorHangUps) {
  UnderWayAndDrained(MetricKind::kAiGateway, [](const MeteredEngine& e, const Read& read) {
    read.ExpectHistogram(Signal::kTtft, e.gateway_ttft);
    read.ExpectHistogram(Signal::kTimePerToken, e.gateway_per_token);
    read.ExpectCount(Signal::kFinished, static_cast<double>(e.succeeded.size()));
    read.ExpectCount(Signal::kErrors, static_cast<double>(e.engine_refused));
    read.ExpectCount(Signal::kTokensIn, static_cast<double>(e.tokens_in));
    read.ExpectCount(Signal::kTokensCached, static_cast<double>(e.tokens_cached));
    read.ExpectCount(Signal::kTokensOut, static_cast<double>(e.tokens_out));
    std::vector<double> all = e.succeeded;
    all.insert(all.end(), e.failed.begin(), e.failed.end());
    read.ExpectHistogram(Signal::kDuration, all);
  });
}

TEST(GatewayPages, OfOneCopyAreReadLikeThoseOfAll) {
  for (const MetricKind kind : {MetricKind::kVllm, MetricKind::kSglang}) {
    MeteredEngine engine(kind, 2, kSeed);
    const auto page = [&](std::uint32_t copy) {
      const EngineState state = engine.display(copy).Show(engine.Now());
      return EnginePageOf(kind, {.model = kModel, .copies = {&state, 1}, .one_of_many = true});
    };
    const std::string before[] = {page(0), page(1)};
    engine.Load(60);
    engine.Sync();
    for (const std::uint32_t copy : {0u, 1u}) {
      const Read read(kind, before[copy], page(copy));
      read.ExpectHistogram(Signal::kTtft, engine.seen(copy).ttft);
      read.ExpectHistogram(Signal::kTokenGap, engine.seen(copy).gaps);
    }
  }
}

TEST(GatewayPages, InOpenMetricsSayTheSame) {
  for (const MetricKind kind : {MetricKind::kVllm, MetricKind::kSglang}) {
    MeteredEngine engine(kind, 2, kSeed);
    engine.Load(40);
    const std::vector<EngineState> states = engine.Show();
    EnginePage page{.model = kModel, .prefix = "/v1", .copies = states};
    const Page text = PageFrom(EnginePageOf(kind, page));
    page.open_metrics = true;
    const std::string open = EnginePageOf(kind, page);
    EXPECT_TRUE(open.ends_with("\n# EOF\n"));
    const Page other = PageFrom(open, PageSyntax::kOpenMetrics);
    ASSERT_EQ(text.layout->size(), other.layout->size());
    for (std::size_t i = 0; i < text.layout->size(); ++i) {
      EXPECT_EQ(text.layout->TextOf(i), other.layout->TextOf(i));
      EXPECT_EQ(text.values[i], other.values[i]);
    }
  }
}

}  // namespace
}  // namespace plimsoll
