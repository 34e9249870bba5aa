// When which eval case is asked: fixed functions of the seed, the lane and how many calls of the
// load it has released, so that the same cases come whatever the number of agents. Pure.
//
// The mini run comes before the sweep, at no load: every case `repeats` times, in an order of the
// seed. The trickle runs beside the load of each step: per lane an eval is due after so many of the
// lane's own calls that evals are `share` of all requests, however fast or slow the server is.
// Evals are requests of their own; nothing of them enters the load's numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/status.h"

namespace plimsoll {

struct EvalTurn {
  std::uint32_t case_index = 0;  // Into EvalSet::cases.
  std::uint32_t repeat = 0;      // Of the mini run: 0, 1, …; of the trickle: the lane's turn.
  friend bool operator==(const EvalTurn&, const EvalTurn&) = default;
};

// The order of the mini run: repeat by repeat, each a permutation of all cases.
std::vector<EvalTurn> MiniRun(std::uint32_t cases, std::uint32_t repeats, std::uint64_t seed);

// Evals of all requests, evals ÷ (evals + calls of the load).
inline constexpr double kEvalShareMin = 0.0001;
inline constexpr double kEvalShareMax = 0.2;  // More is no trickle: it is a load of its own.

// What a trickle may be: between the bounds. InvalidArgument in words else.
Status CheckEvalShare(double share);

// The trickle of all lanes. A lane's turn j (from 0) is due when the lane has released DueAfter()
// calls of the load since its first one: its share of them, at a jittered place in each stretch of
// (1 − share) ÷ share calls.
class EvalTrickle {
 public:
  // `cases` of at least 1, a `share` that CheckEvalShare accepts.
  EvalTrickle(std::uint32_t cases, double share, std::uint64_t seed);

  // Calls of the load after which the lane's turn is due. Ascending in `turn`; at least 1.
  std::uint64_t DueAfter(std::uint32_t lane, std::uint64_t turn) const;
  // Which case the turn asks. All lanes go through one permutation of the cases, each from a place
  // of its own, so that also a few turns of many lanes ask all cases about as often.
  EvalTurn At(std::uint32_t lane, std::uint64_t turn) const;
  // How many of its turns are due when the lane has released `calls`.
  std::uint64_t TurnsDue(std::uint32_t lane, std::uint64_t calls) const;

 private:
  double stretch_;  // Calls of the load an eval.
  std::uint64_t key_;
  double first_;                      // Where on the circle of cases lane 0 begins, 0 to 1.
  std::vector<std::uint32_t> order_;  // The permutation.
};

// Evals to expect beside `calls` of the load, for the dry plan.
double ExpectedEvals(double calls, double share);

}  // namespace plimsoll
