// What files of the kernel say, as values: texts of /proc and of control groups, each read
// strictly. Pure. A text that is not as documented is no reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

// Processor time since the machine booted, in ticks, summed over its processors.
struct MachineTicks {
  std::uint64_t all = 0;
  std::uint64_t stolen = 0;
};
// Of /proc/stat: its first line.
std::optional<MachineTicks> ReadMachineTicks(std::string_view text);

// Of /proc/…/stat of a process or a thread: its processor time in ticks, user and system. Its name
// may hold anything.
std::optional<std::uint64_t> ReadTaskTicks(std::string_view text);

// Of /proc/net/sockstat and sockstat6 (empty: there is none): TCP sockets in use, and those in
// TIME_WAIT.
std::optional<std::uint64_t> ReadTcpSockets(std::string_view ipv4, std::string_view ipv6);

// Of /proc/sys/net/ipv4/ip_local_port_range: how many there are.
std::optional<std::uint64_t> ReadPortCount(std::string_view text);

// Of a control group's cpu.stat, of either version: since the group was made.
struct Throttling {
  std::int64_t time_ns = 0;   // Summed over its processors.
  std::uint64_t periods = 0;  // In which it was throttled.
};
std::optional<Throttling> ReadThrottling(std::string_view text);

// A control group's quota: time a period. Absent: none is set.
struct CpuQuota {
  std::int64_t time_us = 0;
  std::int64_t period_us = 0;
  double cores() const { return static_cast<double>(time_us) / static_cast<double>(period_us); }
  friend bool operator==(const CpuQuota&, const CpuQuota&) = default;
};
// Of cpu.max (version 2): "max 100000" or "50000 100000".
std::optional<CpuQuota> ReadQuota(std::string_view cpu_max);
// Of cpu.cfs_quota_us and cpu.cfs_period_us (version 1); -1 is no quota.
std::optional<CpuQuota> ReadQuota(std::string_view quota_us, std::string_view period_us);

// Of /proc/self/cgroup: folders that may hold the process's cpu controller, below where control
// groups are mounted, each followed by its parents: the quota of any of them binds.
std::vector<std::string> CpuGroupFolders(std::string_view text);

}  // namespace plimsoll
