// The kill switch's rules and what they saw, in words. Pure.
#pragma once

#include <string>

#include "coordinator/scenario/kill_switch_spec.h"
#include "coordinator/signals/signal.h"

namespace plimsoll {

// What the rule reads; of kErrors the numerator.
Signal SignalOfRule(KillSignal signal);

// A value in the rule's unit: "412", "5.2/s", "21.4%".
std::string KillValue(KillSignal signal, double value);

// "waiting of production over 3x the level before the run, and over 10, for 10s".
std::string KillRuleWords(const KillRule& rule);

}  // namespace plimsoll
