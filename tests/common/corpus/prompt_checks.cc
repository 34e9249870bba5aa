#include "tests/common/corpus/prompt_checks.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kBlock = limits::kBlockTokens;
constexpr PromptKeys kKeys{.play = 11, .run = 22};

std::vector<MessageRange> Truncate(std::vector<MessageRange> messages, std::uint32_t tokens) {
  while (!messages.empty() && messages.back().first_token >= tokens) messages.pop_back();
  if (!messages.empty()) messages.back().end_token = std::min(messages.back().end_token, tokens);
  return messages;
}

// The naive model: messages of a call from its ref's, by the words of prompt.h.
class Model {
 public:
  explicit Model(const Session& session) : session_(session) {}

  // Calls in order. Returns the tokens kept of the ref.
  std::uint32_t Add(const Call& call) {
    const std::size_t index = messages_.size();
    const std::uint32_t prefix = session_.streams[call.stream].prefix_blocks * kBlock;
    std::vector<MessageRange> list;
    std::uint32_t kept = 0;
    bool whole = false;
    if (call.ref >= 0) {
      const auto at = static_cast<std::size_t>(call.ref);
      const Call& ref = session_.calls[at];
      whole = call.kept_blocks == ref.blocks() && call.tokens_in >= ref.tokens_in;
      if (whole && ref.tokens_in % kBlock != 0) whole = completed_.insert(call.ref).second;
      kept = whole ? ref.tokens_in : call.kept_blocks * kBlock;
      list = Truncate(messages_[at], kept);
    }
    std::uint32_t at = kept;
    const bool inside_system = list.empty() || list.back().role == Role::kSystem;
    if (inside_system && at < prefix) {
      list = {{Role::kSystem, 0, std::min(prefix, call.tokens_in)}};
      at = list.back().end_token;
    }
    if (at < call.tokens_in) {
      if (whole && Previous(index) == call.ref) {
        const std::uint32_t out = session_.calls[static_cast<std::size_t>(call.ref)].tokens_out;
        const std::uint32_t end = at + std::min(out, call.tokens_in - at - 1);
        if (end > at) list.push_back({Role::kAssistant, at, end});
        at = end;
      }
      list.push_back({Role::kUser, at, call.tokens_in});
    }
    if (list.back().role != Role::kUser) {
      list = Truncate(list, call.tokens_in - 1);
      list.push_back({Role::kUser, call.tokens_in - 1, call.tokens_in});
    }
    messages_.push_back(std::move(list));
    return kept;
  }

  const std::vector<MessageRange>& messages() const { return messages_.back(); }

 private:
  std::int32_t Previous(std::size_t index) const {
    for (std::size_t i = index; i-- > 0;) {
      if (session_.calls[i].stream == session_.calls[index].stream) {
        return static_cast<std::int32_t>(i);
      }
    }
    return -1;
  }

  const Session& session_;
  std::vector<std::vector<MessageRange>> messages_;
  std::set<std::int32_t> completed_;
};

std::string ShowMessages(const std::vector<MessageRange>& messages) {
  std::string text;
  for (const MessageRange& m : messages) {
    text += fmt::format(" {}[{},{})", "sua"[static_cast<int>(m.role)], m.first_token, m.end_token);
  }
  return text;
}

std::string BrokenShape(const Prompt& prompt, const Call& call) {
  if (prompt.tokens != call.tokens_in) return "length";
  std::uint32_t blocks = 0;
  for (const BlockSpan& span : prompt.spans) {
    if (span.count == 0) return "empty span";
    blocks += span.count;
  }
  for (std::size_t i = 1; i < prompt.spans.size(); ++i) {
    const BlockSpan& a = prompt.spans[i - 1];
    const BlockSpan& b = prompt.spans[i];
    if (a.key == b.key && a.first + a.count == b.first) return "spans that should be one";
  }
  if (blocks != (prompt.tokens + kBlock - 1) / kBlock) return "blocks covered";
  std::uint32_t at = 0;
  for (const MessageRange& message : prompt.messages) {
    if (message.first_token != at || message.end_token <= at) return "messages not adjacent";
    if (message.role == Role::kSystem && at != 0) return "system message not in front";
    at = message.end_token;
  }
  if (at != prompt.tokens) return "messages do not reach the end";
  if (prompt.messages.back().role != Role::kUser) return "last message is not the user's";
  return {};
}

}  // namespace

std::vector<BlockId> ExpandSpans(const Prompt& prompt) {
  std::vector<BlockId> ids;
  for (const BlockSpan& span : prompt.spans) {
    for (std::uint32_t i = 0; i < span.count; ++i) ids.push_back({span.key, span.first + i});
  }
  return ids;
}

std::string BrokenPromptRules(const Session& session) {
  std::string broken;
  const auto report = [&](std::size_t call, const std::string& what) {
    broken += fmt::format("{} call {}: {}\n", session.id, call, what);
  };
  const PromptIndex index(session);
  Model model(session);
  std::vector<std::vector<BlockId>> prompts;
  Prompt prompt;
  for (std::size_t i = 0; i < session.calls.size(); ++i) {
    const Call& call = session.calls[i];
    index.Build(i, kKeys, &prompt);
    if (const std::string shape = BrokenShape(prompt, call); !shape.empty()) report(i, shape);
    std::vector<BlockId> ids = ExpandSpans(prompt);
    const std::uint32_t kept = model.Add(call);
    if (prompt.messages != model.messages()) {
      report(i, fmt::format("messages are{}, should be{}", ShowMessages(prompt.messages),
                            ShowMessages(model.messages())));
    }
    if (call.ref >= 0) {
      const std::vector<BlockId>& ref = prompts[static_cast<std::size_t>(call.ref)];
      const auto blocks = static_cast<std::ptrdiff_t>((kept + kBlock - 1) / kBlock);
      if (!std::equal(ids.begin(), ids.begin() + blocks, ref.begin())) {
        report(i, fmt::format("its first {} tokens are not its ref's", kept));
      }
    }
    prompts.push_back(std::move(ids));
  }
  return broken;
}

std::uint64_t CacheHits(const Session& session) {
  const PromptIndex index(session);
  const auto hash = [](const BlockId& block) { return MixKey(block.key, block.id); };
  std::unordered_set<BlockId, decltype(hash)> seen;
  std::uint64_t hits = 0;
  Prompt prompt;
  for (std::size_t i = 0; i < session.calls.size(); ++i) {
    index.Build(i, kKeys, &prompt);
    std::vector<BlockId> ids = ExpandSpans(prompt);
    ids.resize(session.calls[i].blocks());
    std::size_t b = 0;
    while (b < ids.size() && seen.contains(ids[b])) ++b;
    hits += b;
    for (; b < ids.size(); ++b) seen.insert(ids[b]);
  }
  return hits;
}

}  // namespace plimsoll
