// Fuzz target: chunks of an answer with tool calls. The first byte says whether the cap cut it and
// how it ended, the first line is a schema of the tool "f", each further line a chunk. Without
// tools the verdict must be the one that streaming gives without keeping the text; with them it can
// only become stricter.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "common/evals/tool_faults.h"
#include "common/sse/chat_chunk.h"
#include "tests/fuzz/stream_tool_check.h"

namespace {

using namespace plimsoll;

std::string_view TakeLine(std::string_view* text) {
  const std::size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

// What the agent says of an answer that ended in order: malformed, or not.
bool MalformedByStream(const ToolCallCheck& check, const ToolAnswer& answer) {
  if (!check.any() && !answer.finished_for_calls) return false;
  return !check.valid() && !(answer.cut && !check.broken());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string offered = R"([{"type":"function","function":{"name":"f","parameters":)";
  offered.append(TakeLine(&text)).append("}}]");
  const auto read = ToolSet::Read(offered);
  const ToolSet none = ToolSet::None();
  const ToolSet& tools = read.ok() ? *read : none;

  ToolCallCollector collector;
  ToolCallCheck check;
  check.Begin();
  ChatChunkParser parser;
  ChatChunk chunk;
  while (!text.empty()) {
    parser.Parse(TakeLine(&text), &chunk);
    for (const ToolCallPiece& piece : chunk.tool_calls) {
      collector.Add(piece);
      check.Add(piece);
    }
  }
  ToolAnswer answer{.too_large = collector.too_large(),
                    .finished_for_calls = (data[0] & 3) == 2,
                    .cut = (data[0] & 3) == 1};
  answer.calls = collector.Take();
  const ToolFaultCounts loose = JudgeToolCalls(answer, nullptr);
  const ToolFaultCounts strict = JudgeToolCalls(answer, &tools);
  if (!answer.too_large && (loose.faulty > 0) != MalformedByStream(check, answer)) std::abort();
  if (strict.calls != loose.calls || strict.total() < loose.total() ||
      strict.total() > strict.calls + 1 || strict.answers != loose.answers ||
      strict.faulty != (strict.total() > 0 ? 1u : 0u)) {
    std::abort();
  }
  return 0;
}
