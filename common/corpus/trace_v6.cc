#include "common/corpus/trace_v6.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "common/corpus/trace_calls.h"

namespace plimsoll {
namespace {

// Starts are floored to the second, a subagent's are not.
constexpr std::int64_t kFloorMs = 1000;

class Reader {
 public:
  Status Read(const JsonValue& root) {
    RETURN_IF_ERROR(calls_.ReadTop(root, &trace_));
    ASSIGN_OR_RETURN(const std::vector<JsonValue> requests, root.Elements("requests"));
    for (const JsonValue& request : requests) {
      if (!request.IsObject()) return request.Expected("an object");
      ASSIGN_OR_RETURN(const std::string_view type, request.Name("type"));
      RETURN_IF_ERROR(type == "subagent" ? ReadSubagent(request)
                                         : ReadCall(request, type, false, &trace_.streams[0]));
    }
    RETURN_IF_ERROR(TraceCallReader::CheckHasCalls(trace_));
    if (root.Has("totals")) RETURN_IF_ERROR(calls_.CheckTotals(root));
    ImputeServices(&trace_);
    for (std::size_t s = 1; s < trace_.streams.size(); ++s) {
      PlaceStream(s, placements_[s - 1], kFloorMs, &trace_);
    }
    return absl::OkStatus();
  }

  StatusOr<ParsedTrace> Build() {
    trace_.models = calls_.TakeModels();
    ASSIGN_OR_RETURN(ParsedTrace parsed, BuildSession(std::move(trace_)));
    AddNote(twins_, "streamed first tries dropped, the plain call of the same turn is kept",
            &parsed.notes);
    return parsed;
  }

 private:
  Status ReadSubagent(const JsonValue& node) {
    calls_.CountSubagent();
    TraceStream stream;
    ASSIGN_OR_RETURN(const bool completed, TraceCallReader::ReadCompleted(node));
    ASSIGN_OR_RETURN(stream.start_ms, node.Millis("t", 1000));
    Placement placement = Placement::kAsync;
    if (completed) {
      ASSIGN_OR_RETURN(const std::int64_t duration, node.Millis("duration_ms", 1));
      stream.start_ms -= duration;  // A completed entry's time is its end.
      placement = Placement::kGates;
    }
    RETURN_IF_ERROR(TraceCallReader::ReadPrefix(node, &stream));
    ASSIGN_OR_RETURN(const std::vector<JsonValue> requests, node.Elements("requests"));
    for (const JsonValue& inner : requests) {
      if (!inner.IsObject()) return inner.Expected("an object");
      ASSIGN_OR_RETURN(const std::string_view type, inner.Name("type"));
      RETURN_IF_ERROR(ReadCall(inner, type, true, &stream));
    }
    if (stream.calls.empty()) return absl::OkStatus();
    trace_.streams.push_back(std::move(stream));
    placements_.push_back(placement);
    return absl::OkStatus();
  }

  Status ReadCall(const JsonValue& node, std::string_view type, bool nested, TraceStream* stream) {
    if (type != "n" && type != "s" && type != "?") {
      return TraceCallReader::UnknownType(node, type);
    }
    StatusOr<TraceCall> call = calls_.Read(node, stream->start_ms, nested);
    if (!call.ok()) return call.status();
    RETURN_IF_ERROR(TraceCallReader::CheckOrder(node, *stream, call->start_ms));
    std::vector<TraceCall>& calls = stream->calls;
    const bool try_before = !calls.empty() && stream->last_streamed;
    if (type == "n" && try_before && calls.back().model == call->model &&
        calls.back().tokens_in == call->tokens_in && calls.back().ids == call->ids) {
      // The try has the turn's kinds, the plain call its answer.
      call->flags |= calls.back().flags;
      call->try_ms = calls.back().start_ms;
      calls.back() = *std::move(call);
      ++twins_;
    } else {
      calls.push_back(*std::move(call));
    }
    stream->last_streamed = type == "s";
    return absl::OkStatus();
  }

  TraceCallReader calls_{{}};
  Trace trace_;
  std::vector<Placement> placements_;  // Of the streams after the main one.
  std::uint64_t twins_ = 0;
};

}  // namespace

StatusOr<ParsedTrace> ReadTraceV6(const JsonValue& root) {
  Reader reader;
  RETURN_IF_ERROR(reader.Read(root));
  return reader.Build();
}

}  // namespace plimsoll
