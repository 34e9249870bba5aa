// One step of a calibration: the whole rig in virtual time on one path of the engine's drift, and
// what each call of its measured time came to.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/time.h"
#include "coordinator/judge/proportion.h"

namespace plimsoll {

enum class Mix : std::uint8_t { kLight, kMix, kHeavy };
const char* Name(Mix mix);

// What is simulated; limits are laid over it afterwards.
struct SimulatedCell {
  std::uint32_t lanes = 15;
  std::uint32_t blocks = 5;
  Duration block = 60s;
  Duration drift_time = 60s;
  Mix mix = Mix::kMix;
  // Lanes for each share of the engine: 1 is busy, 1.5 a queue that long prompts hold up, 0.5 idle.
  double load = 1;
  double refused = 0;  // Chance that a call is answered 500.
};

// A call that was first released in the measured time.
struct SimulatedCall {
  std::uint16_t lane = 0;
  std::uint16_t block = 0;
  std::uint8_t half = 0;
  float ttft_s = 0;      // +infinity: failed without a first token; NaN: none.
  float rate_tok_s = 0;  // 0: failed without one; NaN: answered in one chunk.
  float ended_s = 0;  // Since the measured time began; what the judge of a running step has seen.
  bool failed = false;
};

struct SimulatedStep {
  std::vector<SimulatedCall> calls;  // In order of lane, then time.
  std::vector<ShareCell> errors;     // Attempts and calls never sent; hits are the failed ones.
};

// The steps of a sweep over `sessions` on engine path `path`, with sessions and noise of
// `replicate`; none is judged, so all are run. The engine is sized for `cell.lanes`. Equal
// arguments give equal steps.
std::vector<SimulatedStep> SimulateSweep(const SimulatedCell& cell,
                                         const std::vector<std::uint32_t>& sessions,
                                         std::uint64_t path, std::uint64_t replicate);

// One step of `cell.lanes`.
SimulatedStep Simulate(const SimulatedCell& cell, std::uint64_t path, std::uint64_t replicate);

}  // namespace plimsoll
