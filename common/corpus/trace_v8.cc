#include "common/corpus/trace_v8.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "common/corpus/trace_calls.h"
#include "common/corpus/trace_session.h"

namespace plimsoll {
namespace {

// Starts are floored to the second, a subagent's are not.
constexpr std::int64_t kFloorMs = 1000;

Status Wrong(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

// One pass over a file's requests.
class Reader {
 public:
  Status Read(const JsonValue& root) {
    RETURN_IF_ERROR(calls_.ReadTop(root, &trace_));
    ASSIGN_OR_RETURN(const std::string_view scope, root.Name("hash_id_scope"));
    if (scope != "local") {
      return Wrong(fmt::format("hash_id_scope: \"{}\"; the v8 form's is \"local\"", scope));
    }
    ASSIGN_OR_RETURN(const std::vector<JsonValue> requests, root.Elements("requests"));
    for (const JsonValue& request : requests) RETURN_IF_ERROR(ReadRequest(request));
    RETURN_IF_ERROR(TraceCallReader::CheckHasCalls(trace_));
    // The last group's join lies beyond the file's end.
    for (TraceStream& stream : trace_.streams) {
      if (stream.join >= static_cast<std::int32_t>(trace_.streams[0].calls.size())) {
        stream.join = -1;
      }
    }
    return calls_.CheckTotals(root);
  }

  Trace Take() {
    trace_.models = calls_.TakeModels();
    return std::move(trace_);
  }

 private:
  Status ReadRequest(const JsonValue& node) {
    if (!node.IsObject()) return node.Expected("an object");
    ASSIGN_OR_RETURN(const std::string_view type, node.Name("type"));
    if (type == "subagent") return ReadSubagent(node);
    return ReadCall(node, type, false, &trace_.streams[0]);
  }

  Status ReadSubagent(const JsonValue& node) {
    const auto mains = static_cast<std::int32_t>(trace_.streams[0].calls.size());
    calls_.CountSubagent();
    TraceStream stream;
    stream.parent = mains - 1;
    ASSIGN_OR_RETURN(const bool completed, TraceCallReader::ReadCompleted(node));
    ASSIGN_OR_RETURN(stream.start_ms, node.Millis("t", 1000));
    if (completed) {
      ASSIGN_OR_RETURN(const std::int64_t duration, node.Millis("duration_ms", 1));
      stream.start_ms -= duration;  // A completed entry's time is its end.
      stream.join = mains;
    }
    if (mains > 0 && stream.start_ms + kFloorMs < trace_.streams[0].calls.back().start_ms) {
      return Wrong(fmt::format(
          "{}.t: time runs backward: the subagent starts before its parent call", node.where()));
    }
    RETURN_IF_ERROR(TraceCallReader::ReadPrefix(node, &stream));
    ASSIGN_OR_RETURN(const std::vector<JsonValue> requests, node.Elements("requests"));
    for (const JsonValue& inner : requests) {
      if (!inner.IsObject()) return inner.Expected("an object");
      ASSIGN_OR_RETURN(const std::string_view type, inner.Name("type"));
      RETURN_IF_ERROR(ReadCall(inner, type, true, &stream));
    }
    // One that made no call occupies nobody.
    if (!stream.calls.empty()) trace_.streams.push_back(std::move(stream));
    return absl::OkStatus();
  }

  Status ReadCall(const JsonValue& node, std::string_view type, bool nested, TraceStream* stream) {
    if (type != "n" && type != "s") {
      return TraceCallReader::UnknownType(node, type);
    }
    StatusOr<TraceCall> call = calls_.Read(node, stream->start_ms, nested);
    if (!call.ok()) return call.status();
    RETURN_IF_ERROR(TraceCallReader::CheckOrder(node, *stream, call->start_ms));
    call->sent_twice = type == "n";
    stream->calls.push_back(*std::move(call));
    return absl::OkStatus();
  }

  TraceCallReader calls_{{}};
  Trace trace_;
};

}  // namespace

StatusOr<ParsedTrace> ReadTraceV8(const JsonValue& root) {
  if (!root.IsObject()) return root.Expected("an object with a session's fields");
  Reader reader;
  RETURN_IF_ERROR(reader.Read(root));
  return BuildSession(reader.Take());
}

StatusOr<ParsedTrace> ParseTraceV8(std::string_view json) {
  if (json.size() > kTraceBytesMax) {
    return Wrong(fmt::format("{} bytes; at most {} are allowed", json.size(), kTraceBytesMax));
  }
  ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(json));
  return ReadTraceV8(document.root());
}

}  // namespace plimsoll
