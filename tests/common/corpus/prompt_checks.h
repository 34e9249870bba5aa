// What must hold of every prompt, checked against a naive model that expands each prompt block by
// block and message by message from its ref's. Used on random sessions and on recorded ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/corpus/prompt.h"
#include "common/corpus/session.h"

namespace plimsoll {

struct BlockId {
  std::uint64_t key = 0;
  std::uint32_t id = 0;
  friend auto operator<=>(const BlockId&, const BlockId&) = default;
};

// One entry per block, the last partial one included.
std::vector<BlockId> ExpandSpans(const Prompt& prompt);

// Every broken rule of any call of the session, one line each; empty if all hold. Keeps the
// expanded prompts of all calls, 16 bytes a block.
std::string BrokenPromptRules(const Session& session);

// Hits of an infinite prefix cache fed with the full blocks of all prompts in order.
std::uint64_t CacheHits(const Session& session);

}  // namespace plimsoll
