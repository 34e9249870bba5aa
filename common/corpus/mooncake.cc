#include "common/corpus/mooncake.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/base/rng.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kLineBlock = 512;
constexpr std::uint32_t kParts = kLineBlock / limits::kBlockTokens;
constexpr std::size_t kLinesMax = 10'000'000;

// The ids of the full 64-token blocks inside a prompt's 512-token ones.
std::vector<std::uint32_t> Split(const std::vector<std::uint32_t>& ids, std::uint32_t tokens) {
  const std::uint32_t blocks = tokens / limits::kBlockTokens;
  std::vector<std::uint32_t> parts;
  parts.reserve(blocks);
  for (std::uint32_t b = 0; b < blocks; ++b) parts.push_back(ids[b / kParts] * kParts + b % kParts);
  return parts;
}

}  // namespace

std::int64_t EstimatedServiceMs(std::uint64_t tokens_in, std::uint64_t uncached,
                                std::uint64_t tokens_out) {
  return std::llround(1350 + 0.0124 * static_cast<double>(uncached) +
                      0.0143 * static_cast<double>(tokens_in) +
                      14.8 * static_cast<double>(tokens_out));
}

Status MooncakeReader::CheckChain(const JsonValue& line, const std::vector<std::uint32_t>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Block own{.predecessor = i == 0 ? 0 : ids[i - 1],
                    .position = static_cast<std::uint32_t>(i)};
    const auto [at, is_new] = blocks_.try_emplace(ids[i], own);
    const Block& before = at->second;
    if (is_new || (before.predecessor == own.predecessor && before.position == own.position)) {
      continue;
    }
    return line.Wrong(
        fmt::format("hash_ids[{}]: broken chain: id {} stood elsewhere before", i, ids[i]));
  }
  return absl::OkStatus();
}

Status MooncakeReader::Add(const JsonValue& line) {
  if (++lines_ > kLinesMax) return line.Wrong(fmt::format("more than {} requests", kLinesMax));
  TraceCall call;
  call.place = fmt::format("request {}", lines_);
  ASSIGN_OR_RETURN(call.start_ms, line.Millis("timestamp", 1));
  if (call.start_ms < latest_ms_) {
    return line.Wrong(fmt::format("timestamp: time runs backward: {} ms before the line above",
                                  latest_ms_ - call.start_ms));
  }
  latest_ms_ = call.start_ms;
  ASSIGN_OR_RETURN(const std::uint64_t in, line.Count("input_length", limits::kPromptTokensMax));
  if (in == 0) return line.Wrong("input_length: an empty prompt");
  call.tokens_in = static_cast<std::uint32_t>(in);
  ASSIGN_OR_RETURN(const std::uint64_t out, line.Count("output_length", limits::kPromptTokensMax));
  call.tokens_out = static_cast<std::uint32_t>(out);
  ASSIGN_OR_RETURN(const JsonValue field, line.Field("hash_ids"));
  ASSIGN_OR_RETURN(const std::vector<std::uint32_t> ids, field.Ids());
  const std::size_t blocks = (in + kLineBlock - 1) / kLineBlock;
  if (ids.size() != blocks) {
    return field.Wrong(fmt::format("{} ids for a prompt of {} tokens; it has {} blocks of {}",
                                   ids.size(), in, blocks, kLineBlock));
  }
  for (const std::uint32_t id : ids) {
    if (id >= 0xffff'ffffu / kParts) return field.Wrong(fmt::format("id {} is too large", id));
  }
  RETURN_IF_ERROR(CheckChain(line, ids));
  if (lines_ == 1) common_ = ids;
  const auto part = std::mismatch(common_.begin(), common_.end(), ids.begin(), ids.end()).first;
  common_.erase(part, common_.end());
  // The longest earlier request whose full blocks this one has.
  std::size_t session = sessions_.size();
  for (std::size_t i = ids.size(); i > 1 && session == sessions_.size(); --i) {
    if (const auto at = ends_.find(ids[i - 1]); at != ends_.end()) session = at->second;
  }
  if (session == sessions_.size()) {
    sessions_.emplace_back();
    sessions_.back().id = fmt::format("request_{}", lines_);
    sessions_.back().streams.resize(1);
  }
  std::vector<TraceCall>& calls = sessions_[session].streams[0].calls;
  if (calls.size() >= limits::kCallsPerSessionMax) {
    return line.Wrong(
        fmt::format("more than {} requests of one chain", limits::kCallsPerSessionMax));
  }
  if (in / kLineBlock > 1) ends_.emplace(ids[in / kLineBlock - 1], session);
  call.ids = Split(ids, call.tokens_in);
  std::uint64_t kept = 0;
  if (!calls.empty()) {
    const std::vector<std::uint32_t>& last = calls.back().ids;
    kept = static_cast<std::uint64_t>(
        std::mismatch(last.begin(), last.end(), call.ids.begin(), call.ids.end()).first -
        last.begin());
  }
  call.service_ms = EstimatedServiceMs(in, in - kept * limits::kBlockTokens, out);
  call.flags = kUserTurn | kServiceImputed;
  calls.push_back(std::move(call));
  return absl::OkStatus();
}

StatusOr<std::vector<ParsedTrace>> MooncakeReader::Take() {
  std::vector<ParsedTrace> parsed;
  for (Trace& trace : sessions_) {
    trace.models = {"mooncake"};
    trace.streams[0].system_tokens = common_.size() * kLineBlock;
    const std::uint64_t calls = trace.streams[0].calls.size();
    ASSIGN_OR_RETURN(ParsedTrace session, BuildSession(std::move(trace)));
    AddNote(calls, "durations estimated from the lengths, the form has none", &session.notes);
    AddNote(calls > 1 ? 1 : 0, "sessions made of requests that continue one another",
            &session.notes);
    AddNote(calls > 1 ? 0 : 1, "requests that continue nothing: sessions of one call",
            &session.notes);
    // Ids are the file's: requests of one content are in one session, and two sessions no copies.
    for (std::uint64_t c = 0; c < calls; ++c) {
      session.keys.push_back(MixKey(HashBytes(session.session.id), c));
    }
    parsed.push_back(std::move(session));
  }
  sessions_.clear();
  return parsed;
}

}  // namespace plimsoll
