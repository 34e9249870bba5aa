// What a request, a message and a word cost in tokens, from calls whose usage says how long their
// prompts were. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/plan/template_fit.h"

namespace plimsoll {

struct CalibrationPoint {
  std::uint32_t words = 0;  // Of the prompt, as generated.
  std::uint32_t messages = 0;
  std::uint32_t tokens = 0;  // As usage says.
};

// Least squares. Absent where the points do not tell the three numbers apart: fewer than three, or
// all of one kind.
std::optional<TemplateFit> FitTemplate(const std::vector<CalibrationPoint>& points);

// The largest distance of a point from the fit, as a share of its tokens; 0 without points.
double WorstShareOff(const TemplateFit& fit, const std::vector<CalibrationPoint>& points);

}  // namespace plimsoll
