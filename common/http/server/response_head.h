// The head of an answer as bytes. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/http/server/http_server.h"

namespace plimsoll {

enum class BodyFraming : std::uint8_t { kLength, kChunked, kUntilClose };

struct ResponseHead {
  int status = 200;
  BodyFraming framing = BodyFraming::kLength;
  std::size_t length = 0;  // With kLength.
  bool close = false;      // "Connection: close".
};

// Control characters in header names or values are dropped, so none can split the answer.
std::string FormatHead(const ResponseHead& head, const HttpHeaders& headers);

}  // namespace plimsoll
