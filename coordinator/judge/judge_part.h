// The verdict on one limit of the bar, in a step that is not void: the load rule, the calls that a
// verdict needs, then the interval against the limit. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coordinator/judge/evidence.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

// `index` is the limit's place in the bar with which the evidence was counted. A limit with an
// interval of its own (baseline runs that differ) passes where its stricter end does, fails where
// its looser end does, and is too close between.
// The verdict is as sure as `confidence` says; the value's interval is always the 95% one.
PartVerdict JudgePart(const Limit& limit, std::size_t index, const StepEvidence& evidence,
                      double sent_share, const Confidence& confidence = {});

// False of a limit on a tier that the step's ladder leaves out.
bool IsJudged(const Limit& limit, const StepEvidence& evidence);

// The observations that the verdict on the bar's limit `index` counts, by lane and block; hits are
// calls within the limit (IsBadShare: bad ones). False if the cells were counted against another
// bar, or no tier of `tier_names` is the limit's.
bool ShareCellsOf(const Limit& limit, std::size_t index, const std::vector<CellCounts>& cells,
                  const std::vector<std::string>& tier_names, std::vector<ShareCell>* out);

// A cell's observations of a share of bad calls: errors (attempts and calls never sent, of them the
// failed and the unsent), or tool calls (answers judged, of them the malformed).
ShareCell BadCallsOf(Metric metric, const CellCounts& cell);

// "no data", for this reason.
PartVerdict NoData(PartVerdict part, std::string reason);

}  // namespace plimsoll
