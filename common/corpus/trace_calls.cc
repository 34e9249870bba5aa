#include "common/corpus/trace_calls.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"

namespace plimsoll {
namespace {

constexpr std::size_t kModelsMax = 0xffff;

Status Wrong(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

StatusOr<std::uint8_t> ReadFlags(const JsonValue& node) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> types, node.Elements("input_types"));
  std::uint8_t flags = 0;
  for (const JsonValue& type : types) {
    ASSIGN_OR_RETURN(const std::string_view kind, type.Text());
    if (kind == "text") flags |= kUserTurn;
    if (kind == "tool_result") flags |= kToolTurn;
  }
  // New content of several kinds at once is history written anew.
  if (types.size() > 1) flags = kRewrite;
  ASSIGN_OR_RETURN(const std::string_view stop, node.Name("stop"));
  if (stop == "tool_use") flags |= kStopToolUse;
  return flags;
}

Status CheckTotal(const JsonValue& totals, std::string_view key, std::uint64_t sum) {
  ASSIGN_OR_RETURN(const JsonValue field, totals.Field(key));
  ASSIGN_OR_RETURN(const std::uint64_t total,
                   field.Count(std::numeric_limits<std::uint64_t>::max()));
  if (total == sum) return absl::OkStatus();
  return field.Wrong(fmt::format("says {}, the requests add up to {}", total, sum));
}

}  // namespace

Status TraceCallReader::ReadTop(const JsonValue& root, Trace* trace) {
  ASSIGN_OR_RETURN(trace->id, root.Name("id"));
  ASSIGN_OR_RETURN(const std::uint64_t block, root.Count("block_size", 1u << 20));
  if (block != limits::kBlockTokens) {
    return Wrong(fmt::format("block_size: {}; only {} is known", block, limits::kBlockTokens));
  }
  trace->streams.emplace_back();
  return ReadPrefix(root, &trace->streams[0]);
}

Status TraceCallReader::ReadPrefix(const JsonValue& node, TraceStream* stream) {
  for (const auto& [key, tokens] : {std::pair{"tool_tokens", &stream->tool_tokens},
                                    std::pair{"system_tokens", &stream->system_tokens}}) {
    if (!node.Has(key)) continue;
    ASSIGN_OR_RETURN(*tokens, node.Count(key, limits::kPromptTokensMax));
  }
  return absl::OkStatus();
}

StatusOr<TraceCall> TraceCallReader::Read(const JsonValue& node, std::int64_t zero_ms,
                                          bool nested) {
  if (++calls_ > limits::kCallsPerSessionMax) {
    return node.Wrong(fmt::format("more than {} calls", limits::kCallsPerSessionMax));
  }
  TraceCall call;
  call.place = node.where();
  ASSIGN_OR_RETURN(call.start_ms, node.Millis("t", 1000));
  call.start_ms += zero_ms;
  ASSIGN_OR_RETURN(const std::uint64_t in, node.Count("in", limits::kPromptTokensMax));
  if (in == 0 && !rules_.empty_ok)
    return Wrong(fmt::format("{}.in: an empty prompt", node.where()));
  call.tokens_in = static_cast<std::uint32_t>(in);
  ASSIGN_OR_RETURN(const std::uint64_t out, node.Count("out", limits::kPromptTokensMax));
  call.tokens_out = static_cast<std::uint32_t>(out);
  ASSIGN_OR_RETURN(const std::string_view model, node.Name("model"));
  ASSIGN_OR_RETURN(call.model, ModelIndex(model));
  if (rules_.turns) {
    ASSIGN_OR_RETURN(call.flags, ReadFlags(node));
  }
  ASSIGN_OR_RETURN(const JsonValue ids, node.Field("hash_ids"));
  ASSIGN_OR_RETURN(call.ids, ids.Ids());
  const std::size_t blocks = call.tokens_in / limits::kBlockTokens;
  if (rules_.exact_ids && call.ids.size() != blocks) {
    return ids.Wrong(fmt::format("{} ids for a prompt of {} tokens; {} blocks are full",
                                 call.ids.size(), call.tokens_in, blocks));
  }
  if (rules_.timed && node.Has("api_time")) {
    ASSIGN_OR_RETURN(call.service_ms, node.Millis("api_time", 1000));
  }
  Sums& sums = nested ? nested_ : parent_;
  sums.in += in;
  sums.out += out;
  return call;
}

Status TraceCallReader::CheckOrder(const JsonValue& node, const TraceStream& stream,
                                   std::int64_t start_ms) {
  if (stream.calls.empty() || start_ms >= stream.calls.back().start_ms) return absl::OkStatus();
  return Wrong(fmt::format("{}.t: time runs backward: {} ms before the call in front of it",
                           node.where(), stream.calls.back().start_ms - start_ms));
}

Status TraceCallReader::UnknownType(const JsonValue& node, std::string_view type) {
  return Wrong(fmt::format("{}.type: unknown type \"{}\"", node.where(), type));
}

StatusOr<bool> TraceCallReader::ReadCompleted(const JsonValue& node) {
  ASSIGN_OR_RETURN(const std::string_view status, node.Name("status"));
  if (status == "completed") return true;
  if (status == "async_launched") return false;
  return Wrong(fmt::format("{}.status: \"{}\" is neither \"completed\" nor \"async_launched\"",
                           node.where(), status));
}

Status TraceCallReader::CheckHasCalls(const Trace& trace) {
  return trace.streams[0].calls.empty() ? Wrong("requests: no call of the main conversation")
                                        : absl::OkStatus();
}

Status TraceCallReader::CheckTotals(const JsonValue& root) const {
  ASSIGN_OR_RETURN(const JsonValue totals, root.Field("totals"));
  const Sums combined{parent_.in + nested_.in, parent_.out + nested_.out};
  const std::pair<const char*, Sums> groups[] = {
      {"parent_tokens", parent_}, {"subagent_tokens", nested_}, {"combined_tokens", combined}};
  for (const auto& [key, sums] : groups) {
    ASSIGN_OR_RETURN(const JsonValue group, totals.Field(key));
    RETURN_IF_ERROR(CheckTotal(group, "input", sums.in));
    RETURN_IF_ERROR(CheckTotal(group, "output", sums.out));
  }
  return CheckTotal(totals, "subagent_count", subagents_);
}

StatusOr<std::uint16_t> TraceCallReader::ModelIndex(std::string_view name) {
  const auto at = std::find(models_.begin(), models_.end(), name);
  const auto index = static_cast<std::size_t>(at - models_.begin());
  if (index == kModelsMax) return Wrong("more than 65,535 models");
  if (at == models_.end()) models_.emplace_back(name);
  return static_cast<std::uint16_t>(index);
}

}  // namespace plimsoll
