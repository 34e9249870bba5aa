// The engine model's KV cache: a radix tree over runs of blocks, so that a prompt of two thousand
// blocks in three runs costs about three node visits, with LRU eviction. Pure.
//
// Every block of the cache is in one of three states: private to a running request (partial last
// blocks, output, prompts not yet computed), cached (a node of the tree; in use while a running
// request's prefix leads through it, evictable otherwise), or free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/rng.h"
#include "common/corpus/prompt.h"

namespace plimsoll {

class PrefixCache {
 public:
  // A node stands for the prefix from the root to its own end. Valid while acquired.
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;

  struct Match {
    Node node = kRoot;
    std::uint32_t blocks = 0;
  };

  explicit PrefixCache(std::uint32_t capacity_blocks);

  // The longest cached prefix of `blocks`, at most `max_blocks` of them.
  Match Find(std::span<const BlockSpan> blocks, std::uint32_t max_blocks);

  // Holds the node and its ancestors against eviction. Calls nest; the root is free.
  void Acquire(Node node);
  void Release(Node node);

  // Takes `count` private blocks, evicting the least recently released leaves, tail first, as far
  // as needed. False, and nothing changed, when not even that makes room.
  bool Reserve(std::uint32_t count);
  void Unreserve(std::uint32_t count);

  // The caller holds `held`, which covers blocks [0, from) of `blocks`. Turns its private blocks
  // [from, to) into cached ones and moves its hold to the returned node, which covers [0, to). A
  // block that is already cached gives its private copy back to the free ones.
  Node Insert(Node held, std::span<const BlockSpan> blocks, std::uint32_t from, std::uint32_t to);

  std::uint32_t capacity() const { return capacity_; }
  // Private and in-use blocks: what running requests hold.
  std::uint32_t held_blocks() const { return private_ + in_use_; }
  std::uint32_t cached_blocks() const { return cached_; }
  std::size_t nodes() const { return edges_.size(); }
  // Nodes looked at since the start, for the test of cost.
  std::uint64_t visits() const { return visits_; }

 private:
  struct NodeData {
    std::uint64_t key = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    Node parent = kRoot;
    std::uint32_t children = 0;
    // Holds of its own, plus one for each child that is in use: so ancestors are in use too, and
    // taking or giving a hold stops at the first ancestor that is in use anyway.
    std::uint32_t refs = 0;
    bool in_lru = false;
    std::uint64_t last_used = 0;
  };
  // A child is found by its parent and its first block.
  struct Edge {
    Node parent;
    std::uint32_t first;
    std::uint64_t key;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  struct EdgeHash {
    std::size_t operator()(const Edge& e) const {
      return MixKey(e.key, (std::uint64_t{e.parent} << 32) | e.first);
    }
  };

  Node Child(Node parent, std::uint64_t key, std::uint32_t first);
  Node NewNode();
  Node AddChild(Node parent, const BlockSpan& run);
  Node SplitAfter(Node node, std::uint32_t count);
  bool CanExtend(Node node, Node held, const BlockSpan& run) const;
  void Evict(std::uint32_t count);
  void RemoveLeaf(Node node);
  void AddToLru(Node node);
  void DropFromLru(Node node);

  std::uint32_t capacity_;
  std::uint32_t private_ = 0;
  std::uint32_t cached_ = 0;
  std::uint32_t in_use_ = 0;  // Part of cached_.
  std::uint64_t clock_ = 0;   // Order of releases.
  std::uint64_t visits_ = 0;
  std::vector<NodeData> nodes_;
  std::vector<Node> free_;
  std::unordered_map<Edge, Node, EdgeHash> edges_;
  std::set<std::pair<std::uint64_t, Node>> lru_;  // Leaves not in use, by last_used.
};

}  // namespace plimsoll
