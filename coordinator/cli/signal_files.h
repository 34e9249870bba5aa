// What a scenario's `signals` name on this machine, read: mapping files and tokens. Effects at the
// edge of check and run.
#pragma once

#include "common/base/status.h"
#include "coordinator/scenario/signals_spec.h"
#include "coordinator/scrape/scraper.h"

namespace plimsoll {

// Without tokens. InvalidArgument: a mapping file that cannot be read, or all that is wrong in one.
StatusOr<ScrapePlan> MakeScrapePlan(const SignalsSpec& signals);

// NotFound, naming it, if a variable is not set here, or a CA file cannot be read here.
Status ReadSignalTokens(const SignalsSpec& signals, ScrapePlan* plan);

}  // namespace plimsoll
