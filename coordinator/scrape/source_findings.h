// What the first read of the sources tells before a window is spent: who answers, which signals
// that the bar wants are there, which of its limits the servers' buckets can decide. Pure.
#pragma once

#include <string>
#include <vector>

#include "coordinator/judge/bar.h"
#include "coordinator/judge/preflight_summary.h"
#include "coordinator/signals/judge_mode.h"
#include "coordinator/signals/step_readings.h"

namespace plimsoll {

// Of the last sample of each target. Ok: whose pages are read. What is missing is a warning, or
// blocks where `mode` is server and the verdict could not be had without it: a page of the sources
// that the bar's limits are judged from, or a signal that none of them has.
std::vector<Finding> SourceFindings(const SignalHistory& history, const Bar& bar, JudgeMode mode);

// A line for each limit of the bar on TTFT or interactivity and each list of edges that the pages
// have for it: whether they can decide it. Limits on one tier are left out: servers do not tell
// tiers apart.
std::vector<std::string> DecidabilityLines(const SignalHistory& history, const Bar& bar);

}  // namespace plimsoll
