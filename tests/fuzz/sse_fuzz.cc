// Fuzz target: an event stream. The first byte chooses how the rest is split; every split must give
// the same events as the whole.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/sse/sse_parser.h"

namespace {

class Recorder : public plimsoll::SseParser::Sink {
 public:
  void OnEvent(const plimsoll::SseEvent& event) override {
    text.append(event.type).append("\x1f").append(event.data).append("\x1e");
  }
  std::string text;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::size_t kMax = 4096;
  Recorder whole;
  plimsoll::SseParser parser(kMax);
  const bool fine = parser.Feed(text, whole) && parser.Finish(whole);
  Recorder split;
  plimsoll::SseParser other(kMax);
  const std::size_t step = 1 + data[0] % 17;
  bool split_fine = true;
  for (std::size_t at = 0; at < text.size(); at += step) {
    split_fine = other.Feed(text.substr(at, step), split);
  }
  split_fine = split_fine && other.Finish(split);
  if (fine != split_fine || whole.text != split.text) std::abort();
  return 0;
}
