// What preflight says of a deployment that no connection could be made to: what is wrong, and which
// key of the scenario may set it right.
#pragma once

#include <string_view>

#include "common/http/transport.h"

namespace plimsoll {

struct UnreachableText {
  std::string_view what;   // "the gateway cannot be reached".
  std::string_view to_do;  // "check target.url and that it is up".
};

UnreachableText UnreachableWords(TlsTrouble tls);

}  // namespace plimsoll
