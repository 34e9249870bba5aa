// What a simulated run came to, for the tests that look at it.
#pragma once

#include <string>

#include <fmt/format.h>

#include "gtest/gtest.h"
#include "tests/sim/fleet_sim.h"

namespace plimsoll {

// Everything that was said and judged, for the message of a failed check.
inline std::string Explain(const FleetSim& sim, const RunResult& result) {
  std::string text;
  for (const std::string& line : sim.said()) text += line + "\n";
  text += fmt::format("exit {}: {}\n", static_cast<int>(result.code), result.reason);
  for (const RunStep& step : result.steps) {
    for (const std::string& reason : step.summary.verdict.reasons) text += "  " + reason + "\n";
    for (const PartVerdict& p : step.summary.verdict.parts) text += "    " + p.reason + "\n";
  }
  return text;
}

// The part of the step's verdict that is about `metric`. Without one the test has failed.
inline const PartVerdict& Part(const StepSummary& step, Metric metric) {
  for (const PartVerdict& part : step.verdict.parts) {
    if (part.limit.metric == metric) return part;
  }
  ADD_FAILURE() << "no such part";
  static const PartVerdict none;
  return none;
}

}  // namespace plimsoll
