#include "coordinator/judge/spread.h"

#include <algorithm>

namespace plimsoll {
namespace {

// What changes lose where neighbouring slices resemble each other.
constexpr double kNeighbours = 1.3;

}  // namespace

double SquaresOf(const std::vector<double>& residuals) {
  if (residuals.size() < 2) return 0;
  double sum = 0;
  for (const double residual : residuals) sum += residual * residual;
  const auto size = static_cast<double>(residuals.size());
  return sum * size / (size - 1);
}

VarianceTerm Together(const std::map<std::uint32_t, std::vector<double>>& residuals) {
  const std::size_t slices = residuals.empty() ? 0 : residuals.begin()->second.size();
  if (slices < kSlicesMin) return {.variance = 0, .degrees = 0};
  double sum = 0;
  for (std::size_t h = 1; h < slices; ++h) {
    double all = 0;
    double alone = 0;
    for (const auto& [number, lane] : residuals) {
      const double change = lane[h] - lane[h - 1];
      all += change;
      alone += change * change;
    }
    sum += (all * all - alone) / 2;
  }
  const auto size = static_cast<double>(slices);
  return {.variance = std::max(0.0, kNeighbours * sum * size / (size - 1)),
          .degrees = 2 * (size - 1) * (size - 1) / (3 * size - 4)};
}

double SatterthwaiteDegrees(std::initializer_list<VarianceTerm> terms) {
  double sum = 0;
  double squares = 0;
  for (const VarianceTerm& term : terms) {
    if (!(term.variance > 0)) continue;
    sum += term.variance;
    squares += term.variance * term.variance / term.degrees;
  }
  return squares > 0 ? std::max(1.0, sum * sum / squares) : 1;
}

}  // namespace plimsoll
