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
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  return edges;
}

}  // namespace

SessionGraph::SessionGraph(const Session& session, const DelayRule& rule) {
  const std::size_t calls = session.calls.size();
  const std::vector<Edge> edges = Edges(session);
  begin_.assign(calls + 1, 0);
  predecessors_.assign(calls, 0);
  successors_.reserve(edges.size());
  for (const Edge& edge : edges) {
    ++begin_[edge.from + 1];
    ++predecessors_[edge.to];
    successors_.push_back(edge.to);
  }
  for (std::size_t c = 0; c < calls; ++c) begin_[c + 1] += begin_[c];

  std::vector<char> seen(session.streams.size(), 0);
  delay_.resize(calls);
  for (std::size_t c = 0; c < calls; ++c) {
    const Call& call = session.calls[c];
    const bool first = !seen[call.stream];
    seen[call.stream] = 1;
    delay_[c] = rule.Apply(first ? session.streams[call.stream].start_offset_ms + call.delay_ms
                                 : call.delay_ms);
  }

  // A wave over the graph, each call when its last predecessor is done.
  release_.assign(calls, Duration{0});
  std::vector<std::uint32_t> pending = predecessors_;
  std::vector<std::uint32_t> ready;
  for (std::uint32_t c = 0; c < calls; ++c) {
    if (pending[c] == 0) {
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
