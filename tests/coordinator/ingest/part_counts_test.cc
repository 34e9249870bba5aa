// Counts against the bar's limits: equal to what a plain look at every record says, whatever the
// records and the limits.
#include <cmath>
#include <limits>

#include "common/base/rng.h"
#include "coordinator/judge/metrics.h"
#include "gtest/gtest.h"
#include "tests/coordinator/ingest/step_builder.h"

namespace plimsoll {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// A whole call, its only attempt last: ok, in one chunk, without usage, broken off, refused, …
CallRecord RandomCall(Rng& rng, std::uint32_t call) {
  CallRecord r = OkCall(static_cast<double>(rng.Below(90)));  // Some outside the measured time.
  r.lane = static_cast<std::uint32_t>(rng.Below(2));
  r.tier = static_cast<std::uint8_t>(r.lane);
  r.call = call;
  r.play = 0;
  r.first_token = r.first_released + static_cast<StepNanos>(rng.Below(5'000'000'000));
  r.last_token = r.first_token + static_cast<StepNanos>(rng.Below(3) * rng.Below(4'000'000'000));
  r.end = r.last_token + static_cast<StepNanos>(rng.Below(1'000'000'000));
  r.tokens_out = static_cast<std::uint32_t>(rng.Below(60));
  r.chunks = rng.Chance(0.2) ? 1 : 20;
  if (rng.Chance(0.1)) r.tokens_out = kAbsentTokens;
  if (rng.Chance(0.3)) r.tokens_first_chunk = static_cast<std::uint32_t>(rng.Below(5));
  if (!rng.Chance(0.3)) return r;
  r.outcome = static_cast<Outcome>(2 + rng.Below(kOutcomes - 2));
  if (rng.Chance(0.6)) {
    r.first_token = r.first_chunk = r.last_token = kAbsentNanos;
    r.chunks = 0;
    r.tokens_out = kAbsentTokens;
  }
  return r;
}

// Definitions of design section 2, written down a second time. NaN: no observation.
double SlowOf(Metric metric, const CallRecord& r) {
  const bool failed = r.outcome != Outcome::kOk;
  const double none = failed ? kInf : std::nan("");
  const bool contradicted =
      r.tokens_out != kAbsentTokens &&
      ((r.tokens_out == 0 && r.chunks > 0) ||
       (r.tokens_first_chunk != kAbsentTokens && r.tokens_first_chunk > r.tokens_out));
  switch (metric) {
    case Metric::kTtft:
      if (r.first_token == kAbsentNanos) return none;
      return static_cast<double>(r.first_token - r.first_released) / 1e9;
    case Metric::kInteractivity: {
      const bool has =
          r.chunks > 1 && r.tokens_out != kAbsentTokens && r.last_token > r.first_token;
      if (!has || contradicted) return none;
      const double after = r.tokens_first_chunk != kAbsentTokens
                               ? static_cast<double>(r.tokens_out) - r.tokens_first_chunk
                               : r.tokens_out * (r.chunks - 1.0) / r.chunks;
      if (after <= 0) return none;
      return -(after * 1e9 / static_cast<double>(r.last_token - r.first_token));
    }
    case Metric::kEndToEndInteractivity:
      if (r.last_token == kAbsentNanos || r.tokens_out == kAbsentTokens || contradicted ||
          r.last_token <= r.first_released) {
        return none;
      }
      return -(r.tokens_out * 1e9 / static_cast<double>(r.last_token - r.first_released));
    case Metric::kGoodput:
      return failed ? kInf : static_cast<double>(r.end - r.first_released) / 1e9;
    default:
      return std::nan("");
  }
}

Limit RandomLimit(Rng& rng) {
  constexpr Metric kOfCalls[] = {Metric::kTtft, Metric::kInteractivity,
                                 Metric::kEndToEndInteractivity, Metric::kGoodput};
  Limit limit{.metric = kOfCalls[rng.Below(4)], .quantile = 0.5 + 0.49 * rng.Uniform()};
  limit.value = 10 * rng.Uniform();
  constexpr const char* kTiers[] = {"", "heavy", "light", "nobody"};
  limit.tier = kTiers[rng.Below(4)];
  if (rng.Chance(0.1)) limit.value = std::nan("");
  if (rng.Chance(0.1)) limit.value = kInf;
  if (!rng.Chance(0.4)) return limit;
  limit.origin = LimitOrigin{.runs = {"a", "b"}, .sessions = 2, .baseline = 1};
  limit.origin->low = limit.value * 0.8;
  limit.origin->high = limit.value * 1.3;
  return limit;
}

bool Within(const Limit& limit, double slow, double edge) {
  const bool at_most = TraitsOf(limit.metric).at_most;
  return slow < kInf && (at_most ? slow <= edge : -slow >= edge);
}

PartCounts BruteForce(const Limit& limit, const std::vector<CallRecord>& calls, std::uint32_t lane,
                      std::uint32_t half_block) {
  PartCounts counts;
  constexpr const char* kTierOfLane[] = {"heavy", "light"};
  if (!limit.tier.empty() && limit.tier != kTierOfLane[lane]) return counts;
  for (const CallRecord& r : calls) {
    const StepNanos in_measure = r.first_released - Sec(10);
    const bool here = r.lane == lane && in_measure >= Sec(10) * half_block &&
                      in_measure < Sec(10) * (half_block + 1) && r.outcome != Outcome::kClientError;
    const double slow = here ? SlowOf(limit.metric, r) : std::nan("");
    if (std::isnan(slow)) continue;
    ++counts.n;
    if (Within(limit, slow, limit.value)) ++counts.hits;
    if (Within(limit, slow, StrictEdge(limit))) ++counts.hits_strict;
    if (Within(limit, slow, LooseEdge(limit))) ++counts.hits_loose;
    constexpr double kFurther[] = {1 / 64.0, 1 / 16.0, 1 / 4.0, 1 / 2.0, 2, 4, 16, 64};
    for (std::size_t k = 0; k < std::size(kFurther); ++k) {
      if (Within(limit, slow, limit.value * kFurther[k])) ++counts.hits_at[k];
    }
  }
  return counts;
}

TEST(PartCounts, EqualAPlainLookAtEveryRecord) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Bar bar;
    for (std::uint64_t i = 1 + rng.Below(8); i > 0; --i) bar.limits.push_back(RandomLimit(rng));
    StepIngest ingest(IngestPlan(), {{.lane = 0, .tier = 0}, {.lane = 1, .tier = 1}},
                      {"heavy", "light"}, {4s, 2s}, bar);
    std::vector<CallRecord> calls;
    for (std::uint32_t i = 0; i < 60; ++i) calls.push_back(RandomCall(rng, i));
    for (const CallRecord& call : calls) ingest.Add(call);
    const StepEvidence e = ingest.Close({});
    for (const Cell& cell : ingest.cells()) {
      ASSERT_EQ(cell.counts.parts.size(), bar.limits.size());
      for (std::size_t i = 0; i < bar.limits.size(); ++i) {
        EXPECT_EQ(cell.counts.parts[i], BruteForce(bar.limits[i], calls, cell.counts.lane,
                                                   cell.counts.block * 2 + cell.counts.half))
            << PartKey(bar.limits[i]) << " " << bar.limits[i].value;
      }
    }
    // The whole is the sum of its tiers, and every observation is in a distribution or counted.
    CallEvidence sum;
    for (const CallEvidence& tier : e.tiers) sum.Merge(tier);
    EXPECT_EQ(sum.outcomes, e.outcomes);
    EXPECT_EQ(sum.answer_ns, e.answer_ns);
    EXPECT_EQ(sum.end_to_end_zero, e.end_to_end_zero);
    for (const MetricTraits& traits : AllMetrics()) {
      if (traits.n == nullptr) continue;
      std::uint64_t n = 0;
      for (const CellCounts& cell : e.cells) n += cell.*traits.n;
      EXPECT_EQ(n, (e.*traits.values).count() + e.*traits.valueless) << traits.name;
    }
  }
}

TEST(PartCounts, GoodputIsAboutWholeUsableAnswersOnly) {
  const Bar bar{.limits = {{.metric = Metric::kGoodput, .value = 2},
                           {.metric = Metric::kEndToEndInteractivity, .value = 10.5}}};
  // Exactly at the limit: within what is easier to keep, over what is harder.
  const PartCounts time{1, 1, 1, 1, {0, 0, 0, 0, 1, 1, 1, 1}};
  const PartCounts late{1, 0, 0, 0, {0, 0, 0, 0, 1, 1, 1, 1}};
  const PartCounts speed{1, 1, 1, 1, {1, 1, 1, 1, 0, 0, 0, 0}};
  struct {
    const char* what;
    CallRecord record;
    PartCounts goodput, end_to_end;
  } cases[] = {
      {"21 tokens in 2 s", OkCall(12), time, speed},
      {"late by a nanosecond", OkCall(12), late, speed},
      {"in one chunk", OkCall(12), time, speed},
      {"without usage", OkCall(12), time, {}},
      {"cut short", OkCall(12), {.n = 1}, speed},
      {"refused", FailedCall(12, Outcome::kRefused), {.n = 1}, {.n = 1}},
      {"our own fault", FailedCall(12, Outcome::kClientError), {}, {}},
  };
  cases[1].record.end += 1;
  cases[2].record.chunks = 1;
  cases[3].record.tokens_out = kAbsentTokens;
  cases[4].record.outcome = Outcome::kTruncated;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    StepIngest ingest(IngestPlan(), {{.lane = 0, .tier = 0}, {.lane = 1, .tier = 1}},
                      {"heavy", "light"}, {4s, 2s}, bar);
    ingest.Add(c.record);
    EXPECT_EQ(ingest.cells()[0].counts.parts[0], c.goodput);
    EXPECT_EQ(ingest.cells()[0].counts.parts[1], c.end_to_end);
  }
}

TEST(PartCounts, ACallGivenUpWhileItWaitedIsMissedByEveryLimitOnCalls) {
  const Bar bar{.limits = {{.metric = Metric::kTtft, .value = 2},
                           {.metric = Metric::kGoodput, .value = 2, .tier = "light"},
                           {.metric = Metric::kEndToEndInteractivity, .value = 1},
                           {.metric = Metric::kErrors, .value = 0.02}}};
  StepIngest ingest(IngestPlan(), {{.lane = 0, .tier = 0}, {.lane = 1, .tier = 1}},
                    {"heavy", "light"}, {4s, 2s}, bar);
  ingest.Add(FailedCall(12, Outcome::kRefused, /*last=*/false));
  const StepEvidence e = ingest.Close({});
  const PartCounts missed{.n = 1};
  EXPECT_EQ(CellOf(e, 0, 0)->parts, (std::vector<PartCounts>{missed, {}, missed, {}}));
  EXPECT_EQ(e.answer_infinite, 1u);
  EXPECT_EQ(e.end_to_end_zero, 1u);
}

}  // namespace
}  // namespace plimsoll
