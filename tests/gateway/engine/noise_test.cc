// The noise's moments, and what each draw depends on.
#include "gateway/engine/noise.h"

#include <cmath>
#include <vector>

#include "gateway/engine/drift.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments Of(const std::vector<double>& values) {
  Moments m;
  for (const double v : values) m.mean += v / static_cast<double>(values.size());
  double square = 0;
  for (const double v : values) square += (v - m.mean) * (v - m.mean);
  m.deviation = std::sqrt(square / static_cast<double>(values.size() - 1));
  return m;
}

TEST(CallFactors, HaveTheDesignsMoments) {
  const NoiseConfig noise;
  std::vector<double> within;
  std::vector<double> between;
  int cold = 0;
  for (std::uint64_t session = 0; session < 2000; ++session) {
    double sum = 0;
    for (std::uint64_t call = 0; call < 40; ++call) {
      const CallFactors f = DrawCallFactors(noise, 3, session, session * 40 + call);
      sum += std::log(f.service) / 40;
      within.push_back(std::log(f.service));
      cold += f.prefill == 3.3 ? 1 : 0;
    }
    between.push_back(sum);
  }
  EXPECT_NEAR(Of(within).mean, 0, 0.05);
  EXPECT_NEAR(Of(within).deviation, std::sqrt(0.5 * 0.5 + 0.6 * 0.6), 0.02);
  EXPECT_NEAR(Of(between).deviation, std::sqrt(0.6 * 0.6 + 0.5 * 0.5 / 40), 0.03);
  EXPECT_NEAR(cold / 80'000.0, 0.06, 0.004);
}

TEST(CallFactors, ZeroSwitchesOffOneKindAndMovesNoOther) {
  NoiseConfig noise;
  const CallFactors all = DrawCallFactors(noise, 3, 7, 9);
  noise.session_sigma = 0;
  const CallFactors without = DrawCallFactors(noise, 3, 7, 9);
  noise.call_sigma = 0;
  EXPECT_EQ(DrawCallFactors(noise, 3, 7, 9).service, 1);
  EXPECT_EQ(all.prefill, without.prefill);
  EXPECT_EQ(DrawCallFactors(noise, 3, 8, 9).service, 1);
}

TEST(DriftPath, IsAStationaryLogAr1) {
  constexpr double kTau = 60;
  DriftPath path(0.25, 60s, 11);
  std::vector<double> logs;
  logs.reserve(200'000);
  for (int t = 0; t < 200'000; ++t) logs.push_back(std::log(path.FactorAt(t + 0.5)));
  const Moments m = Of(logs);
  EXPECT_NEAR(m.mean, 0, 0.03);
  EXPECT_NEAR(m.deviation, 0.25, 0.02);
  double product = 0;
  constexpr std::size_t kLag = 60;
  for (std::size_t i = kLag; i < logs.size(); ++i) product += logs[i] * logs[i - kLag];
  product /= static_cast<double>(logs.size() - kLag) * m.deviation * m.deviation;
  EXPECT_NEAR(product, std::exp(-static_cast<double>(kLag) / kTau), 0.05);
}

TEST(DriftPath, DoesNotDependOnWhatIsAsked) {
  DriftPath asked(0.25, 10s, 4);
  DriftPath fresh(0.25, 10s, 4);
  for (int i = 0; i < 100; ++i) asked.AfterWork(i * 0.7, 2.5);
  for (double t = 0; t < 300; t += 3.7) EXPECT_EQ(asked.FactorAt(t), fresh.FactorAt(t));
}

TEST(DriftPath, AfterWorkInvertsWorkBetween) {
  DriftPath path(0.5, 2s, 4);  // A grid of 0.2 s.
  for (double from = 0; from < 20; from += 0.37) {
    for (const double work : {0.0, 0.01, 0.5, 7.0}) {
      const double to = path.AfterWork(from, work);
      EXPECT_GE(to, from);
      EXPECT_NEAR(path.WorkBetween(from, to), work, 1e-9);
    }
  }
}

TEST(DriftPath, ZeroIsExact) {
  DriftPath path(0, 60s, 4);
  EXPECT_EQ(path.AfterWork(1.25, 2.5), 3.75);
  EXPECT_EQ(path.WorkBetween(1.25, 3.75), 2.5);
  EXPECT_EQ(path.FactorAt(100), 1);
}

TEST(DriftPath, FarEndsAreBounded) {
  DriftPath path(0.25, 60s, 4);
  const double end = path.AfterWork(0, 1e12);
  EXPECT_GT(end, 1e11);
}

}  // namespace
}  // namespace plimsoll
