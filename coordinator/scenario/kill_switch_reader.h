// Reads the section `kill_switch` of a scenario. Pure over text.
//
// Keys, all optional, at least one:
//   waiting, open_requests, cancellations, errors, kv_fill   RULE, on the candidate's pages
//   production   {gateway, engines: PAGE, or [PAGE…], and the five RULEs}
//   unread       {for: duration}
//   file         PATH
// RULE is a limit alone (200, 5/s, 20%, or 3x the level before the run), or
//   {over: limit, over_before: 3x, for: duration, least: count (errors only)}
// PAGE is as in `signals`. Production's pages join those of signals.production.
#pragma once

#include <optional>
#include <string_view>

#include "common/config/field_reader.h"
#include "coordinator/scenario/kill_switch_spec.h"
#include "coordinator/scenario/signals_spec.h"

namespace plimsoll {

// After ReadSignals(): production's pages are added to `signals`, which then are there. Nothing
// where the section is absent; what is wrong in it becomes a problem with line and path.
void ReadKillSwitch(FieldReader& top, std::string_view folder, Problems& problems,
                    std::optional<SignalsSpec>& signals,
                    std::optional<KillSwitchSpec>& kill_switch);

}  // namespace plimsoll
