// What a prefix cache should hit of a recorded session: blocks of each prompt that earlier calls
// have brought, with a cache that forgets nothing. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/corpus/session.h"
#include "common/plan/session_graph.h"

namespace plimsoll {

// Whether the prefix of a session's class counts as brought by other sessions.
enum class SharedPrefix : std::uint8_t { kNo, kYes };

// By call of `session`. Calls that `graph` leaves out bring none, and their own number says what
// they would hit.
std::vector<std::uint32_t> PrefixBlocksHit(const Session& session, const SessionGraph& graph,
                                           SharedPrefix shared_prefix);

}  // namespace plimsoll
