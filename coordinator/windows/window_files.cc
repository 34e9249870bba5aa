#include "coordinator/windows/window_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

constexpr char kWindowEnding[] = ".window";
constexpr char kStateEnding[] = ".state";
constexpr char kLockName[] = "lock";
constexpr std::size_t kBytesMax = std::size_t{256} << 10;

Status FileError(const std::string& path, const char* what) {
  const int error = errno;
  const std::string text = fmt::format("{}: cannot {} it: {}", path, what, std::strerror(error));
  return error == ENOSPC || error == EDQUOT ? absl::ResourceExhaustedError(text)
                                            : absl::FailedPreconditionError(text);
}

StatusOr<std::string> ReadSmall(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(path + ": cannot be read");
  std::string bytes(kBytesMax + 1, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (bytes.size() > kBytesMax) return absl::DataLossError(path + ": is far too large");
  return bytes;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The rename is durable once the folder is.
void SyncFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

Status WriteDurably(const std::string& folder, const std::string& path, std::string_view bytes) {
  std::string aside = path + ".XXXXXX";
  const int fd = ::mkostemp(aside.data(), O_CLOEXEC);
  if (fd < 0) return FileError(path, "create");
  const bool fine = WriteAll(fd, bytes) && ::fsync(fd) == 0 && ::fchmod(fd, 0644) == 0;
  Status status = fine ? absl::OkStatus() : FileError(path, "write");
  ::close(fd);
  if (fine && std::rename(aside.c_str(), path.c_str()) != 0) status = FileError(path, "write");
  if (!status.ok()) {
    ::unlink(aside.c_str());
    return status;
  }
  SyncFolder(folder);
  return status;
}

}  // namespace

WindowFiles::WindowFiles(const std::string& store_folder)
    : folder_((fs::path(store_folder) / "windows").string()) {}

std::string WindowFiles::PathOf(const std::string& id, const char* ending) const {
  return (fs::path(folder_) / (id + ending)).string();
}

std::string WindowFiles::LogPath(const std::string& id, std::uint64_t run) const {
  return PathOf(fmt::format("{}-{}", id, run), ".log");
}

WindowFiles::Listing WindowFiles::List() const {
  Listing listing;
  std::vector<std::string> ids;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.ends_with(kWindowEnding)) continue;
    ids.push_back(name.substr(0, name.size() - std::strlen(kWindowEnding)));
  }
  std::sort(ids.begin(), ids.end());
  if (ids.size() > kWindowsMax) ids.resize(kWindowsMax);
  for (const std::string& id : ids) {
    const std::string path = PathOf(id, kWindowEnding);
    const auto bytes = ReadSmall(path);
    if (absl::IsNotFound(bytes.status())) continue;  // Cancelled meanwhile.
    auto entry = bytes.ok() ? DecodeWindow(id, *bytes) : StatusOr<WindowEntry>(bytes.status());
    WindowState state;
    Status status = entry.status();
    if (const auto kept = ReadSmall(PathOf(id, kStateEnding)); status.ok() && kept.ok()) {
      auto decoded = DecodeWindowState(*kept);
      status = decoded.status();
      if (decoded.ok()) state = *std::move(decoded);
    }
    if (!status.ok()) {
      listing.unusable.push_back(fmt::format("{}: {}; cancel the window and add it anew",
                                             Printable(path), MessageOf(status)));
      continue;
    }
    listing.windows.push_back({*std::move(entry), std::move(state)});
  }
  return listing;
}

Status WindowFiles::Add(const WindowEntry& entry) {
  if (!IsWindowId(entry.id)) return absl::InvalidArgumentError("a window has no such id");
  RETURN_IF_ERROR(CheckWindow(entry.spec));
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    return absl::FailedPreconditionError(
        fmt::format("{}: cannot be created: {}", folder_, error.message()));
  }
  const Listing listing = List();
  if (listing.windows.size() + listing.unusable.size() >= kWindowsMax) {
    return absl::ResourceExhaustedError(
        fmt::format("the queue has {} windows; cancel some that are over", kWindowsMax));
  }
  const std::string path = PathOf(entry.id, kWindowEnding);
  if (fs::exists(path, error)) {
    return absl::AlreadyExistsError(fmt::format("there is a window {} already", entry.id));
  }
  ::unlink(PathOf(entry.id, kStateEnding).c_str());  // Of one that was cancelled.
  return WriteDurably(folder_, path, EncodeWindow(entry));
}

Status WindowFiles::Cancel(const std::string& id) {
  if (!IsWindowId(id)) return absl::NotFoundError("there is no such window");
  const std::string path = PathOf(id, kWindowEnding);
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return absl::NotFoundError(fmt::format("there is no window {}", id));
    return FileError(path, "remove");
  }
  ::unlink(PathOf(id, kStateEnding).c_str());
  SyncFolder(folder_);
  return absl::OkStatus();
}

Status WindowFiles::PutState(const std::string& id, const WindowState& state) {
  std::error_code error;
  // Not of one that is cancelled: its state would lie about for good.
  if (!fs::exists(PathOf(id, kWindowEnding), error)) return absl::OkStatus();
  return WriteDurably(folder_, PathOf(id, kStateEnding), EncodeWindowState(state));
}

WindowFiles::Lock::Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

WindowFiles::Lock::~Lock() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<WindowFiles::Lock> WindowFiles::TryLock() const {
  std::error_code error;
  if (!fs::is_directory(folder_, error)) return std::nullopt;
  const int fd =
      ::open((fs::path(folder_) / kLockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return std::nullopt;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return Lock(fd);
  ::close(fd);
  return std::nullopt;
}

bool WindowFiles::Locked() const {
  const int fd = ::open((fs::path(folder_) / kLockName).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool locked = ::flock(fd, LOCK_SH | LOCK_NB) != 0;
  ::close(fd);
  return locked;
}

bool StoreIsHeld(const std::string& store_folder) {
  const int fd = ::open((fs::path(store_folder) / "LOCK").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool held = ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(fd);
  return held;
}

}  // namespace plimsoll
