// Offset of an agent's monotonic clock to ours, from the round trips of pings: the sample with the
// shortest round trip bounds the error by half of it (Cristian 1989). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/base/time.h"

namespace plimsoll {

class ClockOffset {
 public:
  struct Estimate {
    Duration offset{};       // Agent's clock minus ours.
    Duration uncertainty{};  // The true offset lies within offset ± uncertainty.
  };

  // A ping left at `sent`, its answer arrived at `received`; between them the agent read `agent`.
  void Add(MonoTime sent, MonoTime received, MonoTime agent) {
    const Duration half = (received - sent) / 2;
    samples_[next_++ % samples_.size()] = {
        agent.time_since_epoch() - sent.time_since_epoch() - half, half};
    if (count_ < samples_.size()) ++count_;
  }
  // Of the last sixteen samples, so that a clock's drift does not age the estimate.
  std::optional<Estimate> estimate() const {
    if (count_ == 0) return std::nullopt;
    Estimate best = samples_[0];
    for (std::size_t i = 1; i < count_; ++i) {
      if (samples_[i].uncertainty < best.uncertainty) best = samples_[i];
    }
    return best;
  }

 private:
  std::array<Estimate, 16> samples_{};
  std::size_t next_ = 0;
  std::size_t count_ = 0;
};

}  // namespace plimsoll
