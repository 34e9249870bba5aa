// The engine's drift: a factor on every service time that wanders as a log-AR(1), sampled on a grid
// that depends on nothing but its seed, so that the same path can be met again by other sessions.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/rng.h"
#include "common/base/time.h"

namespace plimsoll {

// log factor: stationary normal with deviation `sigma`, correlation exp(-dt / time_constant),
// constant within a cell of the grid. Instants are seconds since the engine's start, >= 0.
//
// Work is service time at factor 1: while the factor is 2, a second does half a second of work.
class DriftPath {
 public:
  DriftPath(double sigma, Duration time_constant, std::uint64_t seed);

  // The factor at `t`.
  double FactorAt(double t);
  // Work done between two instants, from <= to.
  double WorkBetween(double from, double to);
  // When `work` is done that begins at `from`.
  double AfterWork(double from, double work);

 private:
  std::size_t CellOf(double t);
  void ExtendTo(std::size_t cell);
  double WorkAt(double t);

  double sigma_;
  double grid_s_;
  double rho_;
  double step_sigma_;
  double log_factor_ = 0;
  Rng rng_;
  std::vector<double> speed_;  // 1 / factor, of each cell sampled so far.
  std::vector<double> work_;   // Work from the start to each cell's beginning.
};

}  // namespace plimsoll
