// Differences of shares: by hand, at the edges, and how often the interval holds the truth.
#include "coordinator/judge/difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "common/stats/student_t.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using Cells = std::vector<ShareCell>;

// The same counts in each half of two blocks: nothing that lanes do together.
void AddLane(Cells& cells, std::uint32_t lane, std::uint64_t hits, std::uint64_t n) {
  for (std::uint32_t block = 0; block < 2; ++block) {
    for (const std::uint8_t half : {std::uint8_t{0}, std::uint8_t{1}}) {
      cells.push_back({.lane = lane, .block = block, .n = n, .hits = hits, .half = half});
    }
  }
}

Cells Lanes(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& hits_of_n) {
  Cells cells;
  std::uint32_t lane = 0;
  for (const auto& [hits, n] : hits_of_n) AddLane(cells, lane++, hits, n);
  return cells;
}

ShareDifference Difference(const Cells& a, const Cells& b, Pairing pairing, bool small) {
  return DifferenceOf({.cells = a}, {.cells = b}, pairing, small);
}

TEST(ShareDifference, ByLaneIsTheFormulaOfTheHeader) {
  const Cells a = Lanes({{9, 10}, {8, 10}, {7, 10}, {9, 10}, {7, 10}});   // 40 of 50: 0.8.
  const Cells b = Lanes({{8, 10}, {6, 10}, {6, 10}, {7, 10}, {13, 20}});  // 40 of 60: 2/3.
  const ShareDifference d = Difference(a, b, Pairing::kByLane, false);
  ASSERT_TRUE(d.by_lane);
  EXPECT_DOUBLE_EQ(d.value, 0.8 - 2.0 / 3);
  // a_k = 1, 0, −1, 1, −1 fiftieths; b_k = 4/3, −2/3, −2/3, 1/3, −1/3 sixtieths.
  const double a_k[] = {1, 0, -1, 1, -1};
  const double b_k[] = {4.0 / 3, -2.0 / 3, -2.0 / 3, 1.0 / 3, -1.0 / 3};
  double squares = 0;
  for (int k = 0; k < 5; ++k) squares += std::pow(a_k[k] / 50 - b_k[k] / 60, 2);
  const double half = StudentTQuantile(0.975, 4) * std::sqrt(squares * 5 / 4);
  EXPECT_NEAR(d.low, d.value - half, 1e-12);
  EXPECT_NEAR(d.high, d.value + half, 1e-12);
}

TEST(ShareDifference, LanesThatDifferAlikeMakeASmallDifferenceSure) {
  // Lanes are very unlike, each loses two calls of a hundred.
  Cells a;
  Cells b;
  for (std::uint32_t lane = 0; lane < 8; ++lane) {
    AddLane(a, lane, 50 + 6 * lane, 100);
    AddLane(b, lane, 48 + 6 * lane + lane % 2, 100);
  }
  const ShareDifference paired = Difference(a, b, Pairing::kByLane, false);
  EXPECT_NEAR(paired.value, 0.015, 1e-12);
  EXPECT_TRUE(paired.supported());
  const ShareDifference apart = Difference(a, b, Pairing::kNone, false);
  EXPECT_DOUBLE_EQ(apart.value, paired.value);
  EXPECT_FALSE(apart.supported());
  EXPECT_FALSE(apart.by_lane);
  const ShareDifference turned = Difference(b, a, Pairing::kByLane, false);
  EXPECT_DOUBLE_EQ(turned.low, -paired.high);
  EXPECT_DOUBLE_EQ(turned.high, -paired.low);
}

TEST(ShareDifference, WhereEveryCallIsWithinTheIntervalIsNotAPoint) {
  const Cells all = Lanes({{20, 20}, {20, 20}, {20, 20}, {20, 20}, {20, 20}, {20, 20}});
  const ShareDifference d = Difference(all, all, Pairing::kByLane, false);
  EXPECT_FALSE(d.by_lane);
  EXPECT_EQ(d.value, 0);
  EXPECT_LT(d.low, -0.001);
  EXPECT_GT(d.high, 0.001);
  // Four of six lanes with a miss are too few for t over lanes.
  const Cells few = Lanes({{18, 20}, {18, 20}, {18, 20}, {18, 20}, {20, 20}, {20, 20}});
  EXPECT_FALSE(Difference(few, few, Pairing::kByLane, false).by_lane);
}

TEST(ShareDifference, NothingIsKnownWithoutCallsAndLittleOfOneLane) {
  const Cells some = Lanes({{9, 10}, {8, 10}, {7, 10}});
  for (const auto& d : {Difference({}, some, Pairing::kByLane, false),
                        Difference(some, {{.lane = 1}}, Pairing::kNone, true)}) {
    EXPECT_FALSE(d.supported());
    EXPECT_EQ(d.low, -1);
    EXPECT_EQ(d.high, 1);
  }
  // One cluster each: whatever the shares, the difference may be none.
  EXPECT_FALSE(Difference(Lanes({{9, 10}}), Lanes({{1, 10}}), Pairing::kByLane, false).supported());
}

TEST(ShareDifference, ATimeThatIsTooShortToTellLanesFromTimesLeavesItOpen) {
  Cells a;
  Cells b;
  for (std::uint32_t lane = 0; lane < 8; ++lane) {
    a.push_back({.lane = lane, .n = 100, .hits = 90 + lane % 3});
    b.push_back({.lane = lane, .n = 100, .hits = 60 + lane % 3});
  }
  const ShareDifference d = Difference(a, b, Pairing::kByLane, false);
  EXPECT_FALSE(d.supported());
  EXPECT_EQ(d.low, -1);
  EXPECT_EQ(d.high, 1);
}

TEST(ShareDifference, HitsBeyondTheCallsAreNotCounted) {
  const Cells odd = Lanes({{11, 10}, {5, 10}, {5, 10}, {5, 10}, {5, 10}, {0, 10}});
  const ShareDifference d = Difference(odd, odd, Pairing::kByLane, false);
  EXPECT_EQ(d.value, 0);
  EXPECT_TRUE(std::isfinite(d.low) && std::isfinite(d.high));
}

TEST(ShareDifference, LanesThatOnlyOneRunHasCountToo) {
  Cells a = Lanes({{9, 10}, {8, 10}, {7, 10}, {9, 10}, {7, 10}, {5, 10}});
  const Cells b = Lanes({{9, 10}, {8, 10}, {7, 10}, {9, 10}, {7, 10}});
  const ShareDifference d = Difference(a, b, Pairing::kByLane, false);
  EXPECT_NEAR(d.value, 0.75 - 0.8, 1e-12);
  EXPECT_LT(d.low, d.value);
}

// A toy of two windows with the same sessions: log of the time = session (0.6, the same in both) +
// call (0.5) + the window's drift (0.25, a time constant a block), and run B slower by `shift`. The
// window's truth is the difference of the shares within the limit given both drifts; the long run's
// is that over all drifts.
struct Toy {
  std::uint32_t lanes = 0;
  int calls = 0;     // A lane and block.
  double share = 0;  // Within the limit without drift.
  double shift = 0;
};

constexpr std::uint32_t kHalves = 10;  // Of five blocks.
constexpr double kSession = 0.6;
constexpr double kCall = 0.5;
constexpr double kDrift = 0.25;

double Phi(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

struct Window {
  std::array<double, kHalves> drift{};
  Cells cells;
};

Window Drifting(double shift, Rng& rng) {
  Window window;
  const double keep = std::exp(-0.5);
  double at = kDrift * rng.Normal();
  for (double& block : window.drift) {
    block = at + shift;
    at = at * keep + kDrift * std::sqrt(1 - keep * keep) * rng.Normal();
  }
  return window;
}

struct Trial {
  ShareDifference paired;
  ShareDifference apart;
  double truth = 0;
};

Trial TryOnce(const Toy& toy, Rng& rng) {
  const double spread = std::hypot(kSession, kCall);
  const double limit = NormalQuantile(toy.share) * spread;
  std::array<Window, 2> windows = {Drifting(0, rng), Drifting(toy.shift, rng)};
  for (std::uint32_t lane = 0; lane < toy.lanes; ++lane) {
    double session = 0;
    for (std::uint32_t h = 0; h < kHalves; ++h) {
      // A session has about 40 calls.
      if (h == 0 || (toy.calls >= 40 && h % 2 == 0)) session = kSession * rng.Normal();
      for (Window& window : windows) {
        const double within = Phi((limit - session - window.drift[h]) / kCall);
        ShareCell cell{.lane = lane,
                       .block = h / 2,
                       .n = static_cast<std::uint64_t>(toy.calls / 2),
                       .half = static_cast<std::uint8_t>(h % 2)};
        for (int c = 0; c < toy.calls / 2; ++c) cell.hits += rng.Chance(within) ? 1 : 0;
        window.cells.push_back(cell);
      }
    }
  }
  Trial trial;
  for (std::uint32_t h = 0; h < kHalves; ++h) {
    trial.truth += (Phi((limit - windows[0].drift[h]) / spread) -
                    Phi((limit - windows[1].drift[h]) / spread)) /
                   kHalves;
  }
  trial.paired = Difference(windows[0].cells, windows[1].cells, Pairing::kByLane, false);
  trial.apart = Difference(windows[0].cells, windows[1].cells, Pairing::kNone, false);
  return trial;
}

double LongRun(const Toy& toy) {
  const double spread = std::hypot(kSession, kCall);
  const double limit = NormalQuantile(toy.share) * spread;
  const double with_drift = std::hypot(spread, kDrift);
  return Phi(limit / with_drift) - Phi((limit - toy.shift) / with_drift);
}

// Returns the coverage of the window's truth; prints the row of docs/statistics.md.
double Row(const Toy& toy, int runs, Rng rng) {
  double covered = 0;
  double covered_apart = 0;
  double long_run = 0;
  double supported = 0;
  double width = 0;
  double width_apart = 0;
  const auto holds = [](const ShareDifference& d, double truth) {
    return d.low <= truth && truth <= d.high ? 1.0 : 0.0;
  };
  for (int i = 0; i < runs; ++i) {
    const Trial trial = TryOnce(toy, rng);
    covered += holds(trial.paired, trial.truth) / runs;
    covered_apart += holds(trial.apart, trial.truth) / runs;
    long_run += holds(trial.paired, LongRun(toy)) / runs;
    supported += (trial.paired.supported() ? 1.0 : 0.0) / runs;
    width += (trial.paired.high - trial.paired.low) / runs;
    width_apart += (trial.apart.high - trial.apart.low) / runs;
  }
  std::printf("| %u | %d | %g%% | %+.2f | %.1f%% | %.3f | %.1f%% | %.3f | %.1f%% | %.1f%% |\n",
              toy.lanes, toy.calls, toy.share * 100, toy.shift, covered * 100, width,
              covered_apart * 100, width_apart, long_run * 100, supported * 100);
  return covered;
}

TEST(ShareDifference, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  const char* asked = std::getenv("PLIMSOLL_COVERAGE_RUNS");
  const int runs = asked != nullptr ? std::max(1, std::atoi(asked)) : 12;
  constexpr std::uint64_t kSeed = 20260130;
  double pooled = 0;
  int rows = 0;
  for (const std::uint32_t lanes : {5u, 10u, 15u, 40u}) {
    for (const int calls : {8, 40}) {
      for (const double share : {0.9, 0.97}) {
        for (const double shift : {0.0, 0.25}) {
          const Toy toy{.lanes = lanes, .calls = calls, .share = share, .shift = shift};
          const Rng rng(MixKey(kSeed, lanes, static_cast<std::uint64_t>(calls)));
          const double coverage = Row(toy, runs, rng);
          pooled += coverage;
          ++rows;
          EXPECT_GE(coverage, 0.90 - 2 * std::sqrt(0.09 / runs)) << "seed " << kSeed;
        }
      }
    }
  }
  EXPECT_GE(pooled / rows, 0.93) << "seed " << kSeed;
}

}  // namespace
}  // namespace plimsoll
