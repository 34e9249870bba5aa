#include "gateway/engine/noise.h"

#include "common/base/rng.h"

namespace plimsoll {
namespace {

// A stream for each kind, so that switching one off does not move the others.
enum Kind : std::uint64_t { kSession = 1, kCall = 2, kCold = 3 };

}  // namespace

CallFactors DrawCallFactors(const NoiseConfig& noise, std::uint64_t calls_seed,
                            std::uint64_t session_key, std::uint64_t call_key) {
  CallFactors factors;
  factors.service = Rng(MixKey(calls_seed, kSession, session_key)).Lognormal(noise.session_sigma) *
                    Rng(MixKey(calls_seed, kCall, call_key)).Lognormal(noise.call_sigma);
  if (Rng(MixKey(calls_seed, kCold, call_key)).Chance(noise.cold_share)) {
    factors.prefill = noise.cold_factor;
  }
  return factors;
}

}  // namespace plimsoll
