#include "common/base/line_splitter.h"

#include <algorithm>
#include <utility>

namespace plimsoll {

std::vector<std::string> LineSplitter::Add(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t room = kLineBytesMax - rest_.size();
    const std::size_t end = bytes.find('\n');
    const std::size_t take = std::min({room, end, bytes.size()});
    rest_ += bytes.substr(0, take);
    bytes.remove_prefix(take);
    const bool ends = !bytes.empty() && bytes.front() == '\n';
    if (ends) {
      bytes.remove_prefix(1);
      if (!rest_.empty() && rest_.back() == '\r') rest_.pop_back();
    } else if (bytes.empty() && rest_.size() < kLineBytesMax) {
      break;
    }
    lines.push_back(TakeRest());
  }
  return lines;
}

std::string LineSplitter::TakeRest() {
  return std::exchange(rest_, {});
}

}  // namespace plimsoll
