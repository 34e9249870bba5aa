#include "common/evals/eval_schedule.h"

#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

// Fisher and Yates.
std::vector<std::uint32_t> Permutation(std::uint32_t cases, Rng rng) {
  std::vector<std::uint32_t> order(cases);
  std::iota(order.begin(), order.end(), 0u);
  for (std::uint32_t left = cases; left > 1; --left) {
    std::swap(order[left - 1], order[rng.Below(left)]);
  }
  return order;
}

// Multiples of the golden ratio's fraction fill a circle evenly, however many are taken.
constexpr double kGolden = 0.6180339887498949;

}  // namespace

std::vector<EvalTurn> MiniRun(std::uint32_t cases, std::uint32_t repeats, std::uint64_t seed) {
  std::vector<EvalTurn> turns;
  turns.reserve(std::size_t{cases} * repeats);
  for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
    const Rng rng(MixKey(seed, HashBytes("eval-mini-run"), repeat));
    for (const std::uint32_t index : Permutation(cases, rng)) {
      turns.push_back({.case_index = index, .repeat = repeat});
    }
  }
  return turns;
}

Status CheckEvalShare(double share) {
  if (share >= kEvalShareMin && share <= kEvalShareMax) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("evals are {}% to {}% of all requests",
                                                kEvalShareMin * 100, kEvalShareMax * 100));
}

EvalTrickle::EvalTrickle(std::uint32_t cases, double share, std::uint64_t seed)
    : stretch_((1 - share) / share),
      key_(MixKey(seed, HashBytes("eval-trickle"))),
      first_(Rng(MixKey(seed, HashBytes("eval-start"))).Uniform()),
      order_(Permutation(cases, Rng(MixKey(seed, HashBytes("eval-order"))))) {}

std::uint64_t EvalTrickle::DueAfter(std::uint32_t lane, std::uint64_t turn) const {
  const double jitter = Rng(MixKey(key_, lane, turn)).Uniform();
  // Rounded down and one more: a place before the first call is after it.
  return 1 + static_cast<std::uint64_t>(stretch_ * (static_cast<double>(turn) + jitter));
}

EvalTurn EvalTrickle::At(std::uint32_t lane, std::uint64_t turn) const {
  const double place = first_ + kGolden * lane;
  const double cases = static_cast<double>(order_.size());
  const auto start = static_cast<std::uint64_t>((place - std::floor(place)) * cases);
  return {.case_index = order_[(start + turn) % order_.size()],
          .repeat = static_cast<std::uint32_t>(turn)};
}

std::uint64_t EvalTrickle::TurnsDue(std::uint32_t lane, std::uint64_t calls) const {
  // Those of whole stretches are due, but perhaps the last two; from there one by one.
  const double whole = std::floor(static_cast<double>(calls) / stretch_);
  std::uint64_t turns = whole > 2 ? static_cast<std::uint64_t>(whole) - 2 : 0;
  while (DueAfter(lane, turns) <= calls) ++turns;
  return turns;
}

double ExpectedEvals(double calls, double share) {
  return calls * share / (1 - share);
}

}  // namespace plimsoll
