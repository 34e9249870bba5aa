// The synthetic family against the published statistics it is drawn from (reference percentiles of
// 710 recorded sessions), with room for its own noise.
#include "common/corpus/synth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
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
    const Corpus corpus =
        SynthCorpus({.seed = 8, .heavy = 1, .mid = 4, .light = 4, .scale = scale});
    for (const Session& session : corpus.sessions) {
      EXPECT_EQ(CacheHits(session), ComputeStats(session).prefix_hit_blocks) << session.id;
    }
  }
}

// Published percentiles (25, 50, 75, 90) of the 710 recorded sessions of each tier.
struct Published {
  const char* name;
  SynthOptions options;
  std::array<double, 4> calls, tokens_in, tokens_out, appended, delay_s, hit_rate;
  double hits;      // Of all tokens.
  double rewrites;  // Share of calls.
  double fan_outs;  // Share of sessions.
};

const Published kPublished[] = {{"heavy",
                                 {.seed = 11, .heavy = 1500, .mid = 0, .light = 0},
                                 {8, 26, 66, 184},
                                 {149'302, 226'870, 293'520, 425'170},
                                 {138, 247, 544, 1143},
                                 {443, 802, 1733, 4215},
                                 {0.13, 1.91, 13.85, 117.93},
                                 {0.874, 0.949, 0.971, 0.978},
                                 0.9626,
                                 166.0 / 10'092,
                                 0},
                                {"mid",
                                 {.seed = 12, .heavy = 0, .mid = 1500, .light = 0},
                                 {31, 71, 116, 188},
                                 {71'401, 100'185, 125'868, 142'599},
                                 {140, 214, 407, 843},
                                 {364, 711, 1732, 4256},
                                 {0.13, 2.04, 13.85, 114.9},
                                 {0.941, 0.960, 0.975, 0.981},
                                 0.9655,
                                 611.0 / 31'419,
                                 14.0 / 352},
                                {"light",
                                 {.seed = 13, .heavy = 0, .mid = 0, .light = 1500},
                                 {14, 29, 58, 101},
                                 {36'398, 52'802, 71'707, 94'428},
                                 {125, 201, 368, 769},
                                 {361, 625, 1529, 4250},
                                 {0.22, 1.77, 7.81, 73.49},
                                 {0.887, 0.931, 0.963, 0.973},
                                 0.9504,
                                 125.0 / 7823,
                                 3.0 / 180}};

class SynthPublished : public testing::TestWithParam<Published> {};

TEST_P(SynthPublished, PercentilesLieWithinTenPercent) {
  const Published& published = GetParam();
  CorpusSpread spread;
  double tokens = 0;
  double hits = 0;
  for (const Session& session : SynthCorpus(published.options).sessions) {
    AddSpread(session, &spread);
    for (const Call& call : session.calls) {
      tokens += call.tokens_in;
      hits += 64.0 * call.kept_blocks;
    }
  }
  const std::tuple<const char*, const std::vector<double>&, const std::array<double, 4>&> rows[] = {
      {"calls a session", spread.calls, published.calls},
      {"tokens in", spread.tokens_in, published.tokens_in},
      {"tokens out", spread.tokens_out, published.tokens_out},
      {"appended", spread.appended, published.appended},
      {"delay", spread.delay_s, published.delay_s},
      {"hit rate", spread.hit_rate, published.hit_rate}};
  constexpr std::array<double, 4> kQuantiles{0.25, 0.5, 0.75, 0.9};
  for (const auto& [name, values, expected] : rows) {
    for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
      EXPECT_NEAR(Quantile(values, kQuantiles[i]), expected[i], 0.1 * expected[i])
          << published.name << ": " << name << " at " << kQuantiles[i] << ", seed "
          << published.options.seed;
    }
  }
  EXPECT_NEAR(hits / tokens, published.hits, 0.01);
  const auto calls = static_cast<double>(spread.tokens_in.size());
  const auto sessions = static_cast<double>(spread.calls.size());
  EXPECT_NEAR(static_cast<double>(spread.rewrites) / calls, published.rewrites,
              0.1 * published.rewrites);
  // Three sessions of 180: three standard errors of what 1,500 show.
  const double noise = 3 * std::sqrt(published.fan_outs / sessions);
  EXPECT_NEAR(static_cast<double>(spread.fan_outs) / sessions, published.fan_outs,
              noise + 0.1 * published.fan_outs);
}

// Fan-outs by what starts together: subagents of one parent call. Of 38 recorded ones 21 had one,
// 9 two, 8 three; a subagent makes 2 to 24 calls, 676 in 63.
TEST(SynthFanOut, HasThePublishedSiblingsAndLengths) {
  std::array<double, 4> groups{};  // By siblings.
  double subagents = 0;
  double calls = 0;
  for (const std::uint64_t seed : {21u, 22u}) {
    for (const Session& session :
         SynthCorpus({.seed = seed, .heavy = 0, .mid = 1500, .light = 0}).sessions) {
      if (session.streams.size() == 1) continue;
      std::map<std::int32_t, std::size_t> siblings;
      std::vector<std::size_t> lengths(session.streams.size());
      for (const Call& call : session.calls) ++lengths[call.stream];
      for (std::size_t stream = 1; stream < session.streams.size(); ++stream) {
        ++siblings[session.streams[stream].parent_call];
        ++subagents;
        calls += static_cast<double>(lengths[stream]);
        EXPECT_GE(lengths[stream], 2u) << session.id;
        EXPECT_LE(lengths[stream], 24u) << session.id;
      }
      for (const auto& [parent, count] : siblings) {
        ASSERT_LE(count, 3u) << session.id;
        ++groups[count];
      }
    }
  }
  const double all = groups[1] + groups[2] + groups[3];
  ASSERT_GT(all, 150);
  constexpr std::array<double, 4> kRecorded{0, 21.0 / 38, 9.0 / 38, 8.0 / 38};
  for (std::size_t count = 1; count <= 3; ++count) {
    // Two standard errors of what 38 groups show.
    const double noise = 2 * std::sqrt(kRecorded[count] * (1 - kRecorded[count]) / 38);
    EXPECT_NEAR(groups[count] / all, kRecorded[count], noise)
        << count << " siblings, of " << all << " groups";
  }
  EXPECT_NEAR(calls / subagents, 676.0 / 63, 0.2 * 676 / 63);
}

INSTANTIATE_TEST_SUITE_P(Tiers, SynthPublished, testing::ValuesIn(kPublished),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace plimsoll
