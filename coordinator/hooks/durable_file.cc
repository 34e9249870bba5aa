#include "coordinator/hooks/durable_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plimsoll {
namespace {

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Status Failed(std::string_view doing, const std::string& path) {
  const std::string text = fmt::format("{} {}: {}", doing, path, std::strerror(errno));
  return errno == ENOSPC ? absl::ResourceExhaustedError(text) : absl::InternalError(text);
}

Status SyncFolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Fd fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) return Failed("sync the folder of", path);
  return absl::OkStatus();
}

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return absl::OkStatus();
}

Status WriteBeside(const std::string& beside, std::string_view bytes) {
  const Fd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd.get() < 0) return Failed("write", beside);
  RETURN_IF_ERROR(WriteAll(fd.get(), bytes, beside));
  return ::fsync(fd.get()) == 0 ? absl::OkStatus() : Failed("sync", beside);
}

}  // namespace

Status WriteDurably(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".new";
  Status status = WriteBeside(beside, bytes);
  if (status.ok() && ::rename(beside.c_str(), path.c_str()) != 0) status = Failed("write", path);
  if (!status.ok()) {
    ::unlink(beside.c_str());
    return status;
  }
  return SyncFolderOf(path);
}

Status RemoveDurably(const std::string& path) {
  if (::unlink(path.c_str()) != 0) {
    return errno == ENOENT ? absl::OkStatus() : Failed("remove", path);
  }
  return SyncFolderOf(path);
}

StatusOr<std::string> ReadFileWhole(const std::string& path, std::size_t bytes_max) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ESRCH) {
      return absl::NotFoundError(fmt::format("there is no {}", path));
    }
    return Failed("read", path);
  }
  std::string bytes;
  char piece[16384];
  while (true) {
    const ssize_t n = ::read(fd.get(), piece, sizeof(piece));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      if (errno == ESRCH) return absl::NotFoundError(fmt::format("there is no {}", path));
      return Failed("read", path);
    }
    if (n == 0) return bytes;
    bytes.append(piece, static_cast<std::size_t>(n));
    if (bytes.size() > bytes_max) {
      return absl::ResourceExhaustedError(
          fmt::format("{} is larger than {} bytes", path, bytes_max));
    }
  }
}

FileTail ReadTail(const std::string& path, std::size_t bytes_max) {
  FileTail tail;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0 || info.st_size <= 0) return tail;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const std::uint64_t kept = std::min<std::uint64_t>(size, bytes_max);
  tail.cut_bytes = size - kept;
  tail.bytes.resize(kept);
  std::size_t got = 0;
  while (got < kept) {
    const ssize_t n = ::pread(fd.get(), tail.bytes.data() + got, kept - got,
                              static_cast<off_t>(tail.cut_bytes + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  tail.bytes.resize(got);
  return tail;
}

void AppendLine(const std::string& path, std::string_view line) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const std::string text = std::string(line) + "\n";
  if (fd.get() >= 0) (void)WriteAll(fd.get(), text, path);
}

void BoundFile(const std::string& path, std::uint64_t bytes_max, std::uint64_t keep) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || info.st_size <= 0) return;
  // Blocks, not the size: what was given back still counts in that.
  if (static_cast<std::uint64_t>(info.st_blocks) * 512 <= bytes_max) return;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size <= keep) return;
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) return;
  (void)::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                    static_cast<off_t>(size - keep));
}

}  // namespace plimsoll
