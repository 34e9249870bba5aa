// The hidden options by which `plimsoll rehearse` makes a run unlike a real one (docs/rehearse.md).
#pragma once

#include "coordinator/rehearse/rehearsal_settings.h"

namespace CLI {
class App;
}

namespace plimsoll {

// Adds them to a command's options, in no help. `settings` outlives the parsing.
void AddRehearsalOptions(CLI::App& app, RehearsalSettings* settings);

}  // namespace plimsoll
