#include "common/base/url.h"

#include "common/base/text.h"

namespace plimsoll {

std::string HostOfUrl(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  std::string_view authority = url.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  std::string_view host = authority.substr(0, authority.find(':'));
  if (!authority.empty() && authority.front() == '[') {
    host = authority.substr(1, authority.find(']') - 1);
  }
  return LowerAscii(host);
}

}  // namespace plimsoll
