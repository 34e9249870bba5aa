// Calls of the agent's own client against any server, for tests that look at how each one ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/chat/call_transport.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

struct CallBatchOptions {
  std::size_t calls = 1;
  std::size_t parallel = 1;
  std::uint32_t prompt_tokens = 128;
  std::uint32_t max_tokens = 8;  // Forced: answers are exactly so long.
  Duration pause{};              // After each call, before the one that takes its place.
  Duration limit = 60s;          // What has not ended by then is hung up and not among the results.
};

// Makes the calls, `parallel` at a time, while it runs the loop; the results in order of their
// ends. Each call is a play of its own. May be called again.
std::vector<CallResult> MakeCalls(EventLoop& loop, CallTransport& transport,
                                  const CallBatchOptions& options);

}  // namespace plimsoll
