// The part of `plimsoll check` that reads servers' pages once.
#pragma once

#include <string>

#include "common/base/status.h"
#include "coordinator/scenario/scenario.h"
#include "coordinator/scrape/scraper.h"

namespace plimsoll {

struct FirstRead {
  std::string text;     // FirstReadText.
  bool blocks = false;  // A run would end in its preflight.
};

// Asks every source once and waits for all of them, each at most its timeout. A token or a CA file
// that is not here becomes a line of it, and blocks nothing: a plan may be looked at elsewhere.
FirstRead ReadSignalsOnce(const Scenario& scenario, ScrapePlan plan);

}  // namespace plimsoll
