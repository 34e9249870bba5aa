// An answer read chunk by chunk (event stream, JSON, accounting) against a copy of its bytes.
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "common/chat/answer_reader.h"

namespace plimsoll {
namespace {

constexpr int kChunks = 400;  // Of an answer.

// As vLLM sends it: one token an event, one event a read.
std::vector<std::string> Answer() {
  std::vector<std::string> chunks;
  for (int i = 0; i < kChunks; ++i) {
    chunks.push_back(fmt::format(
        "data: {{\"id\":\"chatcmpl-5f2c9a1e77d84b0a\",\"object\":\"chat.completion.chunk\","
        "\"created\":1767225600,\"model\":\"glm-5.3\",\"choices\":[{{\"index\":0,\"delta\":"
        "{{\"content\":\" word{}\"}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n",
        i));
  }
  return chunks;
}

void Read(benchmark::State& state) {
  const std::vector<std::string> chunks = Answer();
  AnswerReader reader;
  for (auto _ : state) {
    reader.Begin(BodyKind::kEvents);
    for (const std::string& chunk : chunks) reader.Read(chunk, MonoTime{});
    if (!reader.has_token() || reader.failed()) state.SkipWithError("misread");
  }
  state.SetItemsProcessed(state.iterations() * kChunks);
}
BENCHMARK(Read)->Name("answer_chunk");

void Copy(benchmark::State& state) {
  const std::vector<std::string> chunks = Answer();
  std::vector<char> to(1024);
  for (auto _ : state) {
    for (const std::string& chunk : chunks) {
      std::memcpy(to.data(), chunk.data(), chunk.size());
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(state.iterations() * kChunks);
}
BENCHMARK(Copy)->Name("answer_chunk/baseline");

}  // namespace
}  // namespace plimsoll
