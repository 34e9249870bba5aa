// What all forms of one-session-a-file recordings have in common: the fields of a call, the names
// of models, the totals. Internal to common/corpus; trace_v8, trace_v6, trace_flat and trace_weka
// each add what their form does otherwise.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/corpus/json_value.h"
#include "common/corpus/trace_session.h"

namespace plimsoll {

class TraceCallReader {
 public:
  struct Rules {
    bool exact_ids = true;  // hash_ids are the full blocks, neither more nor fewer.
    bool turns = true;      // input_types and stop are there.
    bool timed = true;      // api_time may be there.
    bool empty_ok = false;  // A prompt may have no tokens; who reads drops it.
  };

  explicit TraceCallReader(Rules rules) : rules_(rules) {}

  // "id", "block_size" and, where present, "tool_tokens" and "system_tokens" of a file.
  Status ReadTop(const JsonValue& root, Trace* trace);
  // The sizes of the prefix, 0 where absent.
  static Status ReadPrefix(const JsonValue& node, TraceStream* stream);

  // One call, its start relative to `zero_ms`. `nested`: for the totals.
  StatusOr<TraceCall> Read(const JsonValue& node, std::int64_t zero_ms, bool nested);
  // An error if a call that starts at start_ms would run backward in `stream`.
  static Status CheckOrder(const JsonValue& node, const TraceStream& stream, std::int64_t start_ms);

  // The type of an entry that this form does not have.
  static Status UnknownType(const JsonValue& node, std::string_view type);
  // A subagent entry's "status": true when it completed, false when it was launched and not waited
  // for; an error if it is neither.
  static StatusOr<bool> ReadCompleted(const JsonValue& node);
  // An error if the main conversation has no call.
  static Status CheckHasCalls(const Trace& trace);

  // A subagent entry was read.
  void CountSubagent() { ++subagents_; }
  // The file's totals against the sum of what was read.
  Status CheckTotals(const JsonValue& root) const;

  std::vector<std::string> TakeModels() { return std::move(models_); }

 private:
  struct Sums {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
  };

  StatusOr<std::uint16_t> ModelIndex(std::string_view name);

  Rules rules_;
  std::vector<std::string> models_;
  std::uint64_t calls_ = 0;
  std::uint64_t subagents_ = 0;
  Sums parent_;
  Sums nested_;
};

}  // namespace plimsoll
