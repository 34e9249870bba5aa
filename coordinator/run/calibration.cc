#include "coordinator/run/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace plimsoll {
namespace {

// Symmetric 2 x 2 system a·x = b; absent if it is singular to working precision.
std::optional<std::array<double, 2>> Solve(double a00, double a01, double a11, double b0,
                                           double b1) {
  const double determinant = a00 * a11 - a01 * a01;
  if (!(determinant > 1e-9 * a00 * a11)) return std::nullopt;
  return std::array<double, 2>{(b0 * a11 - b1 * a01) / determinant,
                               (a00 * b1 - a01 * b0) / determinant};
}

}  // namespace

std::optional<TemplateFit> FitTemplate(const std::vector<CalibrationPoint>& points) {
  if (points.size() < 3) return std::nullopt;
  const auto n = static_cast<double>(points.size());
  double words = 0;
  double messages = 0;
  double tokens = 0;
  for (const CalibrationPoint& p : points) {
    words += p.words / n;
    messages += p.messages / n;
    tokens += p.tokens / n;
  }
  // About the means, so that the request's share drops out and long prompts cost no precision.
  double ww = 0;
  double wm = 0;
  double mm = 0;
  double wt = 0;
  double mt = 0;
  for (const CalibrationPoint& p : points) {
    const double w = p.words - words;
    const double m = p.messages - messages;
    const double t = p.tokens - tokens;
    ww += w * w;
    wm += w * m;
    mm += m * m;
    wt += w * t;
    mt += m * t;
  }
  const auto slopes = Solve(ww, wm, mm, wt, mt);
  if (!slopes) return std::nullopt;
  const auto [per_word, per_message] = *slopes;
  return TemplateFit{.per_request = tokens - per_word * words - per_message * messages,
                     .per_message = per_message,
                     .per_word = per_word};
}

double WorstShareOff(const TemplateFit& fit, const std::vector<CalibrationPoint>& points) {
  double worst = 0;
  for (const CalibrationPoint& p : points) {
    const double off = std::abs(fit.Expected(p.words, p.messages) - p.tokens);
    worst = std::max(worst, off / std::max(1u, p.tokens));
  }
  return worst;
}

}  // namespace plimsoll
