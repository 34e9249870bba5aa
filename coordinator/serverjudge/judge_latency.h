// A limit on TTFT or interactivity, judged from a source's histogram: counts at the bucket edges
// around the limit, never a number made up inside a bucket. Pure.
//
// Of n observations `surely` lie at or under the largest edge at or under the limit, `possibly` at
// or under the smallest at or above it. Requests that were open at the end of the measured time
// have no observation yet; at most as many as OpenWithoutObservation says (censoring.h). Where a
// page came after they had ended, at most so many of them can have missed the limit as observations
// between the two pages did; else any of them can. Requests that their callers gave up before they
// were observed missed it, wherever they are.
//   pass   the interval of surely ÷ (n + open ones that may have missed) is above the quantile
//   fail   that of (possibly + open ones that may have kept it) ÷ (n + those) is below it
//   else   too close: by the buckets, by the open requests, or by chance, whichever it is
// The intervals: block_share.h. Its reading of time: a first token counts when it comes, while the
// client counts a call when it is released; in a step that is steady the two ends cancel.
#pragma once

#include "coordinator/serverjudge/server_part.h"

namespace plimsoll {

// `limit` is on TTFT or interactivity, on all tiers. `gateway` may have no target; it may be
// `source` itself.
ServerPart JudgeLatency(const Limit& limit, const SourceStep& source, const SourceStep& engines,
                        const SourceStep& gateway, const ClientLoad& load);

}  // namespace plimsoll
