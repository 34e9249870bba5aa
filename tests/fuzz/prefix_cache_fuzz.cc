// Fuzz target: the engine model's prefix cache against a plain model that knows every cached prefix
// by name and looks at all of them each time. The bytes are requests that come, compute part of
// their prompt and go, up to eight at once, in a cache of a few dozen blocks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "gateway/engine/prefix_cache.h"

namespace {

using plimsoll::BlockSpan;
using plimsoll::PrefixCache;
using Prefix = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

void Require(bool condition) {
  if (!condition) std::abort();
}

class PlainCache {
 public:
  explicit PlainCache(std::uint32_t capacity) : capacity_(capacity) {}

  std::uint32_t Find(const Prefix& blocks, std::uint32_t max_blocks) const {
    std::uint32_t found = 0;
    while (found < max_blocks && entries_.contains(Cut(blocks, found + 1))) ++found;
    return found;
  }
  void Acquire(const Prefix& blocks, std::uint32_t count) {
    for (std::uint32_t n = 1; n <= count; ++n) ++entries_.at(Cut(blocks, n)).holds;
  }
  void Release(const Prefix& blocks, std::uint32_t count) {
    ++clock_;
    for (std::uint32_t n = 1; n <= count; ++n) {
      Entry& entry = entries_.at(Cut(blocks, n));
      if (--entry.holds == 0) entry.last_used = clock_;
    }
  }
  bool Reserve(std::uint32_t count) {
    if (held() + count > capacity_) return false;
    while (private_ + cached() + count > capacity_) EvictOne();
    private_ += count;
    return true;
  }
  void Unreserve(std::uint32_t count) { private_ -= count; }
  void Insert(const Prefix& blocks, std::uint32_t from, std::uint32_t to) {
    private_ -= to - from;
    for (std::uint32_t n = from + 1; n <= to; ++n) entries_.try_emplace(Cut(blocks, n));
    Acquire(blocks, to);
    Release(blocks, from);
  }
  std::uint32_t held() const {
    return private_ + static_cast<std::uint32_t>(
                          std::count_if(entries_.begin(), entries_.end(),
                                        [](const auto& entry) { return entry.second.holds > 0; }));
  }
  std::uint32_t cached() const { return static_cast<std::uint32_t>(entries_.size()); }

 private:
  struct Entry {
    std::uint32_t holds = 0;
    std::uint64_t last_used = 0;
  };

  static Prefix Cut(const Prefix& blocks, std::uint32_t count) {
    return {blocks.begin(), blocks.begin() + count};
  }
  // In lexical order the first prefix after `at` is a longer one of it, if there is any.
  bool IsLeaf(std::map<Prefix, Entry>::const_iterator at) const {
    const auto next = std::next(at);
    return next == entries_.end() || next->first.size() <= at->first.size() ||
           !std::equal(at->first.begin(), at->first.end(), next->first.begin());
  }
  void EvictOne() {
    auto oldest = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->second.holds > 0 || !IsLeaf(at)) continue;
      if (oldest == entries_.end() || at->second.last_used < oldest->second.last_used) oldest = at;
    }
    Require(oldest != entries_.end());
    entries_.erase(oldest);
  }

  std::uint32_t capacity_;
  std::uint32_t private_ = 0;
  std::uint64_t clock_ = 0;
  std::map<Prefix, Entry> entries_;  // By the prefix that ends in the block.
};

struct Request {
  std::vector<BlockSpan> spans;
  Prefix blocks;
  PrefixCache::Node node = PrefixCache::kRoot;
  std::uint32_t done = 0;  // Blocks that are cached and held.
};

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : left_(data, size) {}
  bool empty() const { return left_.empty(); }
  // Below `bound`; 0 once the bytes are used up.
  std::uint32_t Below(std::uint32_t bound) {
    if (left_.empty()) return 0;
    const std::uint32_t value = left_.front() % bound;
    left_ = left_.subspan(1);
    return value;
  }

 private:
  std::span<const std::uint8_t> left_;
};

Request NextRequest(Bytes& bytes) {
  Request request;
  const std::uint32_t runs = 1 + bytes.Below(3);
  for (std::uint32_t i = 0; i < runs; ++i) {
    const std::uint32_t shape = bytes.Below(256);  // Few keys and starts, so that prefixes meet.
    const BlockSpan run{shape % 3, shape / 3 % 2 * 5, 1 + shape / 6 % 12};
    request.spans.push_back(run);
    for (std::uint32_t b = 0; b < run.count; ++b)
      request.blocks.emplace_back(run.key, run.first + b);
  }
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kBytesMax = 400;  // The model is slow.
  constexpr std::size_t kRequestsMax = 8;
  Bytes bytes(data, std::min(size, kBytesMax));
  const std::uint32_t capacity = 1 + bytes.Below(64);
  PrefixCache cache(capacity);
  PlainCache plain(capacity);
  std::vector<Request> running;
  while (!bytes.empty()) {
    const std::uint32_t action = bytes.Below(4);
    if (action < 2 && running.size() < kRequestsMax) {  // One comes.
      Request request = NextRequest(bytes);
      const auto count = static_cast<std::uint32_t>(request.blocks.size());
      const std::uint32_t max_blocks = bytes.Below(2) == 0 ? count : bytes.Below(count + 1);
      const PrefixCache::Match match = cache.Find(request.spans, max_blocks);
      Require(match.blocks == plain.Find(request.blocks, max_blocks));
      request.node = match.node;
      request.done = match.blocks;
      cache.Acquire(match.node);
      plain.Acquire(request.blocks, match.blocks);
      const bool room = cache.Reserve(count - match.blocks);
      Require(room == plain.Reserve(count - match.blocks));
      if (room) {
        running.push_back(std::move(request));
      } else {
        cache.Release(request.node);
        plain.Release(request.blocks, request.done);
      }
    } else if (!running.empty()) {
      const std::size_t which = bytes.Below(static_cast<std::uint32_t>(running.size()));
      Request& request = running[which];
      const auto count = static_cast<std::uint32_t>(request.blocks.size());
      if (action == 2) {  // Computes some blocks.
        const std::uint32_t to = request.done + bytes.Below(count - request.done + 1);
        request.node = cache.Insert(request.node, request.spans, request.done, to);
        plain.Insert(request.blocks, request.done, to);
        request.done = to;
      } else {  // Goes; what it has not computed is lost.
        cache.Unreserve(count - request.done);
        plain.Unreserve(count - request.done);
        cache.Release(request.node);
        plain.Release(request.blocks, request.done);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    Require(cache.held_blocks() == plain.held() && cache.cached_blocks() == plain.cached());
    Require(cache.held_blocks() <= capacity);
  }
  return 0;
}
