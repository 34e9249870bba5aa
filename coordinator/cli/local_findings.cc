#include "coordinator/cli/local_findings.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "coordinator/cli/corpus_files.h"
#include "coordinator/planning/store_size.h"

namespace plimsoll {
namespace {

constexpr char kPortRange[] = "/proc/sys/net/ipv4/ip_local_port_range";
// Requests vary around their mean, and a connection that was given up keeps its port for a while.
constexpr double kMoreThanMean = 1.5;
constexpr double kTightShare = 0.5;

Finding DiskFinding(const Scenario& scenario, const DryPlan& dry, const std::string& store,
                    std::uint64_t free) {
  const StoreSize size = StoreSizeOf(scenario, dry);
  const std::string words = fmt::format(
      "disk: {} free for {}, and the run may write {} (records {}, pages {})", SizeText(free),
      store, SizeText(size.all()), SizeText(size.records), SizeText(size.pages));
  if (free < size.all()) {
    return {FindingLevel::kBlocking,
            words + "; free some, take another --store, or plan fewer or shorter steps"};
  }
  if (free / 2 < size.all()) {
    return {FindingLevel::kWarning, words + "; it fits, with less than that again left over"};
  }
  return {FindingLevel::kOk, words};
}

Finding PortFinding(const DryPlan& dry, std::uint32_t ports) {
  double wanted = 0;
  std::uint32_t sessions = 0;
  for (const DryStep& step : dry.steps) {
    sessions = std::max(sessions, step.sessions);
    wanted = std::max({wanted, static_cast<double>(step.sessions),
                       kMoreThanMean * std::max(step.in_flight, step.in_flight_at_bar)});
  }
  const std::string words = fmt::format(
      "ports: {} sessions keep up to about {:.0f} requests open from this machine, which has {} "
      "ports for one destination",
      sessions, wanted, ports);
  const char* to_do =
      "; widen net.ipv4.ip_local_port_range, or let agents dial in from more machines";
  if (sessions > ports) return {FindingLevel::kBlocking, words + to_do};
  if (wanted > kTightShare * ports) return {FindingLevel::kWarning, words + to_do};
  return {FindingLevel::kOk, words};
}

}  // namespace

LocalRoom ReadLocalRoom(const std::string& store) {
  LocalRoom room;
  struct statvfs disk {};
  if (::statvfs(store.c_str(), &disk) == 0) {
    room.free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  }
  unsigned first = 0;
  unsigned last = 0;
  const auto range = ReadWholeFile(kPortRange, 4096);
  if (range.ok() && std::sscanf(range->c_str(), "%u %u", &first, &last) == 2 && last >= first &&
      last <= 65535) {
    room.ports = last - first + 1;
  }
  return room;
}

std::vector<Finding> LocalFindings(const Scenario& scenario, const DryPlan& dry,
                                   const std::string& store, const LocalRoom& room) {
  std::vector<Finding> findings;
  if (room.free_bytes) {
    findings.push_back(DiskFinding(scenario, dry, store, *room.free_bytes));
  } else {
    findings.push_back({FindingLevel::kWarning,
                        fmt::format("disk: what is free for {} could not be read; see to it that "
                                    "the run may write {}",
                                    store, SizeText(StoreSizeOf(scenario, dry).all()))});
  }
  if (scenario.fleet.local == 0) return findings;
  if (room.ports) {
    findings.push_back(PortFinding(dry, *room.ports));
  } else {
    findings.push_back({FindingLevel::kWarning,
                        "ports: this machine does not say how many it has; see to "
                        "net.ipv4.ip_local_port_range"});
  }
  return findings;
}

}  // namespace plimsoll
