#include "coordinator/serverjudge/sweep_events.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "common/base/text.h"
#include "coordinator/serverjudge/block_share.h"
#include "coordinator/serverjudge/judge_errors.h"
#include "coordinator/serverjudge/without_evals.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// What a source turned away, of all it answered, by block; without the evals.
struct TurnedAway {
  std::vector<BlockCount> blocks;
  bool as_errors = false;  // It counts refusals among its error statuses.
};

std::optional<TurnedAway> TurnedAwayBy(const SourceStep& source, const EvalTraffic& evals) {
  const bool refused = source.Has(Signal::kRefused) && source.Trusted(Signal::kRefused);
  const bool errors = source.Has(Signal::kErrors) && source.Trusted(Signal::kErrors);
  if (!(refused || errors) || !source.BrokenBy().empty()) return std::nullopt;
  const AnswerCounters answers = AnswersOf(source);
  if (answers.all.empty()) return std::nullopt;
  TurnedAway away{.blocks = {}, .as_errors = !refused};
  const Signal signal = refused ? Signal::kRefused : Signal::kErrors;
  const auto whole = [](double count) {
    return static_cast<std::uint64_t>(std::llround(std::clamp(count, 0., 9e15)));
  };
  for (const SpanReading& span : source.spans) {
    for (const SourceReading& block : span.blocks) {
      double all = 0;
      for (const Signal one : answers.all) all += block.Of(one).reading.increase;
      const std::uint64_t n = whole(all);
      away.blocks.push_back(
          {.n = n, .hits = std::min(n, whole(block.Of(signal).reading.increase))});
    }
  }
  const std::uint64_t theirs = refused ? evals.refused : evals.with_error_status;
  const std::uint64_t others = evals.with_status - std::min(evals.with_status, theirs);
  TakeOut(theirs, others, &away.blocks);
  return away;
}

SweepEnd RefusalsOf(const SourceStep& source, const ClientLoad& load) {
  const std::optional<TurnedAway> away = TurnedAwayBy(source, load.evals);
  if (!away || away->blocks.size() < kBlocksForSpread) return {};
  std::uint64_t refused = 0;
  std::uint64_t requests = 0;
  for (const BlockCount& block : away->blocks) {
    const double share = kSustainedRefusalShare * static_cast<double>(block.n);
    if (block.hits == 0 || static_cast<double>(block.hits) < share) return {};
    refused += block.hits;
    requests += block.n;
  }
  // Which errors are refusals the agents know, whose attempts they were.
  if (away->as_errors) refused = std::min(refused, load.refused);
  const double least =
      std::max(kSustainedRefusalsMin, kSustainedRefusalShare * static_cast<double>(requests));
  if (static_cast<double>(refused) < least) return {};
  return {
      SweepEvent::kRefusals,
      fmt::format("{} of {} requests were refused, in each of {} blocks {} at least {:g}%", refused,
                  requests, away->blocks.size(), away->as_errors ? "error statuses were" : "it was",
                  kSustainedRefusalShare * 100)};
}

}  // namespace

SweepEnd EndOfSweep(const SignalHistory& history, MonoTime from, MonoTime to,
                    const SourceStep& engines, const SourceStep& gateway, const KvFullRule& rule,
                    const ClientLoad& load) {
  // What is full is full, whatever else could not be read; each by its own pages.
  SweepEnd end;
  Duration longest{};
  for (const TargetGauges& engine : ReadGauges(history, PartSource::kEngines, from, to)) {
    const SignalReading& kv = engine.reading.Of(Signal::kKvFill);
    if (!kv.here() || !kv.trusted) continue;
    const Duration full = LongestAtLeast(kv.gauge, rule.threshold);
    if (full < rule.time || full <= longest) continue;
    longest = full;
    end = {SweepEvent::kKvCacheFull,
           fmt::format("the KV cache held at least {:g}% for {} ({}, at most {:.1f}%)",
                       rule.threshold * 100, ShortTime(full), engine.target, kv.gauge.max * 100)};
  }
  if (end.event != SweepEvent::kNone) return end;
  return RefusalsOf(gateway.there() ? gateway : engines, load);
}

}  // namespace plimsoll
