#include "agent/uplink/dial_failure.h"

namespace plimsoll {

std::string DialFailure(std::string_view text) {
  const std::size_t last = text.rfind(": ");
  if (last == std::string_view::npos || last + 2 == text.size()) return std::string(text);
  return std::string(text.substr(last + 2));
}

}  // namespace plimsoll
