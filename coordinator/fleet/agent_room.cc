#include "coordinator/fleet/agent_room.h"

#include <algorithm>

#include <fmt/format.h>

namespace plimsoll {
namespace {

// Beside its connections an agent has its links, its log, timers, and two for every 64 transfers.
constexpr std::uint64_t kDescriptorsAside = 64;
constexpr std::uint64_t kConnectionsADescriptorAside = 32;
constexpr std::uint64_t kBytesALane = std::uint64_t{64} << 10;

// "1000 lanes", or "1000 lanes with up to 1500 requests at once".
std::string WordsFor(const LaneShare& share) {
  if (share.connections == share.lanes) return fmt::format("{} lanes", share.lanes);
  return fmt::format("{} lanes with up to {} requests at once", share.lanes, share.connections);
}

}  // namespace

std::string WhyItHasNoRoom(const Hello& hello, const LaneShare& share) {
  const std::uint64_t connections = std::max<std::uint64_t>(share.connections, share.lanes);
  const std::uint64_t wanted =
      connections + connections / kConnectionsADescriptorAside + kDescriptorsAside;
  if (hello.descriptors_max != 0 && hello.descriptors_max < wanted) {
    return fmt::format(
        "{} need at least {} descriptors, and it may open {}: raise its hard limit "
        "(ulimit -Hn), or use more agents",
        WordsFor(share), wanted, hello.descriptors_max);
  }
  if (hello.ports != 0 && hello.ports < connections) {
    return fmt::format(
        "{} need a port for each request, and its machine has {} for one destination: widen "
        "net.ipv4.ip_local_port_range, or use agents on more machines",
        WordsFor(share), hello.ports);
  }
  const std::uint64_t bytes = share.lanes * kBytesALane + share.history_bytes;
  if (hello.memory_bytes != 0 && hello.memory_bytes < bytes) {
    return fmt::format("{} lanes need {} MiB{}, and its machine has {} MiB: use more agents",
                       share.lanes, bytes >> 20,
                       share.history_bytes > 0 ? " with the answers of their live history" : "",
                       hello.memory_bytes >> 20);
  }
  return {};
}

}  // namespace plimsoll
