// The second half of reading a trace: from what the file says (Trace) to what a replay needs
// (Session). Internal to common/corpus; trace_v8 fills a Trace from JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/corpus/trace_v8.h"

namespace plimsoll {

// A call as recorded. Times in ms.
struct TraceCall {
  std::int64_t start_ms = 0;     // After the trace's zero; nested calls are placed already.
  std::int64_t service_ms = -1;  // -1: not recorded.
  bool sent_twice = false;       // Type "n": a streamed try, deleted since, went before it.
  std::uint32_t tokens_in = 0;
  std::uint32_t tokens_out = 0;
  std::uint16_t model = 0;
  std::uint8_t flags = 0;
  std::vector<std::uint32_t> ids;
  std::int32_t request = 0;  // Index into the file's requests, …
  std::int32_t nested = -1;  // … and into the entry's own, for a subagent's call.
};

struct TraceStream {
  std::int32_t parent = -1;  // Call of the main stream it follows in the file; -1: none.
  std::int32_t join = -1;    // Call of the main stream that waits for it; -1: none.
  std::int64_t start_ms = 0;
  std::uint64_t tool_tokens = 0;
  std::uint64_t system_tokens = 0;
  std::vector<TraceCall> calls;
};

struct Trace {
  std::string id;
  std::vector<std::string> models;
  std::vector<TraceStream> streams;  // The main one first.
};

// "requests[3]" or "requests[3].requests[0]".
std::string PlaceOf(const TraceCall& call);

StatusOr<ParsedTrace> BuildSession(Trace trace);

}  // namespace plimsoll
