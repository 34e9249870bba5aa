#include "common/corpus/validate.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace plimsoll {
namespace {

constexpr std::uint8_t kFlagsKnown =
    kUserTurn | kToolTurn | kRewrite | kServiceImputed | kStopToolUse;
// Ordinals of fresh blocks stay below the identities of tails; see prompt.cc.
constexpr std::uint64_t kFreshBlocksMax = 0x80000000u;
constexpr std::size_t kModelsMax = 0xffff;

Status Wrong(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

Status CheckCall(const Session& session, std::size_t index, std::size_t models) {
  const Call& call = session.calls[index];
  const auto wrong = [&](std::string what) {
    return Wrong(fmt::format("call {}: {}", index, what));
  };
  if (call.stream >= session.streams.size()) {
    return wrong(fmt::format("stream {} of {}", call.stream, session.streams.size()));
  }
  if (call.tokens_in == 0 || call.tokens_in > limits::kPromptTokensMax) {
    return wrong(fmt::format("a prompt of {} tokens; 1 to {} are allowed", call.tokens_in,
                             limits::kPromptTokensMax));
  }
  if (call.tokens_out > limits::kPromptTokensMax) {
    return wrong(fmt::format("an answer of {} tokens; at most {} are allowed", call.tokens_out,
                             limits::kPromptTokensMax));
  }
  if (call.ref < -1 || call.ref >= static_cast<std::int64_t>(index)) {
    return wrong(fmt::format("refers to call {}, which is not an earlier one", call.ref));
  }
  const std::uint32_t keepable =
      call.ref < 0 ? 0 : session.calls[static_cast<std::size_t>(call.ref)].blocks();
  if (call.kept_blocks > keepable || call.kept_blocks > call.blocks()) {
    return wrong(fmt::format("keeps {} blocks of {}, its prompt has {}", call.kept_blocks, keepable,
                             call.blocks()));
  }
  if (call.model >= models) return wrong(fmt::format("model {} of {}", call.model, models));
  if ((call.flags & ~kFlagsKnown) != 0) return wrong(fmt::format("unknown flags {}", call.flags));
  if (index > 0 && call.start_ms < session.calls[index - 1].start_ms) {
    return wrong("starts before the call in front of it");
  }
  return absl::OkStatus();
}

Status CheckStream(const Session& session, std::size_t index) {
  const Stream& stream = session.streams[index];
  const auto wrong = [&](std::string what) {
    return Wrong(fmt::format("stream {}: {}", index, what));
  };
  const auto calls = static_cast<std::int64_t>(session.calls.size());
  if (stream.prefix_blocks > limits::kPromptTokensMax / limits::kBlockTokens) {
    return wrong(fmt::format("a shared prefix of {} blocks", stream.prefix_blocks));
  }
  if (stream.parent_call < -1 || stream.parent_call >= calls || stream.join_call < -1 ||
      stream.join_call >= calls) {
    return wrong(fmt::format("parent call {} and join call {} of {} calls", stream.parent_call,
                             stream.join_call, calls));
  }
  if (index == 0 && (stream.parent_call >= 0 || stream.join_call >= 0)) {
    return wrong("the main stream has a parent or a join");
  }
  std::uint32_t parent_stream = 0;
  if (stream.parent_call >= 0) {
    parent_stream = session.calls[static_cast<std::size_t>(stream.parent_call)].stream;
    if (parent_stream == index) return wrong("is its own parent");
  }
  if (stream.join_call >= 0) {
    if (session.calls[static_cast<std::size_t>(stream.join_call)].stream != parent_stream) {
      return wrong("joins a stream that is not its parent");
    }
    if (stream.join_call <= stream.parent_call) return wrong("joins before its parent call ended");
  }
  return absl::OkStatus();
}

// Releases every call as a replay would; one that is never released waits for itself.
Status CheckWaits(const Session& session) {
  const std::size_t count = session.calls.size();
  const auto at = [](std::int32_t call) { return static_cast<std::size_t>(call); };
  std::vector<std::int32_t> first(session.streams.size(), -1);
  std::vector<std::int32_t> last(session.streams.size(), -1);
  std::vector<std::int32_t> next(count, -1);
  std::vector<std::uint32_t> waits(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t& tail = last[session.calls[i].stream];
    if (tail >= 0) {
      next[at(tail)] = static_cast<std::int32_t>(i);
      ++waits[i];
    } else {
      first[session.calls[i].stream] = static_cast<std::int32_t>(i);
    }
    tail = static_cast<std::int32_t>(i);
  }
  std::vector<std::vector<std::int32_t>> releases(count);
  for (std::size_t s = 0; s < session.streams.size(); ++s) {
    if (first[s] < 0) return Wrong(fmt::format("stream {}: has no call", s));
    const Stream& stream = session.streams[s];
    if (stream.parent_call >= 0) {
      releases[at(stream.parent_call)].push_back(first[s]);
      ++waits[at(first[s])];
    }
    if (stream.join_call >= 0) {
      releases[at(last[s])].push_back(stream.join_call);
      ++waits[at(stream.join_call)];
    }
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (waits[i] == 0) ready.push_back(i);
  }
  std::size_t released = 0;
  while (!ready.empty()) {
    const std::size_t call = ready.back();
    ready.pop_back();
    ++released;
    if (next[call] >= 0) releases[call].push_back(next[call]);
    for (const std::int32_t other : releases[call]) {
      if (--waits[at(other)] == 0) ready.push_back(at(other));
    }
  }
  if (released == count) return absl::OkStatus();
  const auto stuck = std::find_if(waits.begin(), waits.end(), [](auto n) { return n > 0; });
  return Wrong(fmt::format("call {}: waits for a call that waits for it", stuck - waits.begin()));
}

}  // namespace

Status ValidateSession(const Session& session, std::size_t models) {
  const std::size_t count = session.calls.size();
  if (count == 0 || count > limits::kCallsPerSessionMax) {
    return Wrong(fmt::format("{} calls; 1 to {} are allowed", count, limits::kCallsPerSessionMax));
  }
  if (session.streams.empty() || session.streams.size() > count) {
    return Wrong(fmt::format("{} streams for {} calls", session.streams.size(), count));
  }
  std::uint64_t fresh = 0;
  for (std::size_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(CheckCall(session, i, models));
    fresh += session.calls[i].fresh_blocks();
  }
  if (fresh >= kFreshBlocksMax) {
    return Wrong(
        fmt::format("{} different blocks; fewer than {} are allowed", fresh, kFreshBlocksMax));
  }
  for (std::size_t i = 0; i < session.streams.size(); ++i) {
    RETURN_IF_ERROR(CheckStream(session, i));
  }
  return CheckWaits(session);
}

Status ValidateCorpus(const Corpus& corpus) {
  if (corpus.models.size() > kModelsMax) {
    return Wrong(
        fmt::format("{} models; at most {} are allowed", corpus.models.size(), kModelsMax));
  }
  for (std::size_t i = 0; i < corpus.sessions.size(); ++i) {
    const Session& session = corpus.sessions[i];
    RETURN_IF_ERROR(Annotate(ValidateSession(session, corpus.models.size()),
                             fmt::format("session {} ({})", i, session.id)));
  }
  return absl::OkStatus();
}

}  // namespace plimsoll
