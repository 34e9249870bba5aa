// Coverage of the share's interval on a toy of a deployment: lanes play sessions of about 40 calls,
// a call's TTFT is the product of its session's factor, its own noise, a cold start now and then,
// and the engine's drift, which the truth is taken given ("on the same engine's path"). The figures
// in docs/statistics.md come from this with PLIMSOLL_COVERAGE_RUNS=2000.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "coordinator/judge/proportion.h"

namespace plimsoll {
namespace {

constexpr std::uint64_t kSeed = 20260103;
constexpr int kBlocks = 5;
constexpr double kSessionSigma = 0.6;
constexpr double kCallSigma = 0.5;
constexpr double kDriftSigma = 0.25;  // Over blocks of one time constant.
constexpr double kColdChance = 0.06;
constexpr double kColdLog = 1.19;  // ln 3.3.

double NormalShare(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

// Share of calls at or under exp(limit) while the engine's log-slowness is `drift`.
double TrueShare(double limit, double drift) {
  const double sigma = std::sqrt(kSessionSigma * kSessionSigma + kCallSigma * kCallSigma);
  return (1 - kColdChance) * NormalShare((limit - drift) / sigma) +
         kColdChance * NormalShare((limit - drift - kColdLog) / sigma);
}

double LimitFor(double share) {
  double low = -10;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (TrueShare(middle, 0) < share ? low : high) = middle;
  }
  return low;
}

std::uint64_t Poisson(Rng& rng, double mean) {
  std::uint64_t count = 0;
  for (double at = rng.Exponential(); at < mean; at += rng.Exponential()) ++count;
  return count;
}

struct ToyStep {
  std::vector<ShareCell> cells;
  double truth = 0;
};

ToyStep Play(Rng& rng, std::uint32_t lanes, double calls_a_cell, double limit) {
  ToyStep step;
  std::vector<double> drift;
  const double keep = std::exp(-1.0);
  for (int b = 0; b < kBlocks; ++b) {
    const double shock = kDriftSigma * rng.Normal();
    drift.push_back(b == 0 ? shock : keep * drift.back() + std::sqrt(1 - keep * keep) * shock);
    step.truth += TrueShare(limit, drift.back()) / kBlocks;
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    double session = kSessionSigma * rng.Normal();
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      for (const std::uint8_t half : {std::uint8_t{0}, std::uint8_t{1}}) {
        ShareCell cell{.lane = lane, .block = b, .n = Poisson(rng, calls_a_cell / 2), .half = half};
        for (std::uint64_t i = 0; i < cell.n; ++i) {
          if (rng.Chance(1 / 40.0)) session = kSessionSigma * rng.Normal();
          const double cold = rng.Chance(kColdChance) ? kColdLog : 0;
          cell.hits += drift[b] + session + cold + kCallSigma * rng.Normal() <= limit ? 1 : 0;
        }
        step.cells.push_back(cell);
      }
    }
  }
  return step;
}

TEST(ShareOf, CoversTheTruthOfAToyDeployment) {
  const char* asked = std::getenv("PLIMSOLL_COVERAGE_RUNS");
  const int runs = asked != nullptr ? std::clamp(std::atoi(asked), 1, 1'000'000) : 60;
  Rng rng(kSeed);
  int covered_all = 0;
  int runs_all = 0;
  for (const std::uint32_t lanes : {1u, 2u, 3u, 5u, 8u, 15u, 40u}) {
    for (const double calls : {3.0, 8.0, 40.0}) {
      for (const double share : {0.90, 0.95}) {
        const double limit = LimitFor(share);
        int above = 0;
        int below = 0;
        double width = 0;
        for (int run = 0; run < runs; ++run) {
          const ToyStep step = Play(rng, lanes, calls, limit);
          const ShareInterval interval = ShareOf(step.cells);
          above += interval.low > step.truth ? 1 : 0;
          below += interval.high < step.truth ? 1 : 0;
          width += (interval.high - interval.low) / runs;
        }
        const double coverage = 1 - static_cast<double>(above + below) / runs;
        std::printf(
            "lanes %2u calls a cell %2.0f share %.2f: coverage %.3f (%d above, %d below), "
            "width %.3f\n",
            lanes, calls, share, coverage, above, below, width);
        if (lanes < 3) continue;
        covered_all += runs - above - below;
        runs_all += runs;
      }
    }
  }
  const double pooled = static_cast<double>(covered_all) / runs_all;
  std::printf("seed %llu, %d runs each: pooled coverage from three lanes on %.3f\n",
              static_cast<unsigned long long>(kSeed), runs, pooled);
  EXPECT_GE(pooled, 0.94);
}

}  // namespace
}  // namespace plimsoll
