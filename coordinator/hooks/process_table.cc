#include "coordinator/hooks/process_table.h"

#include <charconv>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coordinator/hooks/durable_file.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

// Environments may hold megabytes; the kernel's own bound on one string is 128 KiB.
constexpr std::size_t kEnvironBytesMax = std::size_t{8} << 20;
constexpr std::size_t kStatBytesMax = std::size_t{4} << 10;

std::optional<int> NumberOf(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

bool HoldsFile(int pid, dev_t device, ino_t inode) {
  std::error_code error;
  fs::directory_iterator at(fmt::format("/proc/{}/fd", pid), error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    struct stat info {};
    if (::stat(at->path().c_str(), &info) == 0 && info.st_dev == device && info.st_ino == inode) {
      return true;
    }
  }
  return false;
}

bool HasToken(int pid, const std::string& token) {
  const auto environ = ReadFileWhole(fmt::format("/proc/{}/environ", pid), kEnvironBytesMax);
  if (!environ.ok()) return false;
  const std::string entry = fmt::format("{}={}", kHookTokenName, token) + '\0';
  const std::size_t at = environ->find(entry);
  return at != std::string::npos && (at == 0 || (*environ)[at - 1] == '\0');
}

class TrailReader {
 public:
  explicit TrailReader(const HookTrail& trail) : trail_(trail) {
    has_lock_ = ::stat(trail.lock_path.c_str(), &lock_) == 0;
  }
  // A dead one that was not yet reaped has neither files nor environment.
  bool Leads(int pid) const {
    if (has_lock_ && HoldsFile(pid, lock_.st_dev, lock_.st_ino)) return true;
    return !trail_.token.empty() && HasToken(pid, trail_.token);
  }

 private:
  const HookTrail& trail_;
  struct stat lock_ {};
  bool has_lock_ = false;
};

}  // namespace

std::string ThisPlace() {
  const auto boot = ReadFileWhole("/proc/sys/kernel/random/boot_id", kStatBytesMax);
  std::error_code error;
  const std::string view = fs::read_symlink("/proc/self/ns/pid", error).string();
  if (!boot.ok() || error) return {};
  return boot->substr(0, boot->find('\n')) + " " + view;
}

ProcessMark MarkOf(int pid) {
  const auto stat = ReadFileWhole(fmt::format("/proc/{}/stat", pid), kStatBytesMax);
  if (pid <= 0 || !stat.ok()) return {};
  // The name of the program is in parentheses and may hold anything; field 3 follows the last one.
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(stat->substr(name_end + 1));
  std::string skipped;
  fields >> skipped;
  if (skipped == "Z" || skipped == "X") return {};
  for (int field = 4; field < 22; ++field) fields >> skipped;
  std::uint64_t start = 0;
  if (!(fields >> start)) return {};
  return {.pid = pid, .start_ticks = start, .place = ThisPlace()};
}

bool Lives(const ProcessMark& mark) {
  return mark.pid > 0 && MarkOf(mark.pid) == mark;
}

std::vector<int> ProcessesOn(const HookTrail& trail) {
  const TrailReader reader(trail);
  std::vector<int> found;
  std::error_code error;
  fs::directory_iterator at("/proc", error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::optional<int> pid = NumberOf(at->path().filename().string());
    if (pid && *pid != ::getpid() && reader.Leads(*pid)) found.push_back(*pid);
  }
  return found;
}

void SignalProcesses(const HookTrail& trail, const std::vector<int>& pids, int signal) {
  const TrailReader reader(trail);
  for (const int pid : pids) {
    // Looked at again behind the descriptor, which stands for one process whatever its number does.
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (pidfd < 0) continue;
    if (reader.Leads(pid)) ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0);
    ::close(pidfd);
  }
}

}  // namespace plimsoll
