// Random small sessions that pass ValidateSession(): short prompts, so that cuts, tails, prefixes
// and references fall into every position relative to one another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/base/rng.h"
#include "common/corpus/session.h"

namespace plimsoll {

inline Session RandomSession(std::uint64_t seed, std::uint32_t calls = 24) {
  Rng rng(seed);
  Session session;
  session.id = "random";
  const auto streams = static_cast<std::uint32_t>(1 + rng.Below(3));
  for (std::uint32_t s = 0; s < streams; ++s) {
    session.streams.push_back({.parent_call = s == 0 ? -1 : 0,
                               .start_offset_ms = static_cast<std::uint32_t>(rng.Below(1000)),
                               .prefix_blocks = static_cast<std::uint32_t>(rng.Below(4)),
                               .prefix_class = rng.Below(2)});
  }
  for (std::uint32_t i = 0; i < calls; ++i) {
    Call call;
    call.stream = i < streams ? i : static_cast<std::uint32_t>(rng.Below(streams));
    call.tokens_in = static_cast<std::uint32_t>(1 + rng.Below(rng.Chance(0.3) ? 100 : 600));
    if (i > 0 && rng.Chance(0.9)) {
      // Mostly the previous call of the stream, kept whole.
      call.ref = static_cast<std::int32_t>(rng.Below(i));
      for (std::uint32_t j = i; j-- > 0 && rng.Chance(0.8);) {
        if (session.calls[j].stream != call.stream) continue;
        call.ref = static_cast<std::int32_t>(j);
        break;
      }
      const Call& ref = session.calls[static_cast<std::size_t>(call.ref)];
      if (rng.Chance(0.6)) {
        call.tokens_in = ref.tokens_in + static_cast<std::uint32_t>(rng.Below(200));
        call.kept_blocks = ref.blocks();
      } else {
        const std::uint32_t most = std::min(ref.blocks(), call.blocks());
        call.kept_blocks = static_cast<std::uint32_t>(rng.Below(most + 1));
      }
    }
    call.tokens_out = static_cast<std::uint32_t>(rng.Below(150));
    call.start_ms = i * 1000;
    call.service_ms = static_cast<std::uint32_t>(rng.Below(3000));
    call.delay_ms = static_cast<std::uint32_t>(rng.Below(3000));
    call.flags = static_cast<std::uint8_t>(rng.Below(32));
    session.calls.push_back(call);
  }
  return session;
}

}  // namespace plimsoll
