#include "common/corpus/stats.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "common/corpus/in_flight.h"

namespace plimsoll {
namespace {

std::uint64_t MaxInFlight(const Session& session) {
  std::vector<std::pair<Duration, Duration>> calls;
  calls.reserve(session.calls.size());
  for (const Call& call : session.calls) {
    calls.emplace_back(FromMillis(call.start_ms), FromMillis(call.service_ms));
  }
  return InFlightOf(calls).peak;
}

}  // namespace

double Quantile(std::vector<double> values, double quantile) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = quantile * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double share = rank - static_cast<double>(below);
  return values[below] + share * (values[above] - values[below]);
}

double MedianPrompt(const Session& session) {
  std::vector<double> prompts;
  prompts.reserve(session.calls.size());
  for (const Call& call : session.calls) prompts.push_back(call.tokens_in);
  return Quantile(std::move(prompts), 0.5);
}

SessionStats ComputeStats(const Session& session) {
  SessionStats stats;
  if (session.calls.empty()) return stats;
  std::uint64_t end_ms = 0;
  for (const Call& call : session.calls) {
    if (call.stream == 0) {
      if (stats.main_requests == 0) stats.first_prompt = call.tokens_in;
      ++stats.main_requests;
    }
    stats.max_prompt = std::max<std::uint64_t>(stats.max_prompt, call.tokens_in);
    stats.input_tokens += call.tokens_in;
    stats.output_tokens += call.tokens_out;
    stats.block_refs += call.blocks();
    stats.unique_blocks += call.fresh_blocks();
    stats.prefix_hit_blocks += call.kept_blocks;
    end_ms = std::max(end_ms, std::uint64_t{call.start_ms} + call.service_ms);
  }
  stats.requests = session.calls.size();
  stats.subagent_groups = session.streams.size() - 1;
  stats.subagent_requests = stats.requests - stats.main_requests;
  // nearbyint rounds half to even in the default mode, which nothing here changes.
  stats.median_prompt = static_cast<std::uint64_t>(std::nearbyint(MedianPrompt(session)));
  stats.duration_s = (end_ms - session.calls.front().start_ms + 500) / 1000;
  stats.max_in_flight = MaxInFlight(session);
  return stats;
}

namespace {

constexpr std::uint64_t kIdleMsMax = 60'000;

// Time with and without a call in flight, over calls by start.
void AddBusy(const Session& session, CorpusSpread* spread) {
  std::uint64_t end_ms = session.calls.front().start_ms;
  for (const Call& call : session.calls) {
    const std::uint64_t start = call.start_ms;
    if (start > end_ms) {
      spread->idle_s += static_cast<double>(std::min(start - end_ms, kIdleMsMax)) / 1000;
      end_ms = start;
    }
    const std::uint64_t end = start + call.service_ms;
    if (end > end_ms) {
      spread->busy_s += static_cast<double>(end - end_ms) / 1000;
      end_ms = end;
    }
    spread->in_flight_s += call.service_ms / 1000.0;
  }
}

}  // namespace

void AddSpread(const Session& session, CorpusSpread* spread) {
  if (session.calls.empty()) return;
  AddBusy(session, spread);
  spread->max_in_flight = std::max(spread->max_in_flight, MaxInFlight(session));
  spread->calls.push_back(static_cast<double>(session.calls.size()));
  if (session.streams.size() > 1) ++spread->fan_outs;
  double hits = 0;
  double tokens = 0;
  std::vector<const Call*> last(session.streams.size(), nullptr);
  for (const Call& call : session.calls) {
    hits += static_cast<double>(call.kept_blocks) * limits::kBlockTokens;
    tokens += call.tokens_in;
    spread->tokens_in.push_back(call.tokens_in);
    spread->tokens_out.push_back(call.tokens_out);
    spread->service_s.push_back(call.service_ms / 1000.0);
    const Call*& before = last[call.stream];
    if (before != nullptr) {
      spread->appended.push_back(static_cast<double>(call.tokens_in) -
                                 static_cast<double>(call.kept_blocks) * limits::kBlockTokens);
      spread->growth.push_back(static_cast<double>(call.tokens_in) -
                               static_cast<double>(before->tokens_in));
      spread->delay_s.push_back(call.delay_ms / 1000.0);
      if (call.kept_blocks < 0.9 * before->blocks()) ++spread->rewrites;
    }
    before = &call;
  }
  spread->hit_rate.push_back(hits / tokens);
}

TierBounds QuartileBounds(const Corpus& corpus) {
  std::vector<double> medians;
  for (const Session& session : corpus.sessions) medians.push_back(MedianPrompt(session));
  return {.light_max = Quantile(medians, 0.25), .heavy_min = Quantile(medians, 0.75)};
}

void AssignTiers(const TierBounds& bounds, Corpus* corpus) {
  for (Session& session : corpus->sessions) {
    const double median = MedianPrompt(session);
    session.tier = median <= bounds.light_max   ? Tier::kLight
                   : median >= bounds.heavy_min ? Tier::kHeavy
                                                : Tier::kMid;
  }
}

const char* NameOf(Tier tier) {
  switch (tier) {
    case Tier::kUnspecified:
      return "unspecified";
    case Tier::kLight:
      return "light";
    case Tier::kMid:
      return "mid";
    case Tier::kHeavy:
      return "heavy";
  }
  return "unknown";
}

}  // namespace plimsoll
