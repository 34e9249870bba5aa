// One HTTP request and its whole answer, waited for: for commands that ask something and print it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/time.h"
#include "common/http/transport.h"

namespace plimsoll {

struct Fetched {
  bool ended = false;        // The answer came whole, whatever its status says.
  std::uint16_t status = 0;  // 0: no status line came.
  std::string body;
  std::string failed;  // Why it did not end; empty also if nothing came in time.
};

// Waits at most `patience`; an answer of more than `bytes_max` is given up.
Fetched Fetch(HttpRequest request, Duration patience, std::size_t bytes_max);

}  // namespace plimsoll
