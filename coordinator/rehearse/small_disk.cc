#include "coordinator/rehearse/small_disk.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace plimsoll::rehearse {
namespace {

int CannotHave(const char* what) {
  std::fprintf(stderr, "%s%s: %s\n", kNoSmallDiskWords, what, std::strerror(errno));
  return kNoSmallDisk;
}

bool WriteTo(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  ::close(fd);
  errno = error;
  return whole;
}

}  // namespace

int RunOnSmallDisk(const std::string& folder, int megabytes, const std::vector<std::string>& argv) {
  if (argv.empty()) return CannotHave("no program");
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return CannotHave("user and mount namespace");
  // Ours alone becomes root in there, for the mount.
  if (!WriteTo("/proc/self/setgroups", "deny") && errno != ENOENT) return CannotHave("setgroups");
  if (!WriteTo("/proc/self/uid_map", fmt::format("0 {} 1", user))) return CannotHave("uid_map");
  if (!WriteTo("/proc/self/gid_map", fmt::format("0 {} 1", group))) return CannotHave("gid_map");
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return CannotHave("private mounts");
  }
  const std::string size = fmt::format("size={}m", megabytes);
  if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, size.c_str()) != 0) {
    return CannotHave("tmpfs");
  }
  // A change of rights forgets it: whoever started us must not be outlived.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  return CannotHave(words[0]);
}

Status FillDiskOf(int pid, const std::string& folder) {
  const std::string path = fmt::format("/proc/{}/root{}/filler", pid, folder);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return absl::UnavailableError(fmt::format("{}: {}", path, std::strerror(errno)));
  // Smaller and smaller pieces, until not a byte more fits. The disk is a few megabytes.
  std::string piece(64 * 1024, 'x');
  while (!piece.empty()) {
    const ssize_t n = ::write(fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) continue;
    if (errno != ENOSPC) break;
    piece.resize(piece.size() / 2);
  }
  const bool full = errno == ENOSPC;
  const std::string why = std::strerror(errno);
  ::close(fd);
  return full ? absl::OkStatus() : absl::UnavailableError(fmt::format("{}: {}", path, why));
}

}  // namespace plimsoll::rehearse
