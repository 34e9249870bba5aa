#include "coordinator/planning/prefix_hits.h"

#include <algorithm>

namespace plimsoll {
namespace {

// Calls fn(call, blocks) for the earlier calls whose prompts begin as that of call `c` does,
// nearest first, with the number of blocks shared, while it returns true.
template <typename Fn>
void ForAncestors(const Session& session, std::size_t c, Fn fn) {
  std::uint32_t shared = session.calls[c].kept_blocks;
  while (session.calls[c].ref >= 0) {
    c = static_cast<std::size_t>(session.calls[c].ref);
    if (!fn(c, shared)) return;
    shared = std::min(shared, session.calls[c].kept_blocks);
  }
}

}  // namespace

std::vector<std::uint32_t> PrefixBlocksHit(const Session& session, const SessionGraph& graph,
                                           SharedPrefix shared_prefix) {
  std::vector<std::uint32_t> hit(session.calls.size(), 0);
  std::vector<std::uint32_t> brought(session.calls.size(), 0);  // Of each prompt, by calls so far.
  for (std::size_t c = 0; c < session.calls.size(); ++c) {
    ForAncestors(session, c, [&](std::size_t at, std::uint32_t shared) {
      hit[c] = std::max(hit[c], std::min(shared, brought[at]));
      return hit[c] < shared;
    });
    // A conversation begins with its class's prefix, which other sessions have brought.
    const Call& call = session.calls[c];
    if (shared_prefix == SharedPrefix::kYes && call.ref < 0) {
      hit[c] = std::min(session.streams[call.stream].prefix_blocks, call.blocks());
    }
    if (graph.left_out(c)) continue;
    brought[c] = session.calls[c].blocks();
    // What it keeps of prompts that were left out is there from now on.
    ForAncestors(session, c, [&](std::size_t at, std::uint32_t shared) {
      const bool fresh = brought[at] < shared;
      if (fresh) brought[at] = shared;
      return fresh;
    });
  }
  return hit;
}

}  // namespace plimsoll
