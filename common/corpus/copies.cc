#include "common/corpus/copies.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace plimsoll {
namespace {

std::uint64_t PairOf(const Call& call) {
  return (std::uint64_t{call.tokens_in} << 32) | call.tokens_out;
}

CallKeys KeysOf(const Session& session) {
  CallKeys keys;
  for (const Call& call : session.calls) keys.push_back(PairOf(call));
  return keys;
}

using Counts = std::unordered_map<std::uint64_t, std::size_t>;

Counts CountKeys(const CallKeys& keys) {
  Counts counts;
  for (const std::uint64_t key : keys) ++counts[key];
  return counts;
}

}  // namespace

std::vector<Copy> FindCopies(const Corpus& corpus, const std::vector<CallKeys>& keys) {
  const std::vector<Session>& sessions = corpus.sessions;
  std::vector<CallKeys> own(sessions.size());
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    own[i] = i < keys.size() && keys[i].size() == sessions[i].calls.size() ? keys[i]
                                                                           : KeysOf(sessions[i]);
  }
  std::vector<std::size_t> longest_first(sessions.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(), [&](std::size_t a, std::size_t b) {
    return sessions[a].calls.size() > sessions[b].calls.size();
  });
  std::vector<Copy> copies;
  // Of each key, the sessions that stay and have it, and how often.
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::size_t, std::size_t>>> kept;
  for (const std::size_t index : longest_first) {
    const Counts counts = CountKeys(own[index]);
    std::unordered_map<std::size_t, std::size_t> shared;
    for (const auto& [key, count] : counts) {
      const auto at = kept.find(key);
      if (at == kept.end()) continue;
      for (const auto& [other, times] : at->second) shared[other] += std::min(count, times);
    }
    Copy best{.session = index};
    for (const auto& [other, calls] : shared) {
      const bool better = calls > best.shared || (calls == best.shared && other < best.original);
      if (better) best = {.session = index, .original = other, .shared = calls};
    }
    if (best.shared > 0 && 2 * best.shared >= sessions[index].calls.size()) {
      best.exact = own[index] == own[best.original];
      copies.push_back(best);
      continue;
    }
    for (const auto& [key, count] : counts) kept[key].emplace_back(index, count);
  }
  std::sort(copies.begin(), copies.end(),
            [](const Copy& a, const Copy& b) { return a.session < b.session; });
  return copies;
}

void DropCopies(const std::vector<Copy>& copies, Corpus* corpus) {
  std::vector<bool> drop(corpus->sessions.size(), false);
  for (const Copy& copy : copies) drop[copy.session] = true;
  std::size_t to = 0;
  for (std::size_t from = 0; from < corpus->sessions.size(); ++from) {
    if (drop[from]) continue;
    if (to != from) corpus->sessions[to] = std::move(corpus->sessions[from]);
    ++to;
  }
  corpus->sessions.resize(to);
}

}  // namespace plimsoll
