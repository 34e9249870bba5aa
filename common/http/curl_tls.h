// What curl's failure says of an encrypted connection that did not come to be. Internal to
// common/http.
#pragma once

#include <string_view>

#include "common/http/transport.h"

namespace plimsoll {

// `code` is a CURLcode, `host` begins with the scheme, `text` is curl's error buffer: OpenSSL's
// alerts have no codes of their own there. `fresh`: the connection was opened for this request.
// Only for transfers without an answer. kNone for http, and for what is no matter of TLS.
TlsTrouble TlsTroubleOf(int code, std::string_view host, std::string_view text, bool fresh);

}  // namespace plimsoll
