// AgentSpawner: local agents as child processes. Real: local_agents; virtual in tests/sim.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/base/status.h"

namespace plimsoll {

class AgentSpawner {
 public:
  virtual ~AgentSpawner() = default;
  // Starts one that dials in by itself, in the place of slot `index`'s old one if there was one.
  virtual Status Start(std::uint32_t index) = 0;
  // Called with words when one ends that nobody ended.
  std::function<void(std::uint32_t index, const std::string& how)> on_exit;
  // Ends all of them.
  virtual void EndAll() = 0;
};

}  // namespace plimsoll
