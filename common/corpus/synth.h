// Sessions drawn from published statistics of recorded coding agents, for when no recording is at
// hand: the embedded default of the demo. One seeded family: the same options give the same corpus
// on every host. Pure.
#pragma once

#include <cstdint>

#include "common/corpus/session.h"

namespace plimsoll {

struct SynthOptions {
  std::uint64_t seed = 1;
  std::uint32_t heavy = 32;  // Sessions of each tier.
  std::uint32_t mid = 0;
  std::uint32_t light = 32;
  // Divides all token counts, so that a small engine can be loaded with sessions of the same shape.
  // At least 1; sensible up to 200. Prompts never fall below one block.
  std::uint32_t scale = 1;
};

// Heavy ones first. Of each tier, over many sessions, the published percentiles of calls a session,
// prompt, answer, appended tokens, delay and service time, and the shares of rewrites and of
// sessions that fan out subagents, which their next call waits for. A session's median prompt lies
// within the tier's bounds (light at most 69,268 tokens, heavy at least 141,002, over scale).
// Sessions are 3 to 561 calls long. Passes ValidateCorpus().
Corpus SynthCorpus(const SynthOptions& options);

}  // namespace plimsoll
