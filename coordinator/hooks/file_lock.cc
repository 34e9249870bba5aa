#include "coordinator/hooks/file_lock.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plimsoll {
namespace {

constexpr int kLowestNumber = 100;
constexpr int kRounds = 16;  // The file may be removed between our opening and our locking it.

Status Failed(const std::string& path) {
  return absl::InternalError(fmt::format("lock {}: {}", path, std::strerror(errno)));
}

struct flock Whole() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

bool IsAt(int fd, const std::string& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

}  // namespace

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void FileLock::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

StatusOr<FileLock> FileLock::Take(const std::string& path) {
  for (int round = 0; round < kRounds; ++round) {
    const int low = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (low < 0) return Failed(path);
    // A machine that allows few descriptors gets the number that there is.
    const int high = ::fcntl(low, F_DUPFD_CLOEXEC, kLowestNumber);
    FileLock lock(high >= 0 ? high : low);
    if (high >= 0) ::close(low);
    struct flock whole = Whole();
    if (::fcntl(lock.fd_, F_OFD_SETLK, &whole) != 0) {
      if (errno != EAGAIN && errno != EACCES) return Failed(path);
      return absl::UnavailableError(fmt::format("{} is held by another process", path));
    }
    if (IsAt(lock.fd_, path)) return lock;
  }
  return absl::UnavailableError(fmt::format("{} is taken away again and again", path));
}

StatusOr<bool> FileLock::Held(const std::string& path) {
  const FileLock look(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (look.fd_ < 0) {
    if (errno == ENOENT) return false;
    return Failed(path);
  }
  struct flock whole = Whole();
  if (::fcntl(look.fd_, F_OFD_GETLK, &whole) != 0) return Failed(path);
  return whole.l_type != F_UNLCK;
}

}  // namespace plimsoll
