#include "agent/host/host_sampler.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace plimsoll {
namespace {

constexpr Duration kLookMin = 500ms;
constexpr Duration kShareOverMin = 50ms;  // Ticks are 10 ms: a share of less would be a guess.

// Empty: it cannot be read. The files are small; /proc/stat is cut after what is read of it.
std::string ReadFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 4096> buffer;
  const ssize_t got = read(file, buffer.data(), buffer.size());
  close(file);
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

// Calls `see` with each name in a folder but "." and "..". False: it cannot be listed.
template <typename See>
bool List(const std::string& folder, const See& see) {
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder.c_str()), closedir);
  if (dir == nullptr) return false;
  while (const dirent* entry = readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") see(name);
  }
  return true;
}

// How many descriptors are open as the size of the folder says it, from Linux 6.2 on.
std::optional<std::uint64_t> FolderSize(const std::string& folder) {
  constexpr auto kProcMagic = 0x9fa0;
  struct statfs system {};
  struct stat size {};
  if (statfs(folder.c_str(), &system) != 0 || system.f_type != kProcMagic) return std::nullopt;
  if (stat(folder.c_str(), &size) != 0 || size.st_size <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(size.st_size);
}

void Raise(std::optional<double>& to, double value) {
  to = std::max(to.value_or(0), value);
}
void Raise(std::optional<std::uint64_t>& to, std::uint64_t value) {
  to = std::max(to.value_or(0), value);
}

}  // namespace

HostView ThisHost() {
  HostView view;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) view.cores = CPU_COUNT(&set);
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    view.descriptors_limit = limit.rlim_cur;
  }
  view.ticks_per_s = std::max(0L, sysconf(_SC_CLK_TCK));
  view.loop_thread = gettid();
  return view;
}

HostSampler::HostSampler(HostView view) : view_(std::move(view)) {
  for (const std::string& folder : CpuGroupFolders(ReadFile(view_.proc + "/self/cgroup"))) {
    const std::string path = view_.cgroup + folder;
    const bool known = std::any_of(groups_.begin(), groups_.end(),
                                   [&](const Group& group) { return group.folder == path; });
    if (!known && !ReadFile(path + "/cpu.stat").empty()) {
      groups_.push_back({.folder = path, .before = std::nullopt});
    }
  }
}

void HostSampler::Reset(MonoTime now) {
  load_ = {};
  begun_ = looked_ = now;
  cpu_before_ = ReadCpu();
  machine_before_ = ReadMachineTicks(ReadFile(view_.proc + "/stat"));
  for (Group& group : groups_) group.before = ReadThrottling(ReadFile(group.folder + "/cpu.stat"));
  LookAtSockets();
  CountDescriptors(false);
}

void HostSampler::Look(MonoTime now) {
  if (now - looked_ < kLookMin) return;
  LookAtCpu(now);
  LookAtSockets();
  CountDescriptors(false);
}

HostLoad HostSampler::Load(MonoTime now) {
  if (!load_.cores_used_max && now - looked_ >= kShareOverMin) LookAtCpu(now);
  LookAtSockets();
  CountDescriptors(true);
  load_.cores = Cores();
  load_.throttled_ns = Throttled();
  load_.stolen_ns = Stolen(now - begun_);
  if (view_.descriptors_limit > 0) load_.descriptors_limit = view_.descriptors_limit;
  load_.ports_limit = ReadPortCount(ReadFile(view_.proc + "/sys/net/ipv4/ip_local_port_range"));
  return load_;
}

HostSampler::Cpu HostSampler::ReadCpu() const {
  Cpu cpu;
  if (view_.ticks_per_s <= 0) return cpu;
  cpu.process_ticks = ReadTaskTicks(ReadFile(view_.proc + "/self/stat"));
  const std::string tasks = view_.proc + "/self/task/";
  List(tasks, [&](std::string_view name) {
    std::int64_t thread = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), thread);
    if (error != std::errc() || end != name.data() + name.size()) return;
    if (thread == view_.loop_thread) return;
    const auto ticks = ReadTaskTicks(ReadFile(tasks + std::string(name) + "/stat"));
    if (ticks) cpu.thread_ticks[thread] = *ticks;
  });
  return cpu;
}

void HostSampler::LookAtCpu(MonoTime now) {
  Cpu cpu = ReadCpu();
  const double ticks = ToSeconds(now - looked_) * static_cast<double>(view_.ticks_per_s);
  if (cpu.process_ticks && cpu_before_.process_ticks &&
      *cpu.process_ticks >= *cpu_before_.process_ticks) {
    Raise(load_.cores_used_max,
          static_cast<double>(*cpu.process_ticks - *cpu_before_.process_ticks) / ticks);
    // Of the same source, so threads are known too, though there may be none but the loop's.
    if (!load_.thread_share_max) load_.thread_share_max = 0;
  }
  for (const auto& [thread, spent] : cpu.thread_ticks) {
    const auto before = cpu_before_.thread_ticks.find(thread);  // None: made since the last look.
    const std::uint64_t from = before == cpu_before_.thread_ticks.end() ? 0 : before->second;
    if (spent >= from) Raise(load_.thread_share_max, static_cast<double>(spent - from) / ticks);
  }
  cpu_before_ = std::move(cpu);
  looked_ = now;
}

void HostSampler::LookAtSockets() {
  const auto sockets = ReadTcpSockets(ReadFile(view_.proc + "/net/sockstat"),
                                      ReadFile(view_.proc + "/net/sockstat6"));
  if (sockets) Raise(load_.ports_max, *sockets);
}

// Listing takes some 3 us a descriptor: not while calls are measured.
void HostSampler::CountDescriptors(bool by_listing) {
  const std::string folder = view_.proc + "/self/fd";
  if (const auto size = FolderSize(folder)) return Raise(load_.descriptors_max, *size);
  if (!by_listing) return;
  std::uint64_t count = 0;
  if (List(folder, [&](std::string_view) { ++count; })) Raise(load_.descriptors_max, count);
}

std::optional<CpuQuota> HostSampler::QuotaOf(const std::string& folder) const {
  const std::string cpu_max = ReadFile(folder + "/cpu.max");
  return cpu_max.empty() ? ReadQuota(ReadFile(folder + "/cpu.cfs_quota_us"),
                                     ReadFile(folder + "/cpu.cfs_period_us"))
                         : ReadQuota(cpu_max);
}

// Each group's time is summed over its processors, so that it may exceed the wall's; the periods in
// which it was throttled bound it as well. A parent's throttling holds its children back, and is
// counted in the parent alone.
std::optional<std::int64_t> HostSampler::Throttled() const {
  std::optional<std::int64_t> longest;
  for (const Group& group : groups_) {
    const auto after = ReadThrottling(ReadFile(group.folder + "/cpu.stat"));
    if (!after || !group.before || after->time_ns < group.before->time_ns ||
        after->periods < group.before->periods) {
      continue;
    }
    std::int64_t time = after->time_ns - group.before->time_ns;
    if (const auto quota = QuotaOf(group.folder)) {
      const double wall = static_cast<double>(after->periods - group.before->periods) *
                          static_cast<double>(quota->period_us) * 1e3;
      if (wall < static_cast<double>(time)) time = static_cast<std::int64_t>(wall);
    }
    longest = std::max(longest.value_or(0), time);
  }
  return longest;
}

std::optional<std::int64_t> HostSampler::Stolen(Duration over) const {
  const auto after = ReadMachineTicks(ReadFile(view_.proc + "/stat"));
  if (!after || !machine_before_ || after->all <= machine_before_->all ||
      after->stolen < machine_before_->stolen) {
    return std::nullopt;
  }
  const double share = static_cast<double>(after->stolen - machine_before_->stolen) /
                       static_cast<double>(after->all - machine_before_->all);
  return FromSeconds(std::min(share, 1.0) * ToSeconds(over)).count();
}

std::optional<double> HostSampler::Cores() const {
  std::optional<double> cores;
  if (view_.cores > 0) cores = view_.cores;
  for (const Group& group : groups_) {
    if (const auto quota = QuotaOf(group.folder)) {
      cores = cores ? std::min(*cores, quota->cores()) : quota->cores();
    }
  }
  return cores;
}

}  // namespace plimsoll
