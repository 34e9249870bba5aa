// A call's own noise: pure functions of seeds and keys, so that a call's luck does not depend on
// what else runs.
#pragma once

#include <cstdint>

#include "gateway/engine/engine_config.h"

namespace plimsoll {

struct CallFactors {
  double service = 1;  // On prefill and decode: the call's factor times its session's.
  double prefill = 1;  // On prefill alone: the cold start's.
};

CallFactors DrawCallFactors(const NoiseConfig& noise, std::uint64_t calls_seed,
                            std::uint64_t session_key, std::uint64_t call_key);

}  // namespace plimsoll
