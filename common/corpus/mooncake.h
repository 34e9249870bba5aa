// Reads Mooncake traces: one request a line, {"timestamp" ms, "input_length", "output_length",
// "hash_ids"} with 512-token blocks, their number rounded up, ids global to the file. The form has
// no sessions. A request continues an earlier one when it holds all of its full blocks, at least
// two of them (the first is everybody's system prompt): such chains are sessions, since a closed
// loop must not send a follow-up before the answer it follows. What continues nothing is a session
// of one call; their prompts share the file's common beginning as a class.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/base/status.h"
#include "common/corpus/json_value.h"
#include "common/corpus/trace_session.h"

namespace plimsoll {

class MooncakeReader {
 public:
  // The next line. InvalidArgument names what is wrong with it; lengths, ids, time running backward
  // and a prefix chain that is broken within its session are checked.
  Status Add(const JsonValue& line);

  // All sessions, by their first request. Durations are estimated from lengths; a note says so.
  StatusOr<std::vector<ParsedTrace>> Take();

 private:
  struct Block {
    std::uint32_t predecessor = 0;
    std::uint32_t position = 0;
  };

  Status CheckChain(const JsonValue& line, const std::vector<std::uint32_t>& ids);

  std::vector<Trace> sessions_;
  std::unordered_map<std::uint32_t, Block> blocks_;
  // Of the last full block of every request so far: its session.
  std::unordered_map<std::uint32_t, std::size_t> ends_;
  std::vector<std::uint32_t> common_;  // Leading ids that all requests share.
  std::uint64_t lines_ = 0;
  std::int64_t latest_ms_ = 0;
};

// Milliseconds that a call of these lengths took in the public agent traces, fitted (R² 0.88).
std::int64_t EstimatedServiceMs(std::uint64_t tokens_in, std::uint64_t uncached,
                                std::uint64_t tokens_out);

}  // namespace plimsoll
