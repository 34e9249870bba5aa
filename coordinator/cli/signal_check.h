// The part of `plimsoll check` that reads servers' pages once.
#pragma once

#include <string>

#include "common/base/status.h"
#include "coordinator/scenario/scenario.h"
#include "coordinator/scrape/scraper.h"

namespace plimsoll {

// Asks every source once and waits for all of them, each at most its timeout: FirstReadText of what
// came of it. A token or a CA file that is not here becomes a line of it.
std::string ReadSignalsOnce(const Scenario& scenario, ScrapePlan plan);

}  // namespace plimsoll
