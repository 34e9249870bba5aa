#include "coordinator/serverjudge/judge_errors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/serverjudge/observed.h"
#include "coordinator/serverjudge/without_evals.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

std::uint64_t Whole(double value) {
  return value > 0 ? static_cast<std::uint64_t>(std::llround(std::min(value, 9e15))) : 0;
}

double SumOf(const SourceReading& reading, const std::vector<Signal>& signals) {
  double sum = 0;
  for (const Signal signal : signals) sum += reading.Of(signal).reading.increase;
  return sum;
}

bool MoveTogether(const SourceStep& source, Signal a, Signal b) {
  const SourceReading& reading = source.spans.front().whole;
  return reading.Of(a).reading.moves == reading.Of(b).reading.moves;
}

std::vector<BlockCount> CountsOf(const SourceStep& source, const std::vector<Signal>& all) {
  std::vector<BlockCount> counts;
  const auto add = [&](const SourceReading& reading) {
    counts.push_back({.n = Whole(SumOf(reading, all)),
                      .hits = Whole(reading.Of(Signal::kErrors).reading.increase)});
  };
  for (const SpanReading& span : source.spans) {
    if (span.blocks.empty()) add(span.whole);
    for (const SourceReading& block : span.blocks) add(block);
  }
  return counts;
}

// Without the evals. Those that ended with an error status may have been answered so in front of
// this server, which then never counted them: at the upper end its errors are all the load's.
ShareInterval ErrorsOfLoad(const std::vector<BlockCount>& all, const ClientLoad& load) {
  const EvalTraffic& evals = load.evals;
  const std::uint64_t errors = std::min(evals.with_status, evals.with_error_status);
  std::vector<BlockCount> best = all;
  TakeOut(errors, evals.with_status - errors, &best);
  ShareInterval interval = SmallShareOverBlocks(best, load.sessions);
  if (errors == 0) return interval;
  std::vector<BlockCount> worst = all;
  TakeOut(0, evals.with_status - errors, &worst);
  interval.high = std::max(interval.high, SmallShareOverBlocks(worst, load.sessions).high);
  return interval;
}

// Callers who gave up after a good status had an error. The gateway's counter knows when they did,
// by block of CountsOf(); those of our own that it lacks are spread over all blocks.
struct HungUp {
  std::uint64_t all = 0;
  std::vector<BlockCount> with;  // The blocks, with all of them as hits.
};

HungUp WithHungUp(std::vector<BlockCount> blocks, const SourceStep& gateway,
                  const ClientLoad& load) {
  HungUp out;
  std::uint64_t placed = 0;
  if (gateway.Has(Signal::kCancelled) && gateway.Trusted(Signal::kCancelled) &&
      gateway.BrokenBy().empty()) {
    out.all = Whole(gateway.Increase(Signal::kCancelled));
    const std::vector<BlockCount> counted = CountsOf(gateway, {Signal::kCancelled});
    // Of another source, its blocks may be others.
    for (std::size_t i = 0; counted.size() == blocks.size() && i < blocks.size(); ++i) {
      blocks[i].hits += counted[i].n;
      blocks[i].n = std::max(blocks[i].n, blocks[i].hits);
      placed += counted[i].n;
    }
  }
  out.all = std::max(out.all, load.hung_up);
  TurnToHits(out.all - std::min(out.all, placed), &blocks);
  out.with = std::move(blocks);
  return out;
}

void TakeSide(PartVerdict& part, const ShareInterval& interval, const Limit& limit) {
  const SideOf value = Compare(interval, limit.value, Side::kBelow);
  if (Compare(interval, StrictEdge(limit), Side::kBelow).side == Side::kBelow) {
    part.verdict = Verdict::kPass;
  } else if (Compare(interval, LooseEdge(limit), Side::kBelow).side == Side::kAbove) {
    part.verdict = Verdict::kFail;
  } else {
    part.verdict = Verdict::kTooClose;
    part.lean = value.side == Side::kCrosses ? value.lean
                : value.side == Side::kBelow ? Lean::kPass
                                             : Lean::kFail;
  }
}

}  // namespace

AnswerCounters AnswersOf(const SourceStep& source) {
  for (const Signal good : {Signal::kAccepted, Signal::kFinished}) {
    if (source.Has(good) && source.Has(Signal::kErrors) && source.Trusted(good) &&
        MoveTogether(source, good, Signal::kErrors)) {
      return {.all = {good, Signal::kErrors}, .lacks = ""};
    }
  }
  if (source.Has(Signal::kRequests)) return {.all = {Signal::kRequests}, .lacks = ""};
  return {.all = {},
          .lacks = fmt::format("neither {} nor {} is known: {}", TraitsOf(Signal::kAccepted).name,
                               TraitsOf(Signal::kRequests).name, source.Lacks(Signal::kAccepted))};
}

ServerPart JudgeErrors(const Limit& limit, const SourceStep& source, const SourceStep& engines,
                       const SourceStep& gateway, const ClientLoad& load) {
  if (const std::string broken = source.BrokenBy(); !broken.empty()) {
    return NoServerData(limit, broken);
  }
  if (const std::string lacks = source.Lacks(Signal::kErrors); !lacks.empty()) {
    return NoServerData(limit, fmt::format("{} of {}", TraitsOf(Signal::kErrors).name, lacks));
  }
  const AnswerCounters answers = AnswersOf(source);
  if (answers.all.empty()) return NoServerData(limit, answers.lacks);
  if (!source.Trusted(Signal::kErrors) || !std::isfinite(limit.value)) {
    return NoServerData(limit, "its counts of errors are not to be trusted");
  }
  const std::vector<BlockCount> counts = CountsOf(source, answers.all);
  ShareInterval interval = ErrorsOfLoad(counts, load);
  if (interval.n == 0) return NoServerData(limit, "it answered no request");
  const HungUp hung_up = WithHungUp(counts, gateway, load);
  const double statuses = interval.high;
  const ShareInterval with = ErrorsOfLoad(hung_up.with, load);
  if (hung_up.all > 0) interval.high = std::max(statuses, with.high);
  PartVerdict part{.limit = limit};
  part.n = interval.n;
  part.value = part.share_within = interval.share;
  part.value_low.value = part.share_low = interval.low;
  part.value_high.value = part.share_high = interval.high;
  if (limit.value > 0) part.margin = (limit.value - interval.share) / limit.value;
  TakeSide(part, interval, limit);
  part.reason = fmt::format(
      "{} of {} requests were answered with an error status: {:.2f}% (95% interval "
      "{:.2f}–{:.2f}%), limit {}; what breaks off after a good one is not among them",
      interval.hits, interval.n, interval.share * 100, interval.low * 100, interval.high * 100,
      LimitText(limit));
  if (hung_up.all > 0) {
    part.reason += fmt::format(
        "; the upper end takes the {} requests for errors that their "
        "callers gave up",
        hung_up.all);
  }
  const bool turns = statuses < StrictEdge(limit) || with.share > limit.value;
  if (part.verdict == Verdict::kTooClose && hung_up.all > 0 && turns) {
    part.lean = Lean::kNone;
    part.reason += ", and it turns on them";
  }
  if (load.evals.with_status > 0) {
    part.reason += fmt::format("; {} evals are left out", load.evals.with_status);
  }
  const bool all = HasSeenAll(static_cast<double>(interval.n),
                              OpenAtTheEnds(engines, gateway).value_or(load.in_flight),
                              static_cast<double>(load.attempts), source);
  if (part.verdict != Verdict::kFail && !all) {
    return NoServerData(limit, fmt::format("it answered {} requests where {} were sent: the others "
                                           "were turned away in front of it, or a copy is not "
                                           "scraped",
                                           interval.n, load.attempts));
  }
  return {.verdict = part, .comparable = part.verdict == Verdict::kFail};
}

}  // namespace plimsoll
