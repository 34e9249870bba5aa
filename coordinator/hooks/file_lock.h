// A lock that the kernel keeps: held as long as any process has the descriptor open that took it,
// or a copy that it inherited, and not an instant longer, whoever is killed how. Open file
// description locks: whether one is held can be seen without taking it.
#pragma once

#include <string>
#include <utility>

#include "common/base/status.h"

namespace plimsoll {

class FileLock {
 public:
  FileLock() = default;  // Of nothing.
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  // Closes our descriptor; copies that children inherited hold on.
  ~FileLock() { Close(); }

  // Makes the file if it is not there. Unavailable: somebody else holds it. The descriptor is
  // closed at exec and has a high number, out of the way of scripts, which use the low ones.
  static StatusOr<FileLock> Take(const std::string& path);
  // Whether anybody holds it. False if there is no such file.
  static StatusOr<bool> Held(const std::string& path);

  int fd() const { return fd_; }  // -1: of nothing.
  void Close();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace plimsoll
