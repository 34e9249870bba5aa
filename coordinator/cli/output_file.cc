#include "coordinator/cli/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plimsoll {

OutputFile::OutputFile(std::string path, std::string temporary, int fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(fmt::format("{}: is a folder; name a file in it", path));
  }
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) {
    return absl::InvalidArgumentError(
        fmt::format("{}: cannot create it: {}; name a file in a folder that is there and may be "
                    "written to",
                    path, std::strerror(errno)));
  }
  return OutputFile(path, std::move(temporary), fd);
}

OutputFile OutputFile::StandardOutput() {
  return OutputFile("standard output", "", STDOUT_FILENO);
}

OutputFile::~OutputFile() {
  if (temporary_.empty()) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

Status OutputFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return absl::CancelledError("the reader has gone");
    if (written < 0) {
      return absl::InternalError(
          fmt::format("{}: cannot write it: {}", path_, std::strerror(errno)));
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

Status OutputFile::Finish() {
  if (temporary_.empty()) return absl::OkStatus();
  const std::string temporary = std::exchange(temporary_, {});
  bool fine = ::fchmod(fd_, 0644) == 0 && ::fsync(fd_) == 0;
  int error = errno;
  if (::close(std::exchange(fd_, -1)) != 0 && fine) {
    fine = false;
    error = errno;
  }
  if (fine && std::rename(temporary.c_str(), path_.c_str()) != 0) {
    fine = false;
    error = errno;
  }
  if (fine) return absl::OkStatus();
  ::unlink(temporary.c_str());
  return absl::InternalError(fmt::format("{}: cannot write it: {}", path_, std::strerror(error)));
}

}  // namespace plimsoll
