// The synthetic family against the published statistics it is drawn from (reference percentiles of
// 710 recorded sessions), with room for its own noise.
#include "common/corpus/synth.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "common/corpus/stats.h"
#include "common/corpus/validate.h"
#include "tests/common/corpus/prompt_checks.h"

namespace plimsoll {
namespace {

bool SameCalls(const Session& a, const Session& b) {
  return std::equal(a.calls.begin(), a.calls.end(), b.calls.begin(), b.calls.end(),
                    [](const Call& x, const Call& y) {
                      return x.tokens_in == y.tokens_in && x.tokens_out == y.tokens_out &&
                             x.start_ms == y.start_ms && x.ref == y.ref &&
                             x.kept_blocks == y.kept_blocks && x.delay_ms == y.delay_ms;
                    });
}

TEST(Synth, EverySeedAndScaleIsValid) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const std::uint32_t scale : {0u, 1u, 16u, 64u, 1000u}) {
      const Corpus corpus =
          SynthCorpus({.seed = seed, .heavy = 2, .mid = 2, .light = 4, .scale = scale});
      ASSERT_EQ(corpus.sessions.size(), 8u);
      ASSERT_TRUE(ValidateCorpus(corpus).ok())
          << "seed " << seed << " scale " << scale << ": " << ValidateCorpus(corpus);
    }
  }
}

TEST(Synth, SameSeedSameSessionsAndMoreOfThemKeepTheFirst) {
  const Corpus a = SynthCorpus({.seed = 5, .heavy = 2, .light = 2});
  const Corpus b = SynthCorpus({.seed = 5, .heavy = 3, .light = 2});
  const Corpus c = SynthCorpus({.seed = 6, .heavy = 2, .light = 2});
  EXPECT_TRUE(SameCalls(a.sessions[1], b.sessions[1]));
  EXPECT_TRUE(SameCalls(a.sessions[2], b.sessions[3]));
  EXPECT_FALSE(SameCalls(a.sessions[0], c.sessions[0]));
  EXPECT_FALSE(SameCalls(a.sessions[0], a.sessions[1]));
}

TEST(Synth, TiersLieWithinTheirBounds) {
  for (const std::uint32_t scale : {1u, 64u}) {
    const Corpus corpus =
        SynthCorpus({.seed = 9, .heavy = 30, .mid = 30, .light = 30, .scale = scale});
    for (const Session& session : corpus.sessions) {
      const double median = MedianPrompt(session) * scale;
      const Tier tier = median <= 69'268    ? Tier::kLight
                        : median >= 141'002 ? Tier::kHeavy
                                            : Tier::kMid;
      EXPECT_EQ(session.tier, tier) << session.id << " median " << median;
    }
  }
}

// What the statistics promise is what a prefix cache finds in the prompts.
TEST(Synth, PromptsHitACacheAsStated) {
  for (const std::uint32_t scale : {1u, 64u}) {
    const Corpus corpus = SynthCorpus({.seed = 8, .heavy = 1, .light = 20, .scale = scale});
    for (const Session& session : corpus.sessions) {
      EXPECT_EQ(CacheHits(session), ComputeStats(session).prefix_hit_blocks) << session.id;
    }
  }
}

struct Summary {
  std::vector<double> medians, outputs, fresh, services;
  double hits = 0;
  double refs = 0;
  std::size_t fan_outs = 0;
};

Summary Summarize(const Corpus& corpus) {
  Summary s;
  for (const Session& session : corpus.sessions) {
    const SessionStats stats = ComputeStats(session);
    s.medians.push_back(MedianPrompt(session));
    s.hits += static_cast<double>(stats.prefix_hit_blocks);
    s.refs += static_cast<double>(stats.block_refs);
    if (stats.subagent_groups > 0) ++s.fan_outs;
    EXPECT_GE(stats.main_requests, 20u);
    EXPECT_LE(stats.main_requests, 60u);
    for (const Call& call : session.calls) {
      s.outputs.push_back(call.tokens_out);
      s.services.push_back(call.service_ms / 1000.0);
      if (call.ref >= 0) s.fresh.push_back(call.tokens_in - 64.0 * call.kept_blocks);
    }
  }
  return s;
}

TEST(Synth, HeavySessionsLookLikeRecordedOnes) {
  const Summary s = Summarize(SynthCorpus({.seed = 2, .heavy = 150, .light = 0}));
  EXPECT_NEAR(Quantile(s.medians, 0.5), 252'670, 50'000);
  EXPECT_NEAR(Quantile(s.outputs, 0.5), 247, 25);
  EXPECT_NEAR(Quantile(s.outputs, 0.9), 1143, 150);
  EXPECT_NEAR(Quantile(s.services, 0.5), 8.41, 0.8);
  EXPECT_NEAR(Quantile(s.fresh, 0.5), 829, 150);
  EXPECT_NEAR(s.hits / s.refs, 0.9626, 0.02);
  EXPECT_EQ(s.fan_outs, 0u);
}

TEST(Synth, LightSessionsLookLikeRecordedOnesAndFanOut) {
  const Summary s = Summarize(SynthCorpus({.seed = 2, .heavy = 0, .light = 200}));
  EXPECT_NEAR(Quantile(s.medians, 0.5), 50'887, 10'000);
  EXPECT_NEAR(Quantile(s.outputs, 0.5), 201, 20);
  EXPECT_NEAR(Quantile(s.services, 0.5), 5.29, 0.6);
  EXPECT_NEAR(Quantile(s.fresh, 0.5), 643, 150);
  EXPECT_NEAR(s.hits / s.refs, 0.9509, 0.03);
  EXPECT_GT(s.fan_outs, 40u);
  EXPECT_LT(s.fan_outs, 140u);
}

}  // namespace
}  // namespace plimsoll
