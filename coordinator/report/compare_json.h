// A comparison for machines: one JSON object in the manner of json_report.h.
#pragma once

#include <string>

#include "coordinator/report/comparison.h"

namespace plimsoll {

// Indented by two, keys in alphabetical order, ends with a newline. What is absent is null. Pure.
std::string CompareJson(const Comparison& comparison);

}  // namespace plimsoll
