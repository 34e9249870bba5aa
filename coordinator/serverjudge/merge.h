// What a part's verdict is, of the client's and the servers' own. Pure.
//
//   client   the client's; the server's is shown beside it.
//   server   the server's; where it has no data, no data. The load rules are the client's.
//   both     the client's, and whatever the server cannot say or decide leaves it standing. Only
//            where one passes and the other fails, of the same number, is it too close to call.
//
// Of two servers' verdicts the one nearer to the callers counts, if it has data; a fail of either
// is one, and a pass of the one against a fail of the other is too close.
#pragma once

#include <optional>
#include <string>

#include "coordinator/judge/server_summary.h"
#include "coordinator/serverjudge/server_part.h"

namespace plimsoll {

// Absent: that source has no target. No data without either.
ServerPart MergeServers(const Limit& limit, const std::optional<ServerPart>& engines,
                        const std::optional<ServerPart>& gateway);

// Of a step that is not void.
PartVerdict MergePart(JudgeMode mode, const PartVerdict& client, const ServerPart& server);

}  // namespace plimsoll
