#include "coordinator/planning/decision.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "coordinator/judge/metrics.h"

namespace plimsoll {
namespace {

double NormalBelow(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// The logarithm of a time against that of a typical call: a mixture of two normals.
class LogTime {
 public:
  // `cold`: the share of cold starts.
  explicit LogTime(double cold) : cold_(cold) {}

  double Below(double x) const {
    return (1 - cold_) * NormalBelow(x / kSigma) +
           cold_ * NormalBelow((x - std::log(kColdFactor)) / kSigma);
  }
  double Quantile(double q) const {
    double low = -20;
    double high = 20;
    for (int i = 0; i < 80; ++i) {
      const double middle = (low + high) / 2;
      (Below(middle) < q ? low : high) = middle;
    }
    return (low + high) / 2;
  }

 private:
  static inline const double kSigma = std::sqrt(
      kSigmaCall * kSigmaCall + kSigmaSession * kSigmaSession + kSigmaDrift * kSigmaDrift);
  const double cold_;
};

// A cold start is a slow prefill: it does not touch the speed of what follows.
double ColdShareOf(Metric metric) {
  return metric == Metric::kInteractivity ? 0 : kColdShare;
}

// P(share seen > level) of a true share, both in [0, 1].
double Above(double level, double share, double calls) {
  const double sd = std::sqrt(kDesignEffectAssumed * share * (1 - share) / calls);
  if (!(sd > 0)) return share > level ? 1 : 0;
  return NormalBelow((share - level) / sd);
}

// The logarithm of `edge` against the limit, above zero where the edge is easier to keep.
double Easier(const Limit& limit, double edge) {
  if (!(edge > 0) || !(limit.value > 0)) return 0;
  const double log_ratio = std::log(edge / limit.value);
  return TraitsOf(limit.metric).at_most ? log_ratio : -log_ratio;
}

}  // namespace

double ShareWithin(const Limit& limit, double apart, std::optional<double> edge) {
  if (IsBadShare(limit.metric)) return std::clamp(limit.value * (1 - apart), 0.0, 1.0);
  const bool speed = !TraitsOf(limit.metric).at_most;
  const LogTime log_time(ColdShareOf(limit.metric));
  return log_time.Below(log_time.Quantile(limit.quantile) +
                        (speed ? std::log1p(apart) : -std::log1p(-apart)) +
                        Easier(limit, edge.value_or(limit.value)));
}

Chances ChancesOfDecision(const Limit& limit, std::uint64_t calls, const Interval& close) {
  const auto n = static_cast<double>(calls);
  const double better = ShareWithin(limit, kRecipeApart, StrictEdge(limit));
  const double worse = ShareWithin(limit, -kRecipeApart, LooseEdge(limit));
  // Nothing is seen beyond none, or all.
  const auto above = [&](double share) { return close.high < 1 ? Above(close.high, share, n) : 0; };
  const auto below = [&](double share) {
    return close.low > 0 ? 1 - Above(close.low, share, n) : 0;
  };
  const bool bad = IsBadShare(limit.metric);
  return {.better_passes = bad ? below(better) : above(better),
          .worse_fails = bad ? above(worse) : below(worse)};
}

}  // namespace plimsoll
