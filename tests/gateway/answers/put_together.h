// The deltas of a script, read by the agents' own parser and put together as their client does.
#pragma once

#include <string>

#include <fmt/format.h>

#include "common/evals/eval_set.h"
#include "common/sse/chat_chunk.h"
#include "gateway/answers/answer_script.h"
#include "gtest/gtest.h"

namespace plimsoll {

inline EvalAnswer PutTogether(const AnswerScript& script, std::size_t pieces) {
  EvalAnswer answer;
  ChatChunkParser parser;
  ChatChunk chunk;
  chunk.content = &answer.content;
  ToolCallCollector calls;
  calls.Begin();
  for (std::size_t i = 0; i < pieces; ++i) {
    parser.Parse(fmt::format(R"({{"choices":[{{"index":0,"delta":{},"finish_reason":null}}]}})",
                             script.Delta(i)),
                 &chunk);
    EXPECT_EQ(chunk.kind, ChatChunk::Kind::kChunk) << script.Delta(i);
    for (const ToolCallPiece& piece : chunk.tool_calls) calls.Add(piece);
  }
  answer.tools.calls = calls.Take();
  answer.tools.finished_for_calls = script.says_calls();
  return answer;
}

}  // namespace plimsoll
