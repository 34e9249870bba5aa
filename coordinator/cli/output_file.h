// A file that appears whole, written piece by piece; or standard output, with the same calls.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

class OutputFile {
 public:
  // A file beside `path`, which takes its place at Finish(). InvalidArgument: nothing can be
  // created there.
  static StatusOr<OutputFile> Create(const std::string& path);
  static OutputFile StandardOutput();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Without Finish() nothing is left behind, and what is at `path` is left alone.
  ~OutputFile();

  // Internal, in words. Cancelled: whoever read standard output has gone (SIGPIPE must be ignored).
  Status Write(std::string_view bytes);
  // Syncs, and puts the file in its place.
  Status Finish();

 private:
  OutputFile(std::string path, std::string temporary, int fd);

  std::string path_;
  std::string temporary_;  // Empty: standard output, or finished.
  int fd_ = -1;
};

}  // namespace plimsoll
