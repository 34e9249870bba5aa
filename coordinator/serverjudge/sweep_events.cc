#include "coordinator/serverjudge/sweep_events.h"

#include "common/base/text.h"
#include "coordinator/serverjudge/block_share.h"
#include "coordinator/serverjudge/judge_errors.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

SweepEnd RefusalsOf(const SourceStep& source) {
  if (!source.Has(Signal::kRefused) || !source.BrokenBy().empty()) return {};
  const AnswerCounters answers = AnswersOf(source);
  if (answers.all.empty()) return {};
  double refused = 0;
  double requests = 0;
  std::size_t blocks = 0;
  for (const SpanReading& span : source.spans) {
    for (const SourceReading& block : span.blocks) {
      double all = 0;
      for (const Signal signal : answers.all) all += block.Of(signal).reading.increase;
      const double here = block.Of(Signal::kRefused).reading.increase;
      if (!(here > 0 && here >= kSustainedRefusalShare * all)) return {};
      refused += here;
      requests += all;
      ++blocks;
    }
  }
  if (blocks < kBlocksForSpread || refused < kSustainedRefusalsMin) return {};
  return {SweepEvent::kRefusals,
          fmt::format("{:.0f} of {:.0f} requests were refused, in each of {} blocks at least {:g}%",
                      refused, requests, blocks, kSustainedRefusalShare * 100)};
}

}  // namespace

SweepEnd EndOfSweep(const SignalHistory& history, MonoTime from, MonoTime to,
                    const SourceStep& engines, const SourceStep& gateway, const KvFullRule& rule) {
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
  return RefusalsOf(gateway.there() ? gateway : engines);
}

}  // namespace plimsoll
