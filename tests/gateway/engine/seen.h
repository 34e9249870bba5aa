// An observer that keeps what it saw.
#pragma once

#include <cstdint>

#include "gateway/engine/engine.h"

namespace plimsoll {

inline constexpr MonoTime kNever = MonoTime::min();

class Seen final : public EngineObserver {
 public:
  void OnFirstToken(MonoTime at, std::uint32_t cached) override {
    first = at;
    cached_tokens = cached;
  }
  void OnFinished(MonoTime at) override { finished = at; }
  MonoTime first = kNever;
  MonoTime finished = kNever;
  std::uint32_t cached_tokens = 0;
};

}  // namespace plimsoll
