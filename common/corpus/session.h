// A corpus as values: recorded sessions as trees of calls, with no text. Pure data; read and
// written by corpus_file, made by trace_v8 and synth, replayed by agent/replay.
//
// A prompt is never stored as its block ids. Ids of a trace are prefix-chained (each has one
// predecessor and one position), so a prompt is (earlier call, blocks kept, fresh blocks, tail).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/limits.h"

namespace plimsoll {

// Class of a session by its median prompt over all calls. Stored: never renumber.
enum class Tier : std::uint8_t { kUnspecified = 0, kLight = 1, kMid = 2, kHeavy = 3 };

// One request of a stream, as recorded.
struct Call {
  std::uint32_t stream = 0;  // Index into Session::streams.
  std::int32_t ref =
      -1;  // Earlier call (index into Session::calls) whose prefix is kept; -1: none.
  std::uint32_t kept_blocks = 0;  // Leading full blocks shared with `ref`; <= ref's blocks.
  std::uint32_t tokens_in = 0;    // Whole prompt, cached part included; > 0.
  std::uint32_t tokens_out = 0;   // As recorded; may be 0. A replay asks for max(1, tokens_out).
  std::uint32_t start_ms = 0;     // Recorded start after the session's start. Statistics only.
  std::uint32_t delay_ms = 0;     // Client's delay from completion of all predecessors to release.
  std::uint32_t service_ms =
      0;                    // Recorded (or imputed) duration. Start points and statistics only.
  std::uint16_t model = 0;  // Index into Corpus::models.
  std::uint8_t flags = 0;   // CallFlag bits.

  // Full blocks of the prompt; the last tokens_in % 64 tokens are the tail.
  std::uint32_t blocks() const { return tokens_in / limits::kBlockTokens; }
  std::uint32_t fresh_blocks() const { return blocks() - kept_blocks; }
};

// Stored: never renumber.
enum CallFlag : std::uint8_t {
  kUserTurn = 1,        // The new content is a user's text.
  kToolTurn = 2,        // The new content is a tool's result.
  kRewrite = 4,         // History was rewritten (compaction, rewind, resume).
  kServiceImputed = 8,  // service_ms was not recorded.
  kStopToolUse = 16,    // The recorded answer ended in a tool call.
};

// One sequential conversation of a session: stream 0 is the main one, the others are subagents'.
struct Stream {
  std::int32_t parent_call =
      -1;  // Starts when this call completes (index into Session::calls); -1: at once.
  std::uint32_t start_offset_ms = 0;  // Delay from that completion to the stream's first release.
  std::int32_t join_call =
      -1;  // The parent's call that waits for this stream's end; -1: none waits.
  std::uint32_t prefix_blocks =
      0;  // Leading blocks shared with every session of the same prefix_class.
  std::uint64_t prefix_class = 0;  // Key of (model, tool tokens, system tokens).
};

struct Session {
  std::string id;  // The trace's own id, "trace_0004".
  Tier tier = Tier::kUnspecified;
  std::vector<Stream> streams;  // At least one.
  std::vector<Call>
      calls;  // By recorded start; a stream's calls are in its own order. ref < own index.
  // Provenance; empty for synthesised sessions.
  std::string file;         // As given to the importer, below the common folder.
  std::string sha256_json;  // Of the uncompressed trace, hex.
  std::uint64_t json_bytes = 0;
};

struct Corpus {
  std::string source;  // What it was made from, one line.
  std::string license;
  std::vector<std::string> models;
  std::vector<Session> sessions;
};

}  // namespace plimsoll
