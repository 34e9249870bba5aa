#include "common/plan/session_graph.h"

#include <algorithm>

namespace plimsoll {
namespace {

struct Edge {
  std::uint32_t from;
  std::uint32_t to;
};

std::vector<Edge> Edges(const Session& session) {
  std::vector<Edge> edges;
  std::vector<std::int32_t> last(session.streams.size(), -1);
  for (std::uint32_t c = 0; c < session.calls.size(); ++c) {
    const std::uint32_t s = session.calls[c].stream;
    const std::int32_t before = last[s] >= 0 ? last[s] : session.streams[s].parent_call;
    if (before >= 0) edges.push_back({static_cast<std::uint32_t>(before), c});
    last[s] = static_cast<std::int32_t>(c);
  }
  for (std::size_t s = 0; s < session.streams.size(); ++s) {
    const std::int32_t join = session.streams[s].join_call;
    if (join >= 0 && last[s] >= 0) {
      edges.push_back({static_cast<std::uint32_t>(last[s]), static_cast<std::uint32_t>(join)});
    }
  }
  return edges;
}

// Edges among the calls that are kept: a call left out hands its predecessors to its successors.
std::vector<Edge> WithoutLeftOut(const std::vector<Edge>& edges, std::span<const char> left_out) {
  const std::size_t calls = left_out.size();
  std::vector<std::vector<std::uint32_t>> after(calls);
  std::vector<std::uint32_t> pending(calls, 0);
  for (const Edge& edge : edges) {
    after[edge.from].push_back(edge.to);
    ++pending[edge.to];
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t c = 0; c < calls; ++c) {
    if (pending[c] == 0) ready.push_back(c);
  }
  std::vector<std::vector<std::uint32_t>> before(calls);  // Kept ones that a call waits for.
  std::vector<Edge> kept;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const std::uint32_t c = ready[i];
    std::sort(before[c].begin(), before[c].end());
    before[c].erase(std::unique(before[c].begin(), before[c].end()), before[c].end());
    for (const std::uint32_t next : after[c]) {
      if (left_out[c] == 0) {
        before[next].push_back(c);
      } else {
        before[next].insert(before[next].end(), before[c].begin(), before[c].end());
      }
      if (--pending[next] == 0) ready.push_back(next);
    }
    if (left_out[c] == 0) {
      for (const std::uint32_t from : before[c]) kept.push_back({from, c});
    }
  }
  return kept;
}

std::vector<Edge> SortedEdges(const Session& session, std::span<const char> left_out) {
  std::vector<Edge> edges = Edges(session);
  if (!left_out.empty()) edges = WithoutLeftOut(edges, left_out);
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  return edges;
}

}  // namespace

SessionGraph::SessionGraph(const Session& session, const DelayRule& rule,
                           std::span<const char> left_out)
    : left_out_(left_out.begin(), left_out.end()) {
  const std::size_t calls = session.calls.size();
  calls_ = static_cast<std::uint32_t>(calls) -
           static_cast<std::uint32_t>(std::count(left_out.begin(), left_out.end(), 1));
  const std::vector<Edge> edges = SortedEdges(session, left_out);
  begin_.assign(calls + 1, 0);
  predecessors_.assign(calls, 0);
  successors_.reserve(edges.size());
  for (const Edge& edge : edges) {
    ++begin_[edge.from + 1];
    ++predecessors_[edge.to];
    successors_.push_back(edge.to);
  }
  for (std::size_t c = 0; c < calls; ++c) begin_[c + 1] += begin_[c];
  SetDelays(session, rule);
  SetTimeline(session);
}

void SessionGraph::SetDelays(const Session& session, const DelayRule& rule) {
  const std::size_t calls = session.calls.size();
  std::vector<char> seen(session.streams.size(), 0);
  delay_.resize(calls);
  recorded_delay_.resize(calls);
  for (std::size_t c = 0; c < calls; ++c) {
    const Call& call = session.calls[c];
    const bool first = !seen[call.stream];
    seen[call.stream] = 1;
    const std::uint64_t offset_ms = first ? session.streams[call.stream].start_offset_ms : 0;
    recorded_delay_[c] = FromMillis(static_cast<std::int64_t>(offset_ms + call.delay_ms));
    delay_[c] = rule.Apply(recorded_delay_[c]);
  }
}

void SessionGraph::SetTimeline(const Session& session) {
  const std::size_t calls = session.calls.size();
  // A wave over the graph, each call when its last predecessor is done.
  release_.assign(calls, Duration{0});
  std::vector<std::uint32_t> pending = predecessors_;
  std::vector<std::uint32_t> ready;
  for (std::uint32_t c = 0; c < calls; ++c) {
    if (pending[c] == 0 && !left_out(c)) {
      release_[c] = delay_[c];
      ready.push_back(c);
    }
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const std::uint32_t c = ready[i];
    const Duration end = release_[c] + FromMillis(session.calls[c].service_ms);
    length_ = std::max(length_, end);
    for (const std::uint32_t next : successors(c)) {
      release_[next] = std::max(release_[next], end + delay_[next]);
      if (--pending[next] == 0) ready.push_back(next);
    }
  }
}

}  // namespace plimsoll
