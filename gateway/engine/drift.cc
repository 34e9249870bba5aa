#include "gateway/engine/drift.h"

#include <algorithm>
#include <cmath>

namespace plimsoll {
namespace {

// Cells walked to find an end (a day of seconds); what lies beyond goes at the last one's speed, so
// that an absurdly long request costs no memory.
constexpr std::size_t kCellsAhead = 86'400;

// A cell is a second, or a tenth of the time constant where that is shorter.
double GridOf(Duration time_constant) {
  return std::clamp(ToSeconds(time_constant) / 10, 0.001, 1.0);
}

}  // namespace

DriftPath::DriftPath(double sigma, Duration time_constant, std::uint64_t seed)
    : sigma_(sigma),
      grid_s_(GridOf(time_constant)),
      rho_(time_constant > 0ns ? std::exp(-grid_s_ / ToSeconds(time_constant)) : 0),
      step_sigma_(sigma * std::sqrt(1 - rho_ * rho_)),
      rng_(seed) {}

double DriftPath::FactorAt(double t) {
  return sigma_ == 0 ? 1.0 : 1.0 / speed_[CellOf(t)];
}

double DriftPath::WorkBetween(double from, double to) {
  return sigma_ == 0 ? to - from : WorkAt(to) - WorkAt(from);
}

double DriftPath::AfterWork(double from, double work) {
  if (sigma_ == 0) return from + work;
  std::size_t cell = CellOf(from);
  const std::size_t last = cell + kCellsAhead;
  double at = from;
  while (true) {
    const double cell_end = static_cast<double>(cell + 1) * grid_s_;
    const double until_end = (cell_end - at) * speed_[cell];
    if (work <= until_end || cell == last) return at + work / speed_[cell];
    work -= until_end;
    at = cell_end;
    ExtendTo(++cell);
  }
}

std::size_t DriftPath::CellOf(double t) {
  const auto cell = static_cast<std::size_t>(std::max(t, 0.0) / grid_s_);
  ExtendTo(cell);
  return cell;
}

void DriftPath::ExtendTo(std::size_t cell) {
  while (speed_.size() <= cell) {
    work_.push_back(work_.empty() ? 0 : work_.back() + speed_.back() * grid_s_);
    log_factor_ =
        speed_.empty() ? sigma_ * rng_.Normal() : rho_ * log_factor_ + step_sigma_ * rng_.Normal();
    speed_.push_back(std::exp(-log_factor_));
  }
}

double DriftPath::WorkAt(double t) {
  const std::size_t cell = CellOf(t);
  return work_[cell] + (t - static_cast<double>(cell) * grid_s_) * speed_[cell];
}

}  // namespace plimsoll
