// A request's body generated while it is uploaded, against a copy of as many bytes. An item is one
// kilobyte.
#include <algorithm>
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

#include "common/chat/chat_body.h"

namespace plimsoll {
namespace {

constexpr std::size_t kPiece = 64 * 1024;  // What the transport asks for at a time.

// 60,000 tokens in a growing conversation of 40 messages.
Prompt LongPrompt() {
  Prompt prompt;
  prompt.tokens = 60'000;
  prompt.spans = {{1, 0, 200}, {2, 0, 300}, {3, 0, 438}};
  for (std::uint32_t at = 0; at < prompt.tokens; at += 1500) {
    prompt.messages.push_back({at % 3000 == 0 ? Role::kUser : Role::kAssistant, at, at + 1500});
  }
  return prompt;
}

void Generate(benchmark::State& state) {
  const Prompt prompt = LongPrompt();
  std::vector<char> piece(kPiece);
  std::int64_t bytes = 0;
  for (auto _ : state) {
    ChatBody body(prompt, {.model = "glm-5.3", .max_tokens = 400});
    while (const std::size_t n = body.Read(piece.data(), piece.size())) {
      bytes += static_cast<std::int64_t>(n);
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(bytes / 1024);
}
BENCHMARK(Generate)->Name("chat_body_kilobyte");

void Copy(benchmark::State& state) {
  const Prompt prompt = LongPrompt();
  const std::uint64_t size = ChatBody(prompt, {.model = "glm-5.3", .max_tokens = 400}).size();
  const std::vector<char> text(size, 'x');
  std::vector<char> piece(kPiece);
  for (auto _ : state) {
    for (std::size_t at = 0; at < size; at += kPiece) {
      std::memcpy(piece.data(), text.data() + at, std::min(kPiece, size - at));
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size) / 1024);
}
BENCHMARK(Copy)->Name("chat_body_kilobyte/baseline");

}  // namespace
}  // namespace plimsoll
