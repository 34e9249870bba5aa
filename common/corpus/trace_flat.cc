#include "common/corpus/trace_flat.h"

#include <algorithm>
#include <utility>

#include "common/base/limits.h"
#include "common/corpus/trace_calls.h"

namespace plimsoll {
namespace {

// Starts are rounded to a tenth of a second.
constexpr std::int64_t kSlackMs = 150;

std::size_t CommonPrefix(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(shorter);
  return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

std::uint64_t TokensOf(const std::vector<std::size_t>& chain, const std::vector<TraceCall>& calls) {
  std::uint64_t tokens = 0;
  for (const std::size_t call : chain) tokens += calls[call].tokens_in;
  return tokens;
}

StatusOr<std::vector<TraceCall>> ReadCalls(const JsonValue& root, TraceCallReader* reader,
                                           std::uint64_t* empty) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> requests, root.Elements("requests"));
  TraceStream all;
  for (const JsonValue& request : requests) {
    if (!request.IsObject()) return request.Expected("an object");
    ASSIGN_OR_RETURN(const std::string_view type, request.Name("type"));
    if (type != "s" && type != "n") {
      return TraceCallReader::UnknownType(request, type);
    }
    StatusOr<TraceCall> call = reader->Read(request, 0, false);
    if (!call.ok()) return call.status();
    RETURN_IF_ERROR(TraceCallReader::CheckOrder(request, all, call->start_ms));
    if (call->tokens_in == 0) {
      ++*empty;
    } else {
      all.calls.push_back(*std::move(call));
    }
  }
  if (all.calls.empty()) return absl::InvalidArgumentError("requests: no call");
  return std::move(all.calls);
}

struct LengthCounts {
  std::uint64_t few = 0;
  std::uint64_t many = 0;
};

// Cuts surplus ids.
LengthCounts FitIds(std::vector<TraceCall>* calls) {
  LengthCounts counts;
  for (TraceCall& call : *calls) {
    const std::size_t blocks = call.tokens_in / limits::kBlockTokens;
    if (call.ids.size() < blocks) ++counts.few;
    if (call.ids.size() <= blocks) continue;
    ++counts.many;
    call.ids.resize(blocks);
  }
  return counts;
}

}  // namespace

std::vector<std::vector<std::size_t>> SplitByPrefix(const std::vector<TraceCall>& calls,
                                                    std::int64_t slack_ms) {
  std::vector<std::vector<std::size_t>> chains;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::vector<std::size_t>* best = nullptr;
    std::size_t best_common = 0;
    for (std::vector<std::size_t>& chain : chains) {
      const TraceCall& last = calls[chain.back()];
      if (last.model != calls[i].model) continue;
      if (last.start_ms + last.service_ms > calls[i].start_ms + slack_ms) continue;
      const std::size_t common = CommonPrefix(last.ids, calls[i].ids);
      const bool later = best != nullptr && chain.back() > best->back();
      if (common == 0 || common < best_common || (common == best_common && !later)) continue;
      best = &chain;
      best_common = common;
    }
    if (best != nullptr) {
      best->push_back(i);
    } else {
      chains.push_back({i});
    }
  }
  return chains;
}

StatusOr<ParsedTrace> ReadTraceFlat(const JsonValue& root) {
  TraceCallReader reader({.exact_ids = false, .empty_ok = true});
  Trace trace{.partial_ids = true, .whole = true};
  RETURN_IF_ERROR(reader.ReadTop(root, &trace));
  std::uint64_t empty = 0;
  ASSIGN_OR_RETURN(std::vector<TraceCall> calls, ReadCalls(root, &reader, &empty));
  if (root.Has("totals")) RETURN_IF_ERROR(reader.CheckTotals(root));
  const LengthCounts lengths = FitIds(&calls);
  trace.models = reader.TakeModels();
  Trace flat;
  flat.streams.resize(1);
  flat.streams[0].calls = std::move(calls);
  ImputeServices(&flat);
  calls = std::move(flat.streams[0].calls);
  std::vector<std::vector<std::size_t>> chains = SplitByPrefix(calls, kSlackMs);
  // The main conversation is the one with most of the tokens.
  std::size_t main = 0;
  for (std::size_t c = 1; c < chains.size(); ++c) {
    if (TokensOf(chains[c], calls) > TokensOf(chains[main], calls)) main = c;
  }
  std::rotate(chains.begin(), chains.begin() + static_cast<std::ptrdiff_t>(main),
              chains.begin() + static_cast<std::ptrdiff_t>(main) + 1);
  trace.streams.resize(chains.size());
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (const std::size_t call : chains[c]) {
      trace.streams[c].calls.push_back(std::move(calls[call]));
    }
  }
  for (std::size_t s = 1; s < trace.streams.size(); ++s) {
    PlaceStream(s, Placement::kLoose, kSlackMs, &trace);
  }
  ASSIGN_OR_RETURN(ParsedTrace parsed, BuildSession(std::move(trace)));
  AddNote(chains.size() - 1, "side conversations told apart by their prompts' beginnings",
          &parsed.notes);
  AddNote(empty, "calls with an empty prompt dropped", &parsed.notes);
  AddNote(lengths.few, "calls with fewer hash_ids than blocks: the rest counts as their own",
          &parsed.notes);
  AddNote(lengths.many, "calls with more hash_ids than blocks: the surplus is ignored",
          &parsed.notes);
  return parsed;
}

}  // namespace plimsoll
