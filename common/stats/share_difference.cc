#include "common/stats/share_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace plimsoll {
namespace {

// Scores that differ by less are one: rounding must not order tables.
constexpr double kScoreTie = 1e-9;

bool AreCounts(ShareCounts c) {
  return c.trials > 0 && c.hits <= c.trials;
}

// At most kShareTrialsMax trials with the same share, rounded towards `up` or down.
ShareCounts Thinned(ShareCounts c, bool up) {
  if (c.trials <= kShareTrialsMax) return c;
  const double scaled = static_cast<double>(c.hits) * static_cast<double>(kShareTrialsMax) /
                        static_cast<double>(c.trials);
  const double hits = up ? std::ceil(scaled) : std::floor(scaled);
  return {.hits = std::min(kShareTrialsMax, static_cast<std::uint64_t>(hits)),
          .trials = kShareTrialsMax};
}

// Binomial probabilities of n trials by share, from logarithms of binomial coefficients.
class Binomial {
 public:
  explicit Binomial(std::uint64_t n) : choose_(n + 1) {
    const double all = std::lgamma(static_cast<double>(n) + 1);
    for (std::size_t k = 0; k <= n; ++k) {
      choose_[k] = all - std::lgamma(static_cast<double>(k) + 1) -
                   std::lgamma(static_cast<double>(n - k) + 1);
    }
  }

  // P(0), …, P(n) into *out.
  void At(double share, std::vector<double>* out) const {
    const std::size_t n = choose_.size() - 1;
    out->assign(n + 1, 0);
    if (share <= 0) {
      out->front() = 1;
    } else if (share >= 1) {
      out->back() = 1;
    } else {
      const double hit = std::log(share);
      const double miss = std::log1p(-share);
      for (std::size_t k = 0; k <= n; ++k) {
        out->at(k) =
            std::exp(choose_[k] + static_cast<double>(k) * hit + static_cast<double>(n - k) * miss);
      }
    }
  }

 private:
  std::vector<double> choose_;
};

// The tables of na and nb trials, judged at one difference.
class Tables {
 public:
  Tables(std::uint64_t na, std::uint64_t nb, double difference)
      : na_(static_cast<double>(na)),
        nb_(static_cast<double>(nb)),
        difference_(difference),
        low_(std::max(0.0, -difference)),
        high_(std::min(1.0, 1 - difference)),
        a_(na),
        b_(nb) {}

  // How far a table lies above the difference, in standard errors at the likeliest shares that
  // differ by just that much.
  double Score(double xa, double xb) const {
    const double gap = xa / na_ - xb / nb_ - difference_;
    const double share_b = LikeliestB(xa, xb);
    const double share_a = std::clamp(share_b + difference_, 0.0, 1.0);
    const double variance = share_a * (1 - share_a) / na_ + share_b * (1 - share_b) / nb_;
    if (std::fabs(gap) < kScoreTie) return 0;
    if (variance <= 0) return std::copysign(std::numeric_limits<double>::infinity(), gap);
    return gap / std::sqrt(variance);
  }

  // The chance of a table that scores no more than `score`, at the worst share of b.
  double WorstChance(double score) const {
    const std::vector<int> last = LastBelow(score);
    const auto points = static_cast<std::size_t>(std::clamp(na_ + nb_, 64.0, 400.0));
    const double width = high_ - low_;
    double worst = 0;
    double at = low_;
    for (std::size_t i = 0; i <= points; ++i) {
      // Denser towards the ends, where shares of evals are.
      const double share = low_ + width *
                                      (1 - std::cos(std::numbers::pi * static_cast<double>(i) /
                                                    static_cast<double>(points))) /
                                      2;
      const double chance = Chance(last, share);
      if (chance > worst) {
        worst = chance;
        at = share;
      }
    }
    return std::min(1.0, Climb(last, at, width / static_cast<double>(points), worst));
  }

 private:
  // The share of b that is likeliest where a's is greater by the difference: the root of the
  // likelihood's falling slope.
  double LikeliestB(double xa, double xb) const {
    double low = low_;
    double high = high_;
    for (int i = 0; i < 50; ++i) {
      const double b = (low + high) / 2;
      const double a = b + difference_;
      const double slope = Slope(xb, nb_, b) + Slope(xa, na_, a);
      (slope > 0 ? low : high) = b;
    }
    return (low + high) / 2;
  }
  static double Slope(double x, double n, double share) {
    double slope = 0;
    if (x > 0) slope += x / std::max(share, 1e-300);
    if (x < n) slope -= (n - x) / std::max(1 - share, 1e-300);
    return slope;
  }

  // Of each count of b, the highest of a that scores no more; −1: none does. The score rises in a.
  std::vector<int> LastBelow(double score) const {
    const int na = static_cast<int>(na_);
    std::vector<int> last(static_cast<std::size_t>(nb_) + 1);
    for (std::size_t xb = 0; xb < last.size(); ++xb) {
      int below = -1;
      int above = na + 1;
      while (above - below > 1) {
        const int middle = (below + above) / 2;
        const bool within = Score(middle, static_cast<double>(xb)) <= score + kScoreTie;
        (within ? below : above) = middle;
      }
      last[xb] = below;
    }
    return last;
  }

  double Chance(const std::vector<int>& last, double share_b) const {
    std::vector<double> a;
    std::vector<double> b;
    a_.At(std::clamp(share_b + difference_, 0.0, 1.0), &a);
    b_.At(share_b, &b);
    for (std::size_t k = 1; k < a.size(); ++k) a[k] += a[k - 1];
    double chance = 0;
    for (std::size_t xb = 0; xb < last.size(); ++xb) {
      if (last[xb] >= 0) chance += b[xb] * a[static_cast<std::size_t>(last[xb])];
    }
    return chance;
  }

  // From the best point of the grid up to the peak beside it.
  double Climb(const std::vector<int>& last, double at, double step, double worst) const {
    for (int i = 0; i < 12; ++i, step /= 2) {
      for (const double side : {-step, step}) {
        const double share = std::clamp(at + side, low_, high_);
        const double chance = Chance(last, share);
        if (chance <= worst) continue;
        worst = chance;
        at = share;
        break;
      }
    }
    return worst;
  }

  double na_;
  double nb_;
  double difference_;
  double low_;  // Shares of b that the difference leaves possible.
  double high_;
  Binomial a_;
  Binomial b_;
};

// The lowest difference that lies confidently above what was seen, rounded up.
double UpperEnd(ShareCounts a, ShareCounts b, double level) {
  double low = static_cast<double>(a.hits) / static_cast<double>(a.trials) -
               static_cast<double>(b.hits) / static_cast<double>(b.trials);
  double high = 1;
  if (LowerDifferencePValue(a, b, 1) > level) return 1;
  while (high - low > 0.0005) {
    const double middle = (low + high) / 2;
    (LowerDifferencePValue(a, b, middle) > level ? low : high) = middle;
  }
  return high;
}

}  // namespace

double LowerDifferencePValue(ShareCounts a, ShareCounts b, double difference) {
  if (!AreCounts(a) || !AreCounts(b) || !(difference >= -1 && difference <= 1)) return 1;
  a = Thinned(a, true);
  b = Thinned(b, false);
  const Tables tables(a.trials, b.trials, difference);
  return tables.WorstChance(tables.Score(static_cast<double>(a.hits), static_cast<double>(b.hits)));
}

Interval ShareDifferenceInterval(ShareCounts a, ShareCounts b, double confidence) {
  if (!AreCounts(a) || !AreCounts(b) || !(confidence > 0 && confidence < 1)) return {-1, 1};
  const double level = (1 - confidence) / 2;
  return {.low = -UpperEnd(b, a, level), .high = UpperEnd(a, b, level)};
}

}  // namespace plimsoll
