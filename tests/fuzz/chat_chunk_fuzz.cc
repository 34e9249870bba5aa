// Fuzz target: one payload of a chat stream. Whatever the bytes, the answer is consistent, and the
// same when the parser has been used before.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/sse/chat_chunk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using plimsoll::ChatChunk;
  static plimsoll::ChatChunkParser used;
  plimsoll::ChatChunkParser fresh;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ChatChunk a;
  ChatChunk b;
  used.Parse(text, &a);
  fresh.Parse(text, &b);
  const bool same = a.kind == b.kind && a.has_token == b.has_token && a.role_only == b.role_only &&
                    a.tool_call == b.tool_call && a.finish == b.finish && a.usage == b.usage &&
                    a.error_message == b.error_message;
  const bool quiet = a.kind == ChatChunk::Kind::kChunk || a.kind == ChatChunk::Kind::kError ||
                     (!a.has_token && a.finish == plimsoll::FinishReason::kNone);
  if (!same || !quiet || (a.role_only && a.has_token)) std::abort();
  return 0;
}
