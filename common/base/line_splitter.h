// Bytes as they come to whole lines, in bounded memory. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

class LineSplitter {
 public:
  // A line that is longer comes in pieces of this length.
  static constexpr std::size_t kLineBytesMax = 4096;

  // The lines that `bytes` complete, without their ends (LF, or CR LF).
  std::vector<std::string> Add(std::string_view bytes);
  // What came after the last line's end; then begins anew.
  std::string TakeRest();

 private:
  std::string rest_;  // At most kLineBytesMax.
};

}  // namespace plimsoll
