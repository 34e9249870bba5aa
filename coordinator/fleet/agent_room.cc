#include "coordinator/fleet/agent_room.h"

#include <fmt/format.h>

namespace plimsoll {
namespace {

// Beside its connections an agent has its links, its log, timers, and two for every 64 transfers.
constexpr std::uint64_t kDescriptorsAside = 64;
constexpr std::uint64_t kLanesADescriptorAside = 32;
constexpr std::uint64_t kBytesALane = std::uint64_t{64} << 10;

}  // namespace

std::string WhyItHasNoRoom(const Hello& hello, std::uint32_t lanes) {
  const std::uint64_t wanted =
      std::uint64_t{lanes} + lanes / kLanesADescriptorAside + kDescriptorsAside;
  if (hello.descriptors_max != 0 && hello.descriptors_max < wanted) {
    return fmt::format(
        "{} lanes need at least {} descriptors, and it may open {}: raise its hard limit "
        "(ulimit -Hn), or use more agents",
        lanes, wanted, hello.descriptors_max);
  }
  if (hello.ports != 0 && hello.ports < lanes) {
    return fmt::format(
        "{} lanes need a port each, and its machine has {} for one destination: widen "
        "net.ipv4.ip_local_port_range, or use agents on more machines",
        lanes, hello.ports);
  }
  if (hello.memory_bytes != 0 && hello.memory_bytes < lanes * kBytesALane) {
    return fmt::format("{} lanes need {} MiB, and its machine has {} MiB: use more agents", lanes,
                       lanes * kBytesALane >> 20, hello.memory_bytes >> 20);
  }
  return {};
}

}  // namespace plimsoll
