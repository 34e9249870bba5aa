// What the machine did meanwhile: processor time of a process, steal, memory. And the figures'
// shape: a window of time in which a process was watched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tests/bench/agent/shared.h"

namespace plimsoll::bench {

// A process of this program in another role, or of another program; ended and awaited when it goes.
class Child {
 public:
  Child() = default;
  explicit Child(const std::vector<std::string>& command);
  Child(Child&& other) noexcept : pid_(other.pid_) { other.pid_ = -1; }
  Child& operator=(Child&& other) noexcept;
  ~Child();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

// Memory that children map too: they are told its descriptor.
struct SharedMemory {
  SharedMemory();
  static Shared* Map(int fd);
  int fd = -1;
  Shared* shared = nullptr;
};

// All threads of the process, user and system.
std::int64_t CpuNanos(pid_t pid);
// Anonymous memory: heap and stacks, neither programs nor sockets. Kibibytes.
std::uint64_t AnonymousKib(pid_t pid);

struct Window {
  double seconds = 0;
  double steal = 0;    // Shares of the machine's time.
  double foreign = 0;  // Busy with neither of the watched processes.
  std::int64_t cpu_ns = 0;
  std::uint64_t chunks = 0;
  double NanosAChunk() const {
    return static_cast<double>(cpu_ns) / static_cast<double>(chunks > 0 ? chunks : 1);
  }
};

// Began when made; End() closes it.
class Watch {
 public:
  Watch(pid_t watched, std::vector<pid_t> others, const Shared& shared);
  Window End() const;

 private:
  struct Jiffies {
    double all = 0;
    double idle = 0;
    double steal = 0;
  };
  static Jiffies ReadJiffies();
  std::int64_t OthersNanos() const;

  pid_t watched_;
  std::vector<pid_t> others_;
  const Shared& shared_;
  std::int64_t began_ns_;
  std::int64_t cpu_ns_;
  std::int64_t others_ns_;
  std::uint64_t chunks_;
  Jiffies jiffies_;
};

constexpr double kStealMax = 0.02;

}  // namespace plimsoll::bench
