#include "gateway/engine/prefix_cache.h"

#include <algorithm>

#include "common/base/check.h"

namespace plimsoll {

PrefixCache::PrefixCache(std::uint32_t capacity_blocks) : capacity_(capacity_blocks) {
  nodes_.emplace_back();  // The root: never counted, never evicted.
}

PrefixCache::Match PrefixCache::Find(std::span<const BlockSpan> blocks, std::uint32_t max_blocks) {
  Match match;
  for (BlockSpan run : blocks) {
    while (run.count > 0) {
      if (match.blocks == max_blocks) return match;
      const Node child = Child(match.node, run.key, run.first);
      if (child == kRoot) return match;
      const std::uint32_t wanted = std::min(run.count, max_blocks - match.blocks);
      const std::uint32_t common = std::min(wanted, nodes_[child].count);
      match.node = common < nodes_[child].count ? SplitAfter(child, common) : child;
      match.blocks += common;
      run.first += common;
      run.count -= common;
    }
  }
  return match;
}

void PrefixCache::Acquire(Node node) {
  while (node != kRoot) {
    NodeData& data = nodes_[node];
    if (data.refs++ > 0) return;
    in_use_ += data.count;
    DropFromLru(node);
    node = data.parent;
  }
}

void PrefixCache::Release(Node node) {
  ++clock_;
  while (node != kRoot) {
    NodeData& data = nodes_[node];
    PLIMSOLL_CHECK(data.refs > 0);
    if (--data.refs > 0) return;
    in_use_ -= data.count;
    data.last_used = clock_;
    if (data.children == 0) AddToLru(node);
    node = data.parent;
  }
}

bool PrefixCache::Reserve(std::uint32_t count) {
  if (count > capacity_ - private_ - in_use_) return false;
  const std::uint32_t free = capacity_ - private_ - cached_;
  if (count > free) Evict(count - free);
  private_ += count;
  return true;
}

void PrefixCache::Unreserve(std::uint32_t count) {
  PLIMSOLL_CHECK(count <= private_);
  private_ -= count;
}

PrefixCache::Node PrefixCache::Insert(Node held, std::span<const BlockSpan> blocks,
                                      std::uint32_t from, std::uint32_t to) {
  Unreserve(to - from);
  Node at = held;
  std::uint32_t skip = from;
  std::uint32_t left = to - from;
  for (BlockSpan run : blocks) {
    const std::uint32_t skipped = std::min(skip, run.count);
    skip -= skipped;
    run.first += skipped;
    run.count = std::min(run.count - skipped, left);
    left -= run.count;
    while (run.count > 0) {
      const Node child = Child(at, run.key, run.first);
      if (child == kRoot) {
        if (CanExtend(at, held, run)) {
          NodeData& data = nodes_[at];
          data.count += run.count;
          cached_ += run.count;
          if (data.refs > 0) in_use_ += run.count;
        } else {
          at = AddChild(at, run);
        }
        break;
      }
      const std::uint32_t common = std::min(run.count, nodes_[child].count);
      at = common < nodes_[child].count ? SplitAfter(child, common) : child;
      run.first += common;
      run.count -= common;
    }
  }
  Acquire(at);
  Release(held);
  return at;
}

PrefixCache::Node PrefixCache::Child(Node parent, std::uint64_t key, std::uint32_t first) {
  ++visits_;
  const auto found = edges_.find(Edge{parent, first, key});
  return found == edges_.end() ? kRoot : found->second;
}

PrefixCache::Node PrefixCache::NewNode() {
  if (free_.empty()) {
    nodes_.emplace_back();
    return static_cast<Node>(nodes_.size() - 1);
  }
  const Node node = free_.back();
  free_.pop_back();
  nodes_[node] = NodeData{};
  return node;
}

PrefixCache::Node PrefixCache::AddChild(Node parent, const BlockSpan& run) {
  const Node node = NewNode();
  NodeData& data = nodes_[node];
  data.key = run.key;
  data.first = run.first;
  data.count = run.count;
  data.parent = parent;
  cached_ += run.count;
  DropFromLru(parent);
  ++nodes_[parent].children;
  edges_.emplace(Edge{parent, run.first, run.key}, node);
  return node;
}

// Cuts the node after `count` blocks; the new upper part is returned, and the lower part keeps the
// id, the children and the holds.
PrefixCache::Node PrefixCache::SplitAfter(Node node, std::uint32_t count) {
  const Node upper = NewNode();  // May move nodes_: references only from here on.
  NodeData& low = nodes_[node];
  NodeData& up = nodes_[upper];
  up.key = low.key;
  up.first = low.first;
  up.count = count;
  up.parent = low.parent;
  up.children = 1;
  up.refs = low.refs > 0 ? 1 : 0;
  up.last_used = low.last_used;
  edges_[Edge{up.parent, up.first, up.key}] = upper;
  low.first += count;
  low.count -= count;
  low.parent = upper;
  edges_.emplace(Edge{upper, low.first, low.key}, node);
  return upper;
}

// A leaf that nobody else holds grows in place, so a growing conversation stays one node.
bool PrefixCache::CanExtend(Node node, Node held, const BlockSpan& run) const {
  const NodeData& data = nodes_[node];
  return node != kRoot && data.children == 0 && data.key == run.key &&
         data.first + data.count == run.first &&
         (data.refs == 0 || (node == held && data.refs == 1));
}

void PrefixCache::Evict(std::uint32_t count) {
  while (count > 0) {
    PLIMSOLL_CHECK(!lru_.empty());
    const Node node = lru_.begin()->second;
    NodeData& data = nodes_[node];
    const std::uint32_t cut = std::min(count, data.count);
    cached_ -= cut;
    count -= cut;
    data.count -= cut;
    if (data.count == 0) RemoveLeaf(node);
  }
}

void PrefixCache::RemoveLeaf(Node node) {
  DropFromLru(node);
  const NodeData& data = nodes_[node];
  const Node parent = data.parent;
  edges_.erase(Edge{parent, data.first, data.key});
  free_.push_back(node);
  if (--nodes_[parent].children == 0 && nodes_[parent].refs == 0) AddToLru(parent);
}

void PrefixCache::AddToLru(Node node) {
  if (node == kRoot) return;
  nodes_[node].in_lru = true;
  lru_.emplace(nodes_[node].last_used, node);
}

void PrefixCache::DropFromLru(Node node) {
  if (!nodes_[node].in_lru) return;
  nodes_[node].in_lru = false;
  lru_.erase({nodes_[node].last_used, node});
}

}  // namespace plimsoll
