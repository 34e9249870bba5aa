#include "tests/bench/agent/machine.h"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace plimsoll::bench {
namespace {

std::int64_t Nanos(clockid_t clock) {
  timespec t{};
  if (clock_gettime(clock, &t) != 0) return 0;
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

Child::Child(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (posix_spawn(&pid_, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    fmt::print(stderr, "cannot start {}\n", command[0]);
    std::exit(1);
  }
}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

Child::~Child() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

SharedMemory::SharedMemory() {
  fd = memfd_create("bench", 0);
  if (fd < 0 || ftruncate(fd, sizeof(Shared)) != 0) std::exit(1);
  shared = Map(fd);
  new (shared) Shared;
}

Shared* SharedMemory::Map(int fd) {
  void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) std::exit(1);
  return static_cast<Shared*>(at);
}

std::int64_t CpuNanos(pid_t pid) {
  clockid_t clock{};
  return clock_getcpuclockid(pid, &clock) == 0 ? Nanos(clock) : 0;
}

std::uint64_t AnonymousKib(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", pid));
  std::string word;
  std::uint64_t kib = 0;
  while (file >> word) {
    if (word == "Anonymous:" && file >> kib) return kib;
  }
  return 0;
}

Watch::Watch(pid_t watched, std::vector<pid_t> others, const Shared& shared)
    : watched_(watched),
      others_(std::move(others)),
      shared_(shared),
      began_ns_(Nanos(CLOCK_MONOTONIC)),
      cpu_ns_(CpuNanos(watched)),
      others_ns_(OthersNanos()),
      chunks_(shared.chunks),
      jiffies_(ReadJiffies()) {}

std::int64_t Watch::OthersNanos() const {
  std::int64_t sum = 0;
  for (const pid_t pid : others_) sum += CpuNanos(pid);
  return sum;
}

Watch::Jiffies Watch::ReadJiffies() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  Jiffies jiffies;
  double value = 0;
  for (int field = 0; field < 8 && file >> value; ++field) {
    jiffies.all += value;
    if (field == 3 || field == 4) jiffies.idle += value;  // Idle, waiting for disks.
    if (field == 7) jiffies.steal += value;
  }
  return jiffies;
}

Window Watch::End() const {
  const Jiffies now = ReadJiffies();
  const std::int64_t elapsed = Nanos(CLOCK_MONOTONIC) - began_ns_;
  Window window;
  window.seconds = static_cast<double>(elapsed) / 1e9;
  window.cpu_ns = CpuNanos(watched_) - cpu_ns_;
  window.chunks = shared_.chunks - chunks_;
  const double all = now.all - jiffies_.all;
  if (all <= 0) return window;
  window.steal = (now.steal - jiffies_.steal) / all;
  const double cores = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const double ours = static_cast<double>(window.cpu_ns + OthersNanos() - others_ns_) /
                      (static_cast<double>(elapsed) * cores);
  window.foreign = std::max(0.0, 1 - (now.idle - jiffies_.idle) / all - window.steal - ours);
  return window;
}

}  // namespace plimsoll::bench
