#include "common/corpus/trace_session.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "common/base/rng.h"
#include "common/corpus/block_chain.h"
#include "common/corpus/validate.h"

namespace plimsoll {
namespace {

// Median duration of the 44,346 timed calls of the public set, for a session without a timed call.
constexpr std::int64_t kServiceMsUnknown = 6080;
// Subagents start 0.09 to 1.05 s after their parent call ends. One that starts later than this
// belongs to a call that was cut out of the file.
constexpr std::int64_t kSpawnMsMax = 60'000;

// Position of a call in the trace, until the calls of all streams are merged.
struct Slot {
  std::size_t stream;
  std::size_t call;
};

std::int64_t EndOf(const TraceCall& call) {
  return call.start_ms + call.service_ms;
}

std::uint32_t ToMs(std::int64_t ms) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(ms, 0, std::numeric_limits<std::uint32_t>::max()));
}

// Calls of all streams by start; ties in the file's order, so that a parent precedes its children.
std::vector<Slot> ReplayOrder(const Trace& trace) {
  std::vector<Slot> order;
  for (std::size_t s = 0; s < trace.streams.size(); ++s) {
    for (std::size_t c = 0; c < trace.streams[s].calls.size(); ++c) order.push_back({s, c});
  }
  std::stable_sort(order.begin(), order.end(), [&](const Slot& a, const Slot& b) {
    return trace.streams[a.stream].calls[a.call].start_ms <
           trace.streams[b.stream].calls[b.call].start_ms;
  });
  return order;
}

// The client's own delay before a call: from the latest end of what it waited for to its start,
// less the deleted first try, which took about as long as the call itself where nothing is known.
std::uint32_t DelayMs(const TraceCall& call, std::int64_t ready_ms) {
  return ToMs(call.asked_ms() - ready_ms - (call.sent_twice ? call.service_ms : 0));
}

std::vector<std::vector<std::uint32_t>> DeriveDelays(const Trace& trace) {
  std::vector<std::vector<std::uint32_t>> delays(trace.streams.size());
  std::vector<std::int64_t> joined(trace.streams[0].calls.size(), 0);  // Latest end joined there.
  for (std::size_t s = 1; s < trace.streams.size(); ++s) {
    const TraceStream& stream = trace.streams[s];
    if (stream.join < 0) continue;
    std::int64_t& end = joined[static_cast<std::size_t>(stream.join)];
    end = std::max(end, EndOf(stream.calls.back()));
  }
  for (std::size_t s = 0; s < trace.streams.size(); ++s) {
    const std::vector<TraceCall>& calls = trace.streams[s].calls;
    delays[s].push_back(0);  // The stream's start offset holds it.
    for (std::size_t i = 1; i < calls.size(); ++i) {
      std::int64_t ready = EndOf(calls[i - 1]);
      if (s == 0) ready = std::max(ready, joined[i]);
      delays[s].push_back(DelayMs(calls[i], ready));
    }
  }
  return delays;
}

Stream MakeStream(const TraceStream& from, const Trace& trace, std::int64_t group_start_ms) {
  const TraceCall& first = from.calls.front();
  const std::uint64_t prefix = (from.tool_tokens + from.system_tokens) / limits::kBlockTokens;
  Stream stream;
  stream.prefix_blocks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(prefix, first.ids.size()));
  stream.prefix_class =
      MixKey(HashBytes(trace.models[first.model]), from.tool_tokens, from.system_tokens);
  std::int64_t ready = 0;
  if (from.parent >= 0) {
    ready = EndOf(trace.streams[0].calls[static_cast<std::size_t>(from.parent)]);
    // Its own parent is missing: siblings keep their distance, not the hole in the file.
    if (!trace.whole && group_start_ms - ready > kSpawnMsMax) ready = group_start_ms;
  }
  stream.start_offset_ms = ToMs(first.asked_ms() - ready);
  return stream;
}

// Streams of one class have the same prefix in a replay, so within a session it ends where the
// recorded ones part.
void ClampPrefixes(Session* session) {
  std::vector<bool> seen(session->streams.size(), false);
  for (const Call& call : session->calls) {
    if (seen[call.stream]) continue;
    seen[call.stream] = true;
    const Stream& own = session->streams[call.stream];
    for (std::size_t s = 0; s < session->streams.size(); ++s) {
      const bool earlier = seen[s] && s != call.stream;
      if (!earlier || session->streams[s].prefix_class != own.prefix_class) continue;
      const std::uint32_t common = std::min(own.prefix_blocks, call.kept_blocks);
      for (Stream& stream : session->streams) {
        if (stream.prefix_class == own.prefix_class) {
          stream.prefix_blocks = std::min(stream.prefix_blocks, common);
        }
      }
      break;
    }
  }
}

void MoveToZero(Trace* trace) {
  std::int64_t zero = std::numeric_limits<std::int64_t>::max();
  for (const TraceStream& stream : trace->streams)
    zero = std::min(zero, stream.calls[0].asked_ms());
  for (TraceStream& stream : trace->streams) {
    for (TraceCall& call : stream.calls) {
      call.start_ms -= zero;
      if (call.try_ms >= 0) call.try_ms -= zero;
    }
  }
}

// Adds the streams; `index[s][c]` is where the session has call c of stream s.
void AddStreams(const Trace& trace, const std::vector<std::vector<std::int32_t>>& index,
                Session* session) {
  for (std::size_t s = 0; s < trace.streams.size(); ++s) {
    const TraceStream& from = trace.streams[s];
    std::int64_t group_start = from.calls.front().asked_ms();
    for (std::size_t other = 1; other < trace.streams.size() && s > 0; ++other) {
      if (trace.streams[other].parent != from.parent) continue;
      group_start = std::min(group_start, trace.streams[other].calls.front().asked_ms());
    }
    Stream stream = MakeStream(from, trace, group_start);
    if (from.parent >= 0) stream.parent_call = index[0][static_cast<std::size_t>(from.parent)];
    if (from.join >= 0) stream.join_call = index[0][static_cast<std::size_t>(from.join)];
    session->streams.push_back(stream);
  }
}

}  // namespace

void AddNote(std::uint64_t count, std::string_view what, std::vector<ImportNote>* notes) {
  if (count == 0) return;
  for (ImportNote& note : *notes) {
    if (note.what != what) continue;
    note.count += count;
    return;
  }
  notes->push_back({.count = count, .what = std::string(what)});
}

void ImputeServices(Trace* trace) {
  std::vector<std::int64_t> timed;
  for (const TraceCall& call : trace->streams[0].calls) {
    if (call.service_ms >= 0) timed.push_back(call.service_ms);
  }
  std::int64_t median = kServiceMsUnknown;
  if (!timed.empty()) {
    std::sort(timed.begin(), timed.end());
    median = (timed[(timed.size() - 1) / 2] + timed[timed.size() / 2]) / 2;
  }
  for (TraceStream& stream : trace->streams) {
    for (std::size_t i = 0; i < stream.calls.size(); ++i) {
      TraceCall& call = stream.calls[i];
      if (call.service_ms >= 0) continue;
      call.service_ms = median;
      call.flags |= kServiceImputed;
      if (i + 1 < stream.calls.size()) {
        const std::int64_t gap = stream.calls[i + 1].asked_ms() - call.start_ms;
        call.service_ms = std::clamp<std::int64_t>(gap, 0, median);
      }
    }
  }
}

void PlaceStream(std::size_t s, Placement placement, std::int64_t slack_ms, Trace* trace) {
  const std::vector<TraceCall>& mains = trace->streams[0].calls;
  TraceStream& stream = trace->streams[s];
  const std::int64_t start = stream.calls.front().asked_ms();
  std::int64_t end = 0;
  for (const TraceCall& call : stream.calls) end = std::max(end, EndOf(call));
  stream.parent = -1;
  stream.join = -1;
  for (std::size_t i = 0; i < mains.size() && mains[i].asked_ms() <= start; ++i) {
    if (EndOf(mains[i]) <= start + slack_ms) stream.parent = static_cast<std::int32_t>(i);
  }
  if (placement == Placement::kAsync) return;
  for (auto i = static_cast<std::size_t>(std::int64_t{stream.parent} + 1); i < mains.size(); ++i) {
    const bool waits = mains[i].asked_ms() + slack_ms >= end;
    if (waits) stream.join = static_cast<std::int32_t>(i);
    if (waits || placement == Placement::kLoose) break;
  }
  // What runs before the conversation begins does not hold it up: its own start is known.
  if (placement == Placement::kLoose && stream.join == 0) stream.join = -1;
}

StatusOr<ParsedTrace> BuildSession(Trace trace) {
  MoveToZero(&trace);
  ImputeServices(&trace);
  const auto delays = DeriveDelays(trace);
  const std::vector<Slot> order = ReplayOrder(trace);
  ParsedTrace parsed;
  Session& session = parsed.session;
  session.id = std::move(trace.id);
  std::vector<std::vector<std::int32_t>> index(trace.streams.size());
  std::vector<std::size_t> known;  // Blocks of each call that have an id.
  BlockChain chain;
  for (const Slot& slot : order) {
    TraceCall& from = trace.streams[slot.stream].calls[slot.call];
    if (from.start_ms > std::numeric_limits<std::uint32_t>::max()) {
      return absl::InvalidArgumentError(from.place + ": starts more than 49 days into the session");
    }
    std::vector<std::int32_t>& own = index[slot.stream];
    const std::vector<std::uint32_t>& ids = from.ids;
    StatusOr<BlockChain::Link> link = chain.Add(ids, own.empty() ? -1 : own.back());
    if (!link.ok()) {
      return absl::InvalidArgumentError(fmt::format("{}.{}", from.place, MessageOf(link.status())));
    }
    // Ids that end early and are all kept: nothing says that what follows them was not.
    if (trace.partial_ids && link->ref >= 0) {
      const auto ref = static_cast<std::size_t>(link->ref);
      if (link->kept_blocks == known[ref]) {
        link->kept_blocks =
            std::min(session.calls[ref].blocks(), from.tokens_in / limits::kBlockTokens);
      }
    }
    known.push_back(ids.size());
    own.push_back(static_cast<std::int32_t>(session.calls.size()));
    session.calls.push_back({.stream = static_cast<std::uint32_t>(slot.stream),
                             .ref = link->ref,
                             .kept_blocks = link->kept_blocks,
                             .tokens_in = from.tokens_in,
                             .tokens_out = from.tokens_out,
                             .start_ms = ToMs(from.start_ms),
                             .delay_ms = delays[slot.stream][slot.call],
                             .service_ms = ToMs(from.service_ms),
                             .model = from.model,
                             .flags = from.flags});
  }
  AddStreams(trace, index, &session);
  ClampPrefixes(&session);
  parsed.models = std::move(trace.models);
  RETURN_IF_ERROR(ValidateSession(session, parsed.models.size()));
  return parsed;
}

}  // namespace plimsoll
