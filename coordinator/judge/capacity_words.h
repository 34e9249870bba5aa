// A capacity in words, which never go beyond what was measured. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/judge/capacity.h"

namespace plimsoll {

// "12.4 → 12 sessions [10–14] (9.7 requests in flight [8.0–11.2], interpolated), limited by TTFT"
// · ">= 20 sessions (16.0 requests in flight), ceiling not found" · "< 5 sessions (…): the first
// step already misses: errors" · "no capacity: no step was decided". Open ends, steps too close or
// without data, and verdicts that contradict each other are named after it. `steps` as DecidedSteps
// gives them; `stopped_by` as of CapacityOf.
std::string CapacitySentence(const Capacity& capacity, const std::vector<StepResult>& steps,
                             std::string_view stopped_by);

// The number alone, as the sentence begins: "12.4 → 12 sessions [10–14] (9.7 requests in flight
// [8.0–11.2], interpolated)" · ">= 20 sessions (16.0 requests in flight)" · "no capacity".
std::string CapacityNumber(const Capacity& capacity);

// Whole sessions for a table: "12 [10–14]" · "9 [7–open]" · ">= 20" · "< 5".
std::string WholeSessions(const CapacityBand& band);

// " (9.7 requests in flight)", to stand behind a number of sessions; empty where they are not
// known. `unit` " requests in flight", or "" where it was said just before.
std::string InFlightWords(const std::optional<double>& requests,
                          std::string_view unit = " requests in flight");

// Each part alone: "TTFT 12.4 [10–14] (9.7 requests in flight) · interactivity >= 15 (12.1 requests
// in flight) · errors no data". Empty without parts.
std::string PartsSentence(const Capacity& capacity);

// The name of capacity.parts[index], as short as it is unambiguous among them.
std::string LabelOf(const Capacity& capacity, std::size_t index);

}  // namespace plimsoll
