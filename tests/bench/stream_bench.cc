// Event stream and chunk decoding, by the shape of the chunk and how reads cut it, and the text of
// prompts. Baselines: the least that a reader of lines can do (find the line ends of the same
// bytes), and a copy.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "common/chat/answer_reader.h"
#include "common/chat/prompt_text.h"

namespace plimsoll {
namespace {

constexpr int kChunks = 400;  // Of an answer.

std::string OpenAi(int i) {
  return fmt::format(
      "data: "
      "{{\"id\":\"chatcmpl-D40iAsmALcEVphcL\",\"object\":\"chat.completion.chunk\",\"created\":"
      "1796000938,\"model\":\"gpt-4o-2026-08-06\",\"service_tier\":\"default\",\"system_"
      "fingerprint\":"
      "\"fp_07871e2ad8\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" "
      "word{}\"}},\"logprobs\":"
      "null,\"finish_reason\":null}}],\"usage\":null,\"obfuscation\":\"Kq3vXw0\"}}\n\n",
      i);
}
std::string Vllm(int i) {
  return fmt::format(
      "data: "
      "{{\"id\":\"chatcmpl-5f2c9a1e77d84b0a\",\"object\":\"chat.completion.chunk\",\"created\":"
      "1767225600,\"model\":\"glm-5.3\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" "
      "word{}\"}},"
      "\"logprobs\":null,\"finish_reason\":null,\"token_ids\":null}}]}}\n\n",
      i);
}
std::string Reasoning(int i) {
  return fmt::format(
      "data: "
      "{{\"id\":\"chatcmpl-5f2c9a1e77d84b0a\",\"object\":\"chat.completion.chunk\",\"created\":"
      "1767225600,\"model\":\"glm-5.3\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":null,"
      "\"reasoning_content\":\" step {}\"}},\"logprobs\":null,\"finish_reason\":null}}],\"usage\":"
      "{{\"prompt_tokens\":70123,\"total_tokens\":70223,\"completion_tokens\":{}}}}}\n\n",
      i, i);
}
std::string Tool(int i) {
  return fmt::format(
      "data: "
      "{{\"id\":\"chatcmpl-5f2c9a1e77d84b0a\",\"object\":\"chat.completion.chunk\",\"created\":"
      "1767225600,\"model\":\"glm-5.3\",\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{"
      "\"index\":0,\"function\":{{\"arguments\":\"\\\"path{}\\\"\"}}}}]}},\"logprobs\":null,"
      "\"finish_reason\":null}}]}}\n\n",
      i);
}

using Maker = std::string (*)(int);

// The answer's bytes in reads: one event each, or as many as fill `read` bytes.
std::vector<std::string> Reads(Maker make, std::size_t read) {
  std::vector<std::string> reads;
  std::string all;
  for (int i = 0; i < kChunks; ++i) {
    if (read == 0) reads.push_back(make(i));
    all += make(i);
  }
  for (std::size_t at = 0; read > 0 && at < all.size(); at += read) {
    reads.push_back(all.substr(at, read));
  }
  return reads;
}

void Decode(benchmark::State& state, Maker make, std::size_t read) {
  const std::vector<std::string> reads = Reads(make, read);
  AnswerReader reader;
  for (auto _ : state) {
    reader.Begin(BodyKind::kEvents);
    for (const std::string& bytes : reads) reader.Read(bytes, MonoTime{});
    CallResult result;
    reader.Fill(&result);
    if (result.chunks != kChunks || reader.failed()) state.SkipWithError("misread");
  }
  state.SetItemsProcessed(state.iterations() * kChunks);
}

void FindLines(benchmark::State& state, Maker make, std::size_t read) {
  const std::vector<std::string> reads = Reads(make, read);
  for (auto _ : state) {
    std::size_t lines = 0;
    for (const std::string& bytes : reads) {
      const char* at = bytes.data();
      const char* end = at + bytes.size();
      while ((at = static_cast<const char*>(
                  std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr) {
        ++at;
        ++lines;
      }
    }
    benchmark::DoNotOptimize(lines);
    if (lines != 2 * kChunks) state.SkipWithError("misread");
  }
  state.SetItemsProcessed(state.iterations() * kChunks);
}

void Add(const std::string& name, Maker make, std::size_t read) {
  benchmark::RegisterBenchmark(name.c_str(), Decode, make, read);
  benchmark::RegisterBenchmark((name + "/baseline").c_str(), FindLines, make, read);
}

const bool kAdded = [] {
  Add("chunk_openai", OpenAi, 0);
  Add("chunk_vllm", Vllm, 0);
  Add("chunk_reasoning_usage", Reasoning, 0);
  Add("chunk_tool_call", Tool, 0);
  Add("chunk_vllm_16k_reads", Vllm, 16 * 1024);
  Add("chunk_vllm_100b_reads", Vllm, 100);
  return true;
}();

constexpr std::size_t kText = 64 * 1024;  // A piece, as the transport asks for it.

Prompt Line() {
  Prompt prompt;
  prompt.tokens = 60'000;
  prompt.spans = {{1, 0, 200}, {2, 0, 300}, {3, 0, 438}};
  return prompt;
}

// An item is a kilobyte, so 1 GB/s is 1,024 ns.
void PromptText(benchmark::State& state) {
  const Prompt prompt = Line();
  const std::size_t size = std::size_t{938} * limits::kBlockBytes;
  std::vector<char> piece(kText);
  for (auto _ : state) {
    PromptReader reader(prompt);
    for (std::size_t at = 0; at < size; at += kText) {
      reader.Read(at, piece.data(), std::min(kText, size - at));
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size / 1024));
}
BENCHMARK(PromptText)->Name("prompt_text_kilobyte");

void CopyText(benchmark::State& state) {
  const std::size_t size = std::size_t{938} * limits::kBlockBytes;
  const std::vector<char> text(size, 'x');
  std::vector<char> piece(kText);
  for (auto _ : state) {
    for (std::size_t at = 0; at < size; at += kText) {
      std::memcpy(piece.data(), text.data() + at, std::min(kText, size - at));
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size / 1024));
}
BENCHMARK(CopyText)->Name("prompt_text_kilobyte/baseline");

}  // namespace
}  // namespace plimsoll
