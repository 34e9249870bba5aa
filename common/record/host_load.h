// What an agent's process and machine did within a step's measured time, as the system tells it:
// causes of lateness, beside the lateness itself (tally.h). Absent: the system does not say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace plimsoll {

struct HostLoad {
  // Processor time of the whole process, gRPC's threads included, in cores: the worst second.
  std::optional<double> cores_used_max;
  std::optional<double>
      cores;  // That the process may use: its affinity, its control groups' quota.
  // The busiest of its threads besides the loop's, of one core: the worst second.
  std::optional<double> thread_share_max;
  // For how long the quota of a control group kept its threads off the processors, at most.
  std::optional<std::int64_t> throttled_ns;
  // Time that the hypervisor gave to others while this machine had work, mean of its processors.
  std::optional<std::int64_t> stolen_ns;
  // Open at once, looked at about once a second, and how many may be.
  std::optional<std::uint64_t> descriptors_max;
  std::optional<std::uint64_t> descriptors_limit;
  // TCP sockets of the whole machine (its network namespace), those that only wait for late packets
  // included: at least as many as hold one of the local ports. And how many ports there are.
  std::optional<std::uint64_t> ports_max;
  std::optional<std::uint64_t> ports_limit;

  // `later` is of the measured time that follows: peaks stay, times add up, and a limit is the
  // smaller one. What one of the two does not say is unknown of both together, lest half a time
  // passes for the whole.
  void Extend(const HostLoad& later) {
    const auto merge = [](auto& into, const auto& more, const auto& how) {
      if (into && more) {
        into = how(*into, *more);
      } else {
        into.reset();
      }
    };
    const auto larger = [](auto a, auto b) { return std::max(a, b); };
    const auto smaller = [](auto a, auto b) { return std::min(a, b); };
    const auto sum = [](std::int64_t a, std::int64_t b) { return a + b; };
    merge(cores_used_max, later.cores_used_max, larger);
    merge(cores, later.cores, smaller);
    merge(thread_share_max, later.thread_share_max, larger);
    merge(throttled_ns, later.throttled_ns, sum);
    merge(stolen_ns, later.stolen_ns, sum);
    merge(descriptors_max, later.descriptors_max, larger);
    merge(descriptors_limit, later.descriptors_limit, smaller);
    merge(ports_max, later.ports_max, larger);
    merge(ports_limit, later.ports_limit, smaller);
  }
  friend bool operator==(const HostLoad&, const HostLoad&) = default;
};

}  // namespace plimsoll
