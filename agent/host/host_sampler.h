// HostSampler: what this process and its machine do, read from /proc and the control groups, as
// the HostLoad of a measured time. What the system does not say stays absent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/host_readings.h"
#include "common/base/time.h"
#include "common/record/host_load.h"

namespace plimsoll {

// Where to look, and what no file says.
struct HostView {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
  double cores = 0;                     // By affinity; 0: not known.
  std::uint64_t descriptors_limit = 0;  // 0: not known.
  std::int64_t ticks_per_s = 0;         // Of times in /proc; 0: not known.
  std::int64_t loop_thread = 0;         // The thread that has a measure of its own.
};
// Of this process; the calling thread is the loop's.
HostView ThisHost();

class HostSampler {
 public:
  // Reads some twenty small files at Reset() and Load(), and a file a thread at each Look().
  explicit HostSampler(HostView view);

  // A measured time begins.
  void Reset(MonoTime now);
  // About once a second. Shares are of the time since the look before; under half a second since
  // then nothing is looked at.
  void Look(MonoTime now);
  // Of the time since Reset(). Without a whole second in it, its worst second is the time so far.
  HostLoad Load(MonoTime now);

 private:
  struct Cpu {
    std::optional<std::uint64_t> process_ticks;
    std::map<std::int64_t, std::uint64_t> thread_ticks;
  };
  struct Group {
    std::string folder;
    std::optional<Throttling> before;
  };

  Cpu ReadCpu() const;
  void LookAtCpu(MonoTime now);
  void LookAtSockets();
  void CountDescriptors(bool by_listing);
  std::optional<CpuQuota> QuotaOf(const std::string& folder) const;
  std::optional<std::int64_t> Throttled() const;
  std::optional<std::int64_t> Stolen(Duration over) const;
  std::optional<double> Cores() const;

  const HostView view_;
  std::vector<Group> groups_;
  HostLoad load_;  // Since Reset(), as far as it was looked at.
  MonoTime begun_{};
  MonoTime looked_{};
  Cpu cpu_before_;
  std::optional<MachineTicks> machine_before_;
};

}  // namespace plimsoll
