// The bar as a sentence, and where its limits come from.
#pragma once

#include <string>

#include "coordinator/judge/bar.h"

namespace plimsoll {

// "TTFT P90 <= 5.3 s · errors <= 2%".
std::string BarSentence(const Bar& bar);

}  // namespace plimsoll
