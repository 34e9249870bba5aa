#include "common/corpus/trace_v8.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "common/corpus/trace_session.h"

namespace plimsoll {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kModelsMax = 0xffff;
constexpr std::int64_t kTimeMsMax = std::numeric_limits<std::uint32_t>::max();
// Starts are floored to the second, a subagent's are not.
constexpr std::int64_t kFloorMs = 1000;

Status Wrong(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

std::string Join(std::string_view where, std::string_view key) {
  return where.empty() ? std::string(key) : fmt::format("{}.{}", where, key);
}

const char* KindOf(dom::element element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "true or false";
    case dom::element_type::NULL_VALUE:
      return "null";
    case dom::element_type::INT64:
      return "a whole number";
    case dom::element_type::UINT64:
      return "a number beyond 2^63";
    case dom::element_type::DOUBLE:
      return "a fraction";
  }
  return "something else";
}

// An object of the file and how to call it in a message.
struct Node {
  dom::object object;
  std::string where;

  Status Expected(std::string_view key, std::string_view expected, dom::element got) const {
    return Wrong(fmt::format("{}: expected {}, got {}", Join(where, key), expected, KindOf(got)));
  }
};

StatusOr<dom::element> Field(const Node& node, std::string_view key) {
  dom::element element;
  if (node.object.at_key(key).get(element) != simdjson::SUCCESS) {
    return Wrong(fmt::format("{}: missing", Join(node.where, key)));
  }
  return element;
}

StatusOr<std::uint64_t> Count(const Node& node, std::string_view key, std::uint64_t max) {
  ASSIGN_OR_RETURN(const dom::element element, Field(node, key));
  std::int64_t negative = 0;
  if (element.get(negative) == simdjson::SUCCESS && negative < 0) {
    return Wrong(fmt::format("{}: {} is negative", Join(node.where, key), negative));
  }
  std::uint64_t value = 0;
  if (element.get(value) != simdjson::SUCCESS) return node.Expected(key, "a whole number", element);
  if (value > max) {
    return Wrong(
        fmt::format("{}: {} is more than the {} allowed", Join(node.where, key), value, max));
  }
  return value;
}

// A number of `unit_ms` milliseconds each, at least 0.
StatusOr<std::int64_t> Millis(const Node& node, std::string_view key, double unit_ms) {
  ASSIGN_OR_RETURN(const dom::element element, Field(node, key));
  double value = 0;
  if (element.get(value) != simdjson::SUCCESS) return node.Expected(key, "a number", element);
  if (value < 0) return Wrong(fmt::format("{}: {} is negative", Join(node.where, key), value));
  const double ms = std::round(value * unit_ms);
  if (!(ms <= static_cast<double>(kTimeMsMax))) {
    return Wrong(fmt::format("{}: {} is more than 49 days", Join(node.where, key), value));
  }
  return static_cast<std::int64_t>(ms);
}

StatusOr<std::string_view> Text(const Node& node, std::string_view key) {
  ASSIGN_OR_RETURN(const dom::element element, Field(node, key));
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return node.Expected(key, "a string", element);
  if (text.size() > kNameBytesMax) {
    return Wrong(fmt::format("{}: a string of {} bytes; at most {} are allowed",
                             Join(node.where, key), text.size(), kNameBytesMax));
  }
  return text;
}

StatusOr<dom::array> List(const Node& node, std::string_view key) {
  ASSIGN_OR_RETURN(const dom::element element, Field(node, key));
  dom::array list;
  if (element.get(list) != simdjson::SUCCESS) return node.Expected(key, "a list", element);
  return list;
}

StatusOr<Node> Child(const Node& node, std::string_view key) {
  ASSIGN_OR_RETURN(const dom::element element, Field(node, key));
  Node child{{}, Join(node.where, key)};
  if (element.get(child.object) != simdjson::SUCCESS) {
    return node.Expected(key, "an object", element);
  }
  return child;
}

StatusOr<std::uint8_t> ReadFlags(const Node& node) {
  ASSIGN_OR_RETURN(const dom::array types, List(node, "input_types"));
  std::uint8_t flags = 0;
  std::size_t kinds = 0;
  for (const dom::element element : types) {
    std::string_view kind;
    if (element.get(kind) != simdjson::SUCCESS) {
      return node.Expected(fmt::format("input_types[{}]", kinds), "a string", element);
    }
    ++kinds;
    if (kind == "text") flags |= kUserTurn;
    if (kind == "tool_result") flags |= kToolTurn;
  }
  // New content of several kinds at once is history written anew.
  if (kinds > 1) flags = kRewrite;
  ASSIGN_OR_RETURN(const std::string_view stop, Text(node, "stop"));
  if (stop == "tool_use") flags |= kStopToolUse;
  return flags;
}

StatusOr<std::vector<std::uint32_t>> ReadIds(const Node& node, std::uint32_t tokens_in) {
  ASSIGN_OR_RETURN(const dom::array list, List(node, "hash_ids"));
  std::vector<std::uint32_t> ids;
  ids.reserve(tokens_in / limits::kBlockTokens);
  for (const dom::element element : list) {
    std::uint64_t id = 0;
    if (element.get(id) != simdjson::SUCCESS || id > std::numeric_limits<std::uint32_t>::max()) {
      return node.Expected(fmt::format("hash_ids[{}]", ids.size()), "a 32-bit id", element);
    }
    ids.push_back(static_cast<std::uint32_t>(id));
  }
  if (ids.size() != tokens_in / limits::kBlockTokens) {
    return Wrong(fmt::format("{}: {} ids for a prompt of {} tokens; {} blocks are full",
                             Join(node.where, "hash_ids"), ids.size(), tokens_in,
                             tokens_in / limits::kBlockTokens));
  }
  return ids;
}

// One pass over a file's requests.
class Reader {
 public:
  Status Read(const Node& root) {
    ASSIGN_OR_RETURN(const std::string_view id, Text(root, "id"));
    trace_.id = id;
    ASSIGN_OR_RETURN(const std::uint64_t block, Count(root, "block_size", 1u << 20));
    if (block != limits::kBlockTokens) {
      return Wrong(fmt::format("block_size: {}; only {} is known", block, limits::kBlockTokens));
    }
    ASSIGN_OR_RETURN(const std::string_view scope, Text(root, "hash_id_scope"));
    if (scope != "local") {
      return Wrong(
          fmt::format("hash_id_scope: \"{}\"; only the v8 form, \"local\", is known", scope));
    }
    trace_.streams.emplace_back();
    RETURN_IF_ERROR(ReadPrefix(root, &trace_.streams[0]));
    ASSIGN_OR_RETURN(const dom::array requests, List(root, "requests"));
    std::int32_t number = 0;
    for (const dom::element element : requests) {
      RETURN_IF_ERROR(ReadRequest(element, number++));
    }
    if (trace_.streams[0].calls.empty()) return Wrong("requests: no call of the main conversation");
    // The last group's join lies beyond the file's end.
    for (TraceStream& stream : trace_.streams) {
      if (stream.join >= static_cast<std::int32_t>(trace_.streams[0].calls.size()))
        stream.join = -1;
    }
    return CheckTotals(root);
  }

  Trace Take() { return std::move(trace_); }

 private:
  Status ReadPrefix(const Node& node, TraceStream* stream) {
    ASSIGN_OR_RETURN(stream->tool_tokens, Count(node, "tool_tokens", limits::kPromptTokensMax));
    ASSIGN_OR_RETURN(stream->system_tokens, Count(node, "system_tokens", limits::kPromptTokensMax));
    return absl::OkStatus();
  }

  Status ReadRequest(dom::element element, std::int32_t number) {
    Node node{{}, fmt::format("requests[{}]", number)};
    if (element.get(node.object) != simdjson::SUCCESS) {
      return Wrong(fmt::format("{}: expected an object, got {}", node.where, KindOf(element)));
    }
    ASSIGN_OR_RETURN(const std::string_view type, Text(node, "type"));
    if (type == "subagent") return ReadSubagent(node, number);
    StatusOr<TraceCall> call = ReadCall(node, type, trace_.streams[0]);
    if (!call.ok()) return call.status();
    call->request = number;
    trace_.streams[0].calls.push_back(*std::move(call));
    return absl::OkStatus();
  }

  Status ReadSubagent(const Node& node, std::int32_t number) {
    const auto mains = static_cast<std::int32_t>(trace_.streams[0].calls.size());
    ++subagents_;
    TraceStream stream;
    stream.parent = mains - 1;
    ASSIGN_OR_RETURN(const std::string_view status, Text(node, "status"));
    ASSIGN_OR_RETURN(stream.start_ms, Millis(node, "t", 1000));
    if (status == "completed") {
      ASSIGN_OR_RETURN(const std::int64_t duration, Millis(node, "duration_ms", 1));
      stream.start_ms -= duration;  // A completed entry's time is its end.
      stream.join = mains;
    } else if (status != "async_launched") {
      return Wrong(fmt::format("{}: \"{}\" is neither \"completed\" nor \"async_launched\"",
                               Join(node.where, "status"), status));
    }
    if (mains > 0 && stream.start_ms + kFloorMs < trace_.streams[0].calls.back().start_ms) {
      return Wrong(fmt::format("{}: time runs backward: the subagent starts before its parent call",
                               Join(node.where, "t")));
    }
    RETURN_IF_ERROR(ReadPrefix(node, &stream));
    ASSIGN_OR_RETURN(const dom::array requests, List(node, "requests"));
    for (const dom::element element : requests) {
      const auto nested = static_cast<std::int32_t>(stream.calls.size());
      Node inner{{}, fmt::format("{}.requests[{}]", node.where, nested)};
      if (element.get(inner.object) != simdjson::SUCCESS) {
        return Wrong(fmt::format("{}: expected an object, got {}", inner.where, KindOf(element)));
      }
      ASSIGN_OR_RETURN(const std::string_view type, Text(inner, "type"));
      StatusOr<TraceCall> call = ReadCall(inner, type, stream);
      if (!call.ok()) return call.status();
      call->request = number;
      call->nested = nested;
      stream.calls.push_back(*std::move(call));
    }
    // One that made no call occupies nobody.
    if (!stream.calls.empty()) trace_.streams.push_back(std::move(stream));
    return absl::OkStatus();
  }

  StatusOr<TraceCall> ReadCall(const Node& node, std::string_view type, const TraceStream& stream) {
    if (type != "n" && type != "s") {
      return Wrong(fmt::format("{}: unknown type \"{}\"", Join(node.where, "type"), type));
    }
    if (++calls_ > limits::kCallsPerSessionMax) {
      return Wrong(fmt::format("{}: more than {} calls", node.where, limits::kCallsPerSessionMax));
    }
    TraceCall call;
    call.sent_twice = type == "n";
    ASSIGN_OR_RETURN(call.start_ms, Millis(node, "t", 1000));
    call.start_ms += stream.start_ms;
    if (!stream.calls.empty() && call.start_ms < stream.calls.back().start_ms) {
      return Wrong(fmt::format("{}: time runs backward: {} ms before the call in front of it",
                               Join(node.where, "t"),
                               stream.calls.back().start_ms - call.start_ms));
    }
    ASSIGN_OR_RETURN(const std::uint64_t in, Count(node, "in", limits::kPromptTokensMax));
    if (in == 0) return Wrong(fmt::format("{}: an empty prompt", Join(node.where, "in")));
    call.tokens_in = static_cast<std::uint32_t>(in);
    ASSIGN_OR_RETURN(const std::uint64_t out, Count(node, "out", limits::kPromptTokensMax));
    call.tokens_out = static_cast<std::uint32_t>(out);
    ASSIGN_OR_RETURN(const std::string_view model, Text(node, "model"));
    ASSIGN_OR_RETURN(call.model, ModelIndex(model));
    ASSIGN_OR_RETURN(call.flags, ReadFlags(node));
    ASSIGN_OR_RETURN(call.ids, ReadIds(node, call.tokens_in));
    dom::element timed;
    if (node.object.at_key("api_time").get(timed) == simdjson::SUCCESS && !timed.is_null()) {
      ASSIGN_OR_RETURN(call.service_ms, Millis(node, "api_time", 1000));
    }
    Sums& sums = &stream == trace_.streams.data() ? parent_ : subagent_;
    sums.in += in;
    sums.out += out;
    return call;
  }

  StatusOr<std::uint16_t> ModelIndex(std::string_view name) {
    std::vector<std::string>& models = trace_.models;
    const auto at = std::find(models.begin(), models.end(), name);
    const auto index = static_cast<std::size_t>(at - models.begin());
    if (index == kModelsMax) return Wrong("more than 65,535 models");
    if (at == models.end()) models.emplace_back(name);
    return static_cast<std::uint16_t>(index);
  }

  struct Sums {
    std::uint64_t in = 0;
    std::uint64_t out = 0;
  };

  static Status CheckTotal(const Node& totals, std::string_view key, std::uint64_t sum) {
    ASSIGN_OR_RETURN(const std::uint64_t total,
                     Count(totals, key, std::numeric_limits<std::uint64_t>::max()));
    if (total == sum) return absl::OkStatus();
    return Wrong(
        fmt::format("{}: says {}, the requests add up to {}", Join(totals.where, key), total, sum));
  }

  Status CheckTotals(const Node& root) const {
    ASSIGN_OR_RETURN(const Node totals, Child(root, "totals"));
    const Sums combined{parent_.in + subagent_.in, parent_.out + subagent_.out};
    const std::pair<const char*, Sums> groups[] = {
        {"parent_tokens", parent_}, {"subagent_tokens", subagent_}, {"combined_tokens", combined}};
    for (const auto& [key, sums] : groups) {
      ASSIGN_OR_RETURN(const Node group, Child(totals, key));
      RETURN_IF_ERROR(CheckTotal(group, "input", sums.in));
      RETURN_IF_ERROR(CheckTotal(group, "output", sums.out));
    }
    return CheckTotal(totals, "subagent_count", subagents_);
  }

  Trace trace_;
  std::uint64_t calls_ = 0;
  std::uint64_t subagents_ = 0;
  Sums parent_;
  Sums subagent_;
};

}  // namespace

StatusOr<ParsedTrace> ParseTraceV8(std::string_view json) {
  if (json.size() > kTraceBytesMax) {
    return Wrong(fmt::format("{} bytes; at most {} are allowed", json.size(), kTraceBytesMax));
  }
  if (json.empty()) return Wrong("not one whole JSON document (cut short?): no bytes");
  dom::parser parser;
  dom::element element;
  if (const auto error = parser.parse(json.data(), json.size()).get(element)) {
    return Wrong(fmt::format("not one whole JSON document (cut short?): {}",
                             simdjson::error_message(error)));
  }
  Node root;
  if (element.get(root.object) != simdjson::SUCCESS) {
    return Wrong(
        fmt::format("expected an object with a session's fields, got {}", KindOf(element)));
  }
  Reader reader;
  RETURN_IF_ERROR(reader.Read(root));
  return BuildSession(reader.Take());
}

}  // namespace plimsoll
