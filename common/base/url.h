// The little of a URL that is decided on before a library sees it. Pure.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll {

// The host of an http or https URL: lower case, without user, port and the brackets of an IPv6
// address. Empty if there is none.
std::string HostOfUrl(std::string_view url);

}  // namespace plimsoll
