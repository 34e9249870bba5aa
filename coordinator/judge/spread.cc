#include "coordinator/judge/spread.h"

#include <algorithm>

namespace plimsoll {

double SquaresOf(const std::vector<double>& residuals) {
  if (residuals.size() < 2) return 0;
  double sum = 0;
  for (const double residual : residuals) sum += residual * residual;
  const auto size = static_cast<double>(residuals.size());
  return sum * size / (size - 1);
}

VarianceTerm OverTime(const std::vector<double>& halves, const std::vector<double>& cells) {
  if (halves.size() < 4) return {};
  const auto size = static_cast<double>(halves.size());
  double sum = 0;
  double before = 0;
  for (const double half : halves) {
    sum += half * (half + before);
    before = half;
  }
  return {.variance = std::max(0.0, sum * size / (size - 2) - SquaresOf(cells)),
          .degrees = (size - 1) / 2};
}

double SatterthwaiteDegrees(std::initializer_list<VarianceTerm> terms) {
  double sum = 0;
  double squares = 0;
  for (const VarianceTerm& term : terms) {
    sum += term.variance;
    squares += term.variance * term.variance / term.degrees;
  }
  return squares > 0 ? std::max(1.0, sum * sum / squares) : 1;
}

}  // namespace plimsoll
