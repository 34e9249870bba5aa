// A limit on errors, judged from a source's counters: answers with an error status, of all answers.
// Pure.
//
// A server counts statuses. Callers who gave up on a call after a good one had an error: those that
// the gateway counted, or that agents know of, are in the upper end, so that a pass does not rest
// on them. What else broke off after it, and calls that were never sent, are in the bar's errors
// and not in these; so they can show that the limit is missed, and that alone can contradict the
// client. Without every request that was sent among them they prove nothing either: whoever turned
// the rest away stood in front.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/serverjudge/block_share.h"
#include "coordinator/serverjudge/server_part.h"

namespace plimsoll {

// Which counters of a source, that move at one moment of a request, make up all its answers.
struct AnswerCounters {
  std::vector<Signal> all;  // Sums to the answers; empty: nobody knows.
  std::string lacks;        // Then: why.
};
AnswerCounters AnswersOf(const SourceStep& source);

// `limit` is on errors, on all tiers. The sources are as JudgeLatency's are.
ServerPart JudgeErrors(const Limit& limit, const SourceStep& source, const SourceStep& engines,
                       const SourceStep& gateway, const ClientLoad& load);

}  // namespace plimsoll
