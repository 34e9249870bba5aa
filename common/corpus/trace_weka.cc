#include "common/corpus/trace_weka.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "common/corpus/trace_calls.h"

namespace plimsoll {
namespace {

// Times are exact to the millisecond; a client needs some to go on.
constexpr std::int64_t kSlackMs = 50;

class Reader {
 public:
  Status Read(const JsonValue& root) {
    trace_.whole = true;
    RETURN_IF_ERROR(calls_.ReadTop(root, &trace_));
    ASSIGN_OR_RETURN(const std::vector<JsonValue> requests, root.Elements("requests"));
    for (const JsonValue& request : requests) {
      if (!request.IsObject()) return request.Expected("an object");
      ASSIGN_OR_RETURN(const std::string_view type, request.Name("type"));
      RETURN_IF_ERROR(type == "subagent" ? ReadSubagent(request)
                                         : ReadCall(request, 0, false, &trace_.streams[0]));
    }
    RETURN_IF_ERROR(TraceCallReader::CheckHasCalls(trace_));
    if (root.Has("totals")) RETURN_IF_ERROR(calls_.CheckTotals(root));
    ImputeServices(&trace_);
    MoveOverlapping();
    for (std::size_t s = 1; s < trace_.streams.size(); ++s) {
      PlaceStream(s, placements_[s - 1], kSlackMs, &trace_);
    }
    return absl::OkStatus();
  }

  StatusOr<ParsedTrace> Build() {
    trace_.models = calls_.TakeModels();
    ASSIGN_OR_RETURN(ParsedTrace parsed, BuildSession(std::move(trace_)));
    AddNote(moved_, "main calls that overlap the one before them moved to streams of their own",
            &parsed.notes);
    AddNote(ended_, "subagent entries whose time is their end", &parsed.notes);
    return parsed;
  }

 private:
  Status ReadSubagent(const JsonValue& node) {
    calls_.CountSubagent();
    TraceStream stream;
    Placement placement = Placement::kGates;
    if (node.Has("status")) {
      ASSIGN_OR_RETURN(const bool completed, TraceCallReader::ReadCompleted(node));
      if (!completed) placement = Placement::kAsync;
    }
    ASSIGN_OR_RETURN(const std::int64_t entry_ms, node.Millis("t", 1000));
    RETURN_IF_ERROR(TraceCallReader::ReadPrefix(node, &stream));
    ASSIGN_OR_RETURN(const std::vector<JsonValue> requests, node.Elements("requests"));
    std::int64_t zero_ms = 0;
    if (!requests.empty()) {
      if (!requests[0].IsObject()) return requests[0].Expected("an object");
      ASSIGN_OR_RETURN(const std::int64_t first_ms, requests[0].Millis("t", 1000));
      if (first_ms < entry_ms) {
        zero_ms = entry_ms;
        if (placement == Placement::kGates && node.Has("duration_ms")) {
          ASSIGN_OR_RETURN(const std::int64_t duration, node.Millis("duration_ms", 1));
          zero_ms -= duration;
          ++ended_;
        }
      }
    }
    for (const JsonValue& inner : requests) {
      if (!inner.IsObject()) return inner.Expected("an object");
      RETURN_IF_ERROR(ReadCall(inner, zero_ms, true, &stream));
    }
    if (stream.calls.empty()) return absl::OkStatus();
    trace_.streams.push_back(std::move(stream));
    placements_.push_back(placement);
    return absl::OkStatus();
  }

  Status ReadCall(const JsonValue& node, std::int64_t zero_ms, bool nested, TraceStream* stream) {
    ASSIGN_OR_RETURN(const std::string_view type, node.Name("type"));
    if (type != "n" && type != "s") {
      return TraceCallReader::UnknownType(node, type);
    }
    StatusOr<TraceCall> call = calls_.Read(node, zero_ms, nested);
    if (!call.ok()) return call.status();
    RETURN_IF_ERROR(TraceCallReader::CheckOrder(node, *stream, call->start_ms));
    stream->calls.push_back(*std::move(call));
    return absl::OkStatus();
  }

  // A main call that starts while the one before it runs belongs to no sequence with it.
  void MoveOverlapping() {
    std::vector<TraceCall> mains;
    for (TraceCall& call : trace_.streams[0].calls) {
      const bool overlaps = !mains.empty() && call.start_ms + kSlackMs <
                                                  mains.back().start_ms + mains.back().service_ms;
      if (!overlaps) {
        mains.push_back(std::move(call));
        continue;
      }
      TraceStream stream;
      stream.tool_tokens = trace_.streams[0].tool_tokens;
      stream.system_tokens = trace_.streams[0].system_tokens;
      stream.calls.push_back(std::move(call));
      trace_.streams.push_back(std::move(stream));
      placements_.push_back(Placement::kLoose);
      ++moved_;
    }
    trace_.streams[0].calls = std::move(mains);
  }

  TraceCallReader calls_{{.turns = false}};
  Trace trace_;
  std::vector<Placement> placements_;  // Of the streams after the main one.
  std::uint64_t moved_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace

StatusOr<ParsedTrace> ReadTraceWeka(const JsonValue& root) {
  Reader reader;
  RETURN_IF_ERROR(reader.Read(root));
  return reader.Build();
}

}  // namespace plimsoll
