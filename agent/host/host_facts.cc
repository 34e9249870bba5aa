#include "agent/host/host_facts.h"

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/host/host_readings.h"

namespace plimsoll {

Hello DescribeHost() {
  Hello hello;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {'h', 'o', 's', 't'};
  hello.name = fmt::format("{}:{}", host.data(), getpid());
  hello.cores = std::thread::hardware_concurrency();
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    hello.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) hello.descriptors_max = limit.rlim_cur;
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  const std::string text{std::istreambuf_iterator<char>(range), {}};
  hello.ports = static_cast<std::uint32_t>(ReadPortCount(text).value_or(0));
  return hello;
}

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace plimsoll
