// The second half of reading a trace: from what the file says (Trace) to what a replay needs
// (Session). Internal to common/corpus; trace_v8, trace_v6, trace_flat, trace_weka and mooncake
// each fill a Trace from their form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/corpus/session.h"

namespace plimsoll {

// Something that importing left out, changed or estimated, for the person who imports.
struct ImportNote {
  std::uint64_t count = 0;
  std::string what;  // "streamed first tries dropped: …".
};

// Adds `count` to the note that says `what`.
void AddNote(std::uint64_t count, std::string_view what, std::vector<ImportNote>* notes);

struct ParsedTrace {
  Session session;                  // Without tier, file and digest; passes ValidateSession().
  std::vector<std::string> models;  // That Call::model refers to, in order of appearance.
  // What tells the calls from others when copies are looked for, one a call; empty: their lengths.
  std::vector<std::uint64_t> keys;
  std::vector<ImportNote> notes;
};

// A call as recorded. Times in ms.
struct TraceCall {
  std::int64_t start_ms = 0;     // After the trace's zero; nested calls are placed already.
  std::int64_t service_ms = -1;  // -1: not recorded.
  std::int64_t try_ms = -1;      // Start of the first try of the same call; -1: none known.
  bool sent_twice = false;       // Type "n": a streamed try, deleted since, went before it.
  std::uint32_t tokens_in = 0;
  std::uint32_t tokens_out = 0;
  std::uint16_t model = 0;
  std::uint8_t flags = 0;
  std::vector<std::uint32_t> ids;
  std::string place;  // In the file: "requests[3].requests[0]".

  // When the client asked for it first.
  std::int64_t asked_ms() const { return try_ms >= 0 ? try_ms : start_ms; }
};

struct TraceStream {
  std::int32_t parent = -1;  // Call of the main stream it follows in the file; -1: none.
  std::int32_t join = -1;    // Call of the main stream that waits for it; -1: none.
  std::int64_t start_ms = 0;
  std::uint64_t tool_tokens = 0;
  std::uint64_t system_tokens = 0;
  bool last_streamed = false;  // The latest call was a streamed one. While reading.
  std::vector<TraceCall> calls;
};

struct Trace {
  std::string id;
  std::vector<std::string> models;
  std::vector<TraceStream> streams;  // The main one first.
  bool partial_ids = false;          // ids cover a beginning of the prompt that is not known.
  bool whole = false;                // No call was cut out: a stream that starts late was late.
};

// An absent duration is the median of the main stream's timed calls, at most the gap to the next
// call of its stream. Flags them.
void ImputeServices(Trace* trace);

// How a side stream is placed by the times alone.
enum class Placement {
  kGates,  // Some call of the main stream waits for it: the first that starts after its end.
  kLoose,  // One waits only if the main stream was idle for as long as this one ran.
  kAsync,  // None waits.
};

// Sets parent and join of streams[s], s > 0, by times that are exact to `slack_ms`. Its parent is
// the last call of the main stream that had ended when it began.
void PlaceStream(std::size_t s, Placement placement, std::int64_t slack_ms, Trace* trace);

StatusOr<ParsedTrace> BuildSession(Trace trace);

}  // namespace plimsoll
