// Fuzz target: a connection's bytes as HTTP requests. The first byte chooses how the rest is split;
// every split must give the same requests as the whole. (When a head that is already wrong is
// refused may depend on the split: Beast looks at some parts only once a line is whole.)
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/http/server/request_reader.h"

namespace {

using plimsoll::RequestReader;

// What a server would have seen, as text.
std::string ReadAll(std::string_view bytes, std::size_t piece, std::size_t head_max) {
  constexpr std::size_t kBodyMax = 1024;
  RequestReader reader(head_max, kBodyMax);
  std::string seen;
  std::string pending;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    pending.append(bytes.substr(at, piece));
    while (!pending.empty()) {
      const std::size_t used = reader.Feed(pending);
      if (used > pending.size()) std::abort();
      pending.erase(0, used);
      if (reader.state() == RequestReader::State::kBad) {
        if (reader.bad_status() < 400 || reader.bad_status() > 499) std::abort();
        return seen;
      }
      if (reader.state() == RequestReader::State::kMore) break;
      seen.append(reader.keep_alive() ? "keep " : "close ").append(reader.http_1_1() ? "1" : "0");
      const plimsoll::HttpServerRequest request = reader.Take();
      if (request.body.size() > kBodyMax) std::abort();
      seen.append(request.method).append("\x1f").append(request.target).append("\x1f");
      for (const auto& [name, value] : request.headers) {
        seen.append(name).append("\x1d").append(value).append("\x1f");
      }
      seen.append(request.body).append("\x1e");
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = 1 + data[0] % 29;
  // Near the limit Beast counts a head's bytes a little differently by split: compared without it.
  const std::size_t unlimited = 2 * text.size() + 1024;
  if (ReadAll(text, text.size(), unlimited) != ReadAll(text, piece, unlimited)) std::abort();
  ReadAll(text, piece, 64);
  return 0;
}
