#include "common/corpus/prompt.h"

#include <algorithm>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kBlock = limits::kBlockTokens;
// Identities of tails that no later call completes. ValidateCorpus() keeps the ordinals of fresh
// blocks below it.
constexpr std::uint32_t kFillerId = 0x80000000u;

// Adds blocks that lie directly before those added last; spans are collected from back to front.
void PrependSpan(std::uint64_t key, std::uint32_t first, std::uint32_t count,
                 std::vector<BlockSpan>* spans) {
  if (!spans->empty()) {
    BlockSpan& next = spans->back();
    if (next.key == key && first + count == next.first) {
      next.first = first;
      next.count += count;
      return;
    }
  }
  spans->push_back({.key = key, .first = first, .count = count});
}

}  // namespace

PromptIndex::PromptIndex(const Session& session) : session_(session) {
  const std::size_t count = session.calls.size();
  nodes_.resize(count);
  std::vector<std::int32_t> last_of_stream(session.streams.size(), -1);
  std::vector<std::int32_t> continuation(count, -1);
  std::uint32_t fresh = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Call& call = session.calls[i];
    Node& node = nodes_[i];
    const std::int32_t previous = last_of_stream[call.stream];
    last_of_stream[call.stream] = static_cast<std::int32_t>(i);
    node.ref = call.ref;
    node.stream = call.stream;
    node.tokens = call.tokens_in;
    node.blocks = call.blocks();
    node.kept_blocks = call.kept_blocks;
    node.first_fresh = fresh;
    fresh += call.fresh_blocks();
    // A later call that leaves the shared prefix has rewritten it: its text there is its own.
    node.class_blocks = previous < 0 ? session.streams[call.stream].prefix_blocks : 0;
    PlaceMessages(i, previous, &continuation);
  }
  for (std::size_t i = count; i-- > 0;) PlaceTail(i, continuation[i]);
}

void PromptIndex::PlaceMessages(std::size_t call, std::int32_t previous,
                                std::vector<std::int32_t>* continuation) {
  Node& node = nodes_[call];
  const std::uint32_t own_system = session_.streams[node.stream].prefix_blocks * kBlock;
  if (node.ref < 0) {
    node.begin = node.answer_end = 0;
    node.system_end = std::min(own_system, node.tokens - 1);
    return;
  }
  const auto ref_index = static_cast<std::size_t>(node.ref);
  const Node& ref = nodes_[ref_index];
  bool whole = node.kept_blocks == ref.blocks && node.tokens >= ref.tokens;
  if (whole && ref.tokens % kBlock != 0) {
    // A tail can be completed by one call only; to the others its text is different.
    std::int32_t& first = (*continuation)[ref_index];
    if (first < 0) first = static_cast<std::int32_t>(call);
    whole = first == static_cast<std::int32_t>(call);
  }
  const std::uint32_t kept = whole ? ref.tokens : node.kept_blocks * kBlock;
  node.begin = node.answer_end = kept;
  // A cut that leaves nothing but a system message is followed by this call's own one.
  node.system_end = kept > ref.system_end ? ref.system_end : std::max(kept, own_system);
  node.system_end = std::min(node.system_end, node.tokens - 1);
  if (kept < node.tokens) {
    if (whole && previous == node.ref) {
      const std::uint32_t answer = session_.calls[ref_index].tokens_out;
      node.answer_end = kept + std::min(answer, node.tokens - kept - 1);
    }
  } else if (!EndsInUserMessage(ref_index, kept)) {
    node.begin = node.answer_end = kept - 1;
  }
}

bool PromptIndex::EndsInUserMessage(std::size_t call, std::uint32_t tokens) const {
  const std::uint32_t last = tokens - 1;
  if (last < nodes_[call].system_end) return false;
  const Node* node = &nodes_[call];
  while (node->begin > last) node = &nodes_[static_cast<std::size_t>(node->ref)];
  return last >= node->answer_end;
}

void PromptIndex::PlaceTail(std::size_t call, std::int32_t continuation) {
  Node& node = nodes_[call];
  if (node.tokens % kBlock == 0) return;
  if (continuation < 0) {
    const bool shared = node.blocks < node.class_blocks;
    node.tail_stream = shared ? static_cast<std::int32_t>(node.stream) : -1;
    node.tail_id = shared ? node.blocks : kFillerId + static_cast<std::uint32_t>(call);
    return;
  }
  const Node& next = nodes_[static_cast<std::size_t>(continuation)];
  if (next.blocks == next.kept_blocks) {  // It only lengthens the tail.
    node.tail_stream = next.tail_stream;
    node.tail_id = next.tail_id;
  } else if (next.kept_blocks < next.class_blocks) {
    node.tail_stream = static_cast<std::int32_t>(next.stream);
    node.tail_id = next.kept_blocks;
  } else {
    node.tail_stream = -1;
    node.tail_id = next.first_fresh;
  }
}

std::uint64_t PromptIndex::ClassKey(std::uint32_t stream, const PromptKeys& keys) const {
  return MixKey(keys.run, session_.streams[stream].prefix_class);
}

void PromptIndex::Build(std::size_t call, const PromptKeys& keys, Prompt* prompt,
                        std::vector<AnswerRange>* answers) const {
  const Node& own = nodes_[call];
  std::vector<BlockSpan>& spans = prompt->spans;
  std::vector<MessageRange>& messages = prompt->messages;
  prompt->tokens = own.tokens;
  spans.clear();
  messages.clear();
  if (answers != nullptr) answers->clear();
  if (own.tokens % kBlock != 0) {
    const bool shared = own.tail_stream >= 0;
    spans.push_back(
        {.key = shared ? ClassKey(static_cast<std::uint32_t>(own.tail_stream), keys) : keys.play,
         .first = own.tail_id,
         .count = 1});
  }
  // From the prompt's end to its beginning: each ancestor adds what it brought and nobody cut.
  std::uint32_t blocks = own.blocks;
  std::uint32_t tokens = own.tokens;
  for (const Node* node = &own;; node = &nodes_[static_cast<std::size_t>(node->ref)]) {
    if (node->kept_blocks < blocks) {
      const std::uint32_t shared_end = std::clamp(node->class_blocks, node->kept_blocks, blocks);
      if (shared_end < blocks) {
        PrependSpan(keys.play, node->first_fresh + (shared_end - node->kept_blocks),
                    blocks - shared_end, &spans);
      }
      if (node->kept_blocks < shared_end) {
        PrependSpan(ClassKey(node->stream, keys), node->kept_blocks, shared_end - node->kept_blocks,
                    &spans);
      }
      blocks = node->kept_blocks;
    }
    const std::uint32_t from = std::max(node->begin, own.system_end);
    if (from < tokens) {
      const std::uint32_t answer_end = std::clamp(node->answer_end, from, tokens);
      if (answer_end < tokens) messages.push_back({Role::kUser, answer_end, tokens});
      if (from < answer_end) {
        if (answers != nullptr) {
          answers->push_back({.message = static_cast<std::uint32_t>(messages.size()),
                              .call = static_cast<std::uint32_t>(node->ref),
                              .tokens = node->answer_end - node->begin});
        }
        messages.push_back({Role::kAssistant, from, answer_end});
      }
      tokens = from;
    }
    if (node->ref < 0 || (blocks == 0 && tokens <= own.system_end)) break;
  }
  if (own.system_end > 0) messages.push_back({Role::kSystem, 0, own.system_end});
  std::reverse(spans.begin(), spans.end());
  std::reverse(messages.begin(), messages.end());
  if (answers == nullptr) return;
  std::reverse(answers->begin(), answers->end());
  for (AnswerRange& answer : *answers) {
    answer.message = static_cast<std::uint32_t>(messages.size()) - 1 - answer.message;
  }
}

}  // namespace plimsoll
