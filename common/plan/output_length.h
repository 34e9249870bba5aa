// What length of answer one call asks for, by the plan.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/plan/plan.h"

namespace plimsoll {

struct OutputAsk {
  std::uint32_t max_tokens = 1;  // Cap of the request; > 0.
  std::uint32_t asked = 0;       // The length that is wanted; 0: it is left to the model.
  bool min_tokens = false;       // Switches that make the server keep to it.
  bool ignore_eos = false;
  friend bool operator==(const OutputAsk&, const OutputAsk&) = default;
};

// `recorded` is the call's recorded output length. Never more than the target's cap.
constexpr OutputAsk AskFor(const RunPlan& plan, std::uint32_t recorded) {
  const std::uint32_t cap = std::max(1u, plan.target.max_tokens);
  if (plan.output_mode == OutputMode::kFree) return {.max_tokens = cap};
  const std::uint32_t wanted = plan.output_mode == OutputMode::kFixed
                                   ? plan.output_tokens
                                   : recorded / std::max(1u, plan.output_divisor);
  const std::uint32_t asked = std::min(cap, std::max(1u, wanted));
  return {.max_tokens = asked,
          .asked = asked,
          .min_tokens = plan.target.min_tokens_accepted,
          .ignore_eos = plan.target.ignore_eos_accepted};
}

}  // namespace plimsoll
