// A comparison for a terminal: UTF-8 without colour, at most 100 columns, the winner first.
#pragma once

#include <string>

#include "coordinator/report/comparison.h"

namespace plimsoll {

// Ends with a newline. Pure.
std::string CompareText(const Comparison& comparison);

}  // namespace plimsoll
