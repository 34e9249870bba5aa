#include "coordinator/serverjudge/judge_latency.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/judge/void_rules.h"
#include "coordinator/serverjudge/block_share.h"
#include "coordinator/serverjudge/observed.h"
#include "coordinator/serverjudge/without_evals.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// The edges are seconds; a limit on a rate is one on its inverse.
struct InSeconds {
  bool as_rate = false;
  double strict = 0;
  double value = 0;
  double loose = 0;

  std::string Number(double seconds) const {
    return fmt::format("{:.4g}", as_rate ? 1 / seconds : seconds);
  }
  const char* unit() const { return as_rate ? "tok/s" : "s"; }
  // "within 5 s", "at 10 tok/s or faster".
  std::string Within(double edge) const {
    return as_rate ? fmt::format("at {} tok/s or faster", Number(edge))
                   : fmt::format("within {} s", Number(edge));
  }
};

InSeconds SecondsOf(const Limit& limit) {
  const auto seconds = [&](double value) {
    return limit.metric == Metric::kInteractivity ? 1 / value : value;
  };
  return {.as_rate = limit.metric == Metric::kInteractivity,
          .strict = seconds(StrictEdge(limit)),
          .value = seconds(limit.value),
          .loose = seconds(LooseEdge(limit))};
}

// Requests without an observation that their callers gave up: they missed whatever the limit is.
std::uint64_t GivenUp(const Observed& seen, const ClientLoad& load) {
  if (!seen.per_request) return 0;
  return seen.signal == Signal::kTtft ? load.unanswered : load.hung_up;
}
// Of the open requests at most so many missed (kept) what lies at this edge. Those that were given
// up may be among the open ones, or not.
std::uint64_t OpenMissed(const Observed& seen, std::ptrdiff_t edge, const ClientLoad& load) {
  const std::uint64_t missed =
      seen.after ? std::min(seen.open, seen.after->n - CountAtMost(*seen.after, edge)) : seen.open;
  return missed + GivenUp(seen, load);
}
std::uint64_t OpenKept(const Observed& seen, std::ptrdiff_t edge) {
  if (!seen.after) return seen.open;
  return std::min(seen.open, CountAtMost(*seen.after, edge));
}

std::vector<BlockCount> CountsAt(const Observed& seen, std::ptrdiff_t edge) {
  std::vector<BlockCount> counts;
  for (const BucketCounts& block : seen.blocks) {
    counts.push_back({.n = block.n, .hits = CountAtMost(block, edge)});
  }
  if (counts.empty()) counts.push_back({.n = seen.all.n, .hits = CountAtMost(seen.all, edge)});
  return counts;
}

// Evals that are at or under the edge for certain.
std::uint64_t SureEvals(const Observed& seen, std::ptrdiff_t edge, const Limit& limit,
                        const ClientLoad& load) {
  if (seen.evals == 0 || limit.metric != Metric::kTtft || edge < 0) return 0;
  const auto i = static_cast<std::size_t>(edge);
  const double seconds =
      i < seen.all.edges.size() ? seen.all.edges[i] : std::numeric_limits<double>::infinity();
  return std::min(seen.evals, load.evals.SurelyWithin(seconds));
}

double ShareOf(const std::vector<BlockCount>& blocks) {
  double n = 0;
  double hits = 0;
  for (const BlockCount& block : blocks) {
    n += static_cast<double>(block.n);
    hits += static_cast<double>(block.hits);
  }
  return n > 0 ? hits / n : 0;
}

// With the open requests as bad, and as good, as they can be; they belong to the last block. What
// the evals hide is likewise: at worst all of them kept the edge, at best only those that surely
// did.
ShareInterval AtWorst(const Observed& seen, std::ptrdiff_t edge, const ClientLoad& load) {
  std::vector<BlockCount> counts = CountsAt(seen, edge);
  TakeOut(seen.evals, 0, &counts);
  counts.back().n += OpenMissed(seen, edge, load);
  return ShareOverBlocks(counts, load.sessions);
}
ShareInterval AtBest(const Observed& seen, std::ptrdiff_t edge, const Limit& limit,
                     const ClientLoad& load) {
  std::vector<BlockCount> counts = CountsAt(seen, edge);
  const std::uint64_t sure = SureEvals(seen, edge, limit, load);
  TakeOut(sure, seen.evals - sure, &counts);
  const std::uint64_t kept = OpenKept(seen, edge);
  counts.back().n += kept;
  counts.back().hits += kept;
  return ShareOverBlocks(counts, load.sessions);
}

// Index of the largest edge at or under `limit`; -1: there is none.
std::ptrdiff_t EdgeUnder(const std::vector<double>& edges, double limit) {
  std::ptrdiff_t under = -1;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i] < limit || SameEdge(edges[i], limit)) under = static_cast<std::ptrdiff_t>(i);
  }
  return under;
}
// Of the smallest at or above it; edges.size(): there is none.
std::ptrdiff_t EdgeOver(const std::vector<double>& edges, double limit) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i] > limit || SameEdge(edges[i], limit)) return static_cast<std::ptrdiff_t>(i);
  }
  return static_cast<std::ptrdiff_t>(edges.size());
}

// Between which edges the quantile lies, with 95%: the test of every edge turned around.
void TakeValue(const Observed& seen, const InSeconds& limit, const ClientLoad& load,
               PartVerdict& part) {
  const std::vector<double>& edges = seen.all.edges;
  std::optional<double> low;
  std::optional<double> high;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto edge = static_cast<std::ptrdiff_t>(i);
    if (AtBest(seen, edge, part.limit, load).high < part.limit.quantile) low = edges[i];
    if (!high && AtWorst(seen, edge, load).low > part.limit.quantile) high = edges[i];
  }
  const auto shown = [&](double seconds) { return limit.as_rate ? 1 / seconds : seconds; };
  if (const auto bracket = BracketOf(seen.all, part.limit.quantile);
      bracket && !bracket->is_floor && bracket->estimate > 0) {
    double estimate = bracket->estimate;
    // Of all observations; what evals may have moved it by is not the load's.
    if (seen.evals > 0) {
      if (low) estimate = std::max(estimate, *low);
      if (high) estimate = std::min(estimate, std::max(*high, low.value_or(0)));
    }
    part.value = shown(estimate);
  }
  if (limit.as_rate) std::swap(low, high);
  if (low && *low > 0) part.value_low.value = shown(*low);
  if (high && *high > 0) part.value_high.value = shown(*high);
  if (!part.value || !(part.limit.value > 0)) return;
  const double over = (*part.value - part.limit.value) / part.limit.value;
  part.margin = limit.as_rate ? over : -over;
}

struct Finding {
  std::ptrdiff_t under = 0;
  std::ptrdiff_t over = 0;
  ShareInterval worst;  // At the edge under the limit.
  ShareInterval best;   // At the edge over it.
};

double Percent(double share) {
  return share * 100;
}

// "93.7% of 600 first tokens within 5 s and 97.0% within 7.5 s".
std::string CountsText(const Observed& seen, const InSeconds& limit, const Finding& at,
                       std::string_view what) {
  const std::vector<double>& edges = seen.all.edges;
  const double n = static_cast<double>(std::max<std::uint64_t>(1, seen.all.n));
  const auto share = [&](std::ptrdiff_t edge) {
    return fmt::format("{:.1f}%", Percent(static_cast<double>(CountAtMost(seen.all, edge)) / n));
  };
  std::string text = fmt::format("of {} {} ", seen.all.n, what);
  const bool has_under = at.under >= 0;
  const bool has_over = at.over < static_cast<std::ptrdiff_t>(edges.size());
  const auto edge = [&](std::ptrdiff_t i) { return edges[static_cast<std::size_t>(i)]; };
  if (has_under) text += fmt::format("{} came {}", share(at.under), limit.Within(edge(at.under)));
  if (has_over && at.over != at.under) {
    text += fmt::format("{}{}{} {}", has_under ? ", " : "", share(at.over),
                        has_under ? "" : " came", limit.Within(edge(at.over)));
  }
  if (!has_over) text += fmt::format("{}no edge lies beyond the limit", has_under ? ", " : "");
  return text;
}

std::string OpenText(const Observed& seen, const ClientLoad& load) {
  std::string text;
  if (seen.evals > 0) text = fmt::format("; up to {} of them are evals'", seen.evals);
  if (const std::uint64_t given_up = GivenUp(seen, load); given_up > 0) {
    text += fmt::format("; {} more were given up by their callers", given_up);
  }
  if (seen.open == 0) return text;
  return text + fmt::format("; {} were open at the end ({}){}", seen.open, seen.how,
                            seen.after ? " and seen later" : "");
}

// Why nothing is decided: the first of these that alone is enough.
std::string WhyTooClose(const Observed& seen, const InSeconds& limit, const Finding& at,
                        const Limit& limited, const ClientLoad& load, Lean* lean) {
  const double quantile = limited.quantile;
  const double n = static_cast<double>(seen.all.n);
  const auto surely = static_cast<double>(CountAtMost(seen.all, at.under));
  const auto possibly = static_cast<double>(CountAtMost(seen.all, at.over));
  if (surely < quantile * n && possibly >= quantile * n && at.under != at.over) {
    return "cannot be resolved: " +
           DecidabilityWords(seen.all.edges, limit.value, quantile, limit.unit(), limit.as_rate);
  }
  const bool kept = surely >= quantile * n;
  const auto missed_later = static_cast<double>(OpenMissed(seen, at.under, load));
  const auto kept_later = static_cast<double>(OpenKept(seen, at.over));
  const bool turns = kept ? surely < quantile * (n + missed_later)
                          : possibly + kept_later >= quantile * (n + kept_later);
  if (turns && GivenUp(seen, load) > 0) {
    return "it turns on the requests that were still open, or that their callers gave up";
  }
  if (turns) return "it turns on the requests that were still open";
  const auto evals = static_cast<double>(seen.evals);
  const auto sure = static_cast<double>(SureEvals(seen, at.over, limited, load));
  const bool hidden =
      kept ? surely - evals < quantile * (n - evals) : possibly - sure >= quantile * (n - evals);
  if (seen.evals > 0 && hidden) return "it turns on which of the answers are those to evals";
  *lean = kept ? Lean::kPass : Lean::kFail;
  return fmt::format("the 95% interval {:.1f}–{:.1f}% contains what is needed",
                     Percent(at.worst.low), Percent(at.best.high));
}

Verdict VerdictFor(const Finding& at, double quantile) {
  if (at.worst.n > 0 && at.worst.low > quantile) return Verdict::kPass;
  if (at.best.n > 0 && at.best.high < quantile) return Verdict::kFail;
  return Verdict::kTooClose;
}

// Of the load's observations, as far as it is known: the middle between the edges around the limit,
// and between what evals may have hidden.
double ShareWithin(const Observed& seen, const Finding& at, const Limit& limit,
                   const ClientLoad& load) {
  std::vector<BlockCount> worst = CountsAt(seen, at.under);
  TakeOut(seen.evals, 0, &worst);
  std::vector<BlockCount> best = CountsAt(seen, at.over);
  const std::uint64_t sure = SureEvals(seen, at.over, limit, load);
  TakeOut(sure, seen.evals - sure, &best);
  const double middle = (ShareOf(worst) + ShareOf(best)) / 2;
  return std::clamp(middle, at.worst.low, std::max(at.worst.low, at.best.high));
}

PartVerdict Judge(const Limit& limit, const Observed& seen, const ClientLoad& load,
                  std::string_view what) {
  PartVerdict part{.limit = limit};
  const InSeconds seconds = SecondsOf(limit);
  Finding at{.under = EdgeUnder(seen.all.edges, seconds.strict),
             .over = EdgeOver(seen.all.edges, seconds.loose),
             .worst = {},
             .best = {}};
  at.worst = AtWorst(seen, at.under, load);
  at.best = AtBest(seen, at.over, limit, load);
  part.n = seen.all.n - seen.evals;
  part.share_low = at.worst.low;
  part.share_high = at.best.high;
  part.share_within = ShareWithin(seen, at, limit, load);
  TakeValue(seen, seconds, load, part);
  part.verdict = VerdictFor(at, limit.quantile);
  std::string conclusion =
      fmt::format("95% interval {:.1f}–{:.1f}%", Percent(part.share_low), Percent(part.share_high));
  if (part.verdict == Verdict::kTooClose) {
    conclusion = WhyTooClose(seen, seconds, at, limit, load, &part.lean);
  }
  part.reason =
      fmt::format("{}, limit {}, needs {:g}%: {}{}", CountsText(seen, seconds, at, what),
                  LimitText(limit), Percent(limit.quantile), conclusion, OpenText(seen, load));
  return part;
}

// The histogram that the limit is about.
struct Chosen {
  Signal signal = Signal::kTtft;
  bool per_request = true;
  std::string what;
};

Chosen ChooseFor(const Limit& limit, const SourceStep& source) {
  if (limit.metric == Metric::kTtft) return {Signal::kTtft, true, "first tokens"};
  if (!source.Has(Signal::kTimePerToken) && source.Has(Signal::kTokenGap)) {
    return {Signal::kTokenGap, false,
            "gaps between tokens (not requests: a P90 of gaps is not the P90 user's)"};
  }
  return {Signal::kTimePerToken, true, "answers"};
}

}  // namespace

ServerPart NoServerData(const Limit& limit, std::string reason) {
  return {.verdict = {.limit = limit, .verdict = Verdict::kNoData, .reason = std::move(reason)},
          .comparable = false};
}

ServerPart JudgeLatency(const Limit& limit, const SourceStep& source, const SourceStep& engines,
                        const SourceStep& gateway, const ClientLoad& load) {
  if (load.sent_share < void_rules::kSentShareMin) {
    return NoServerData(limit,
                        fmt::format("only {:.1f}% of the planned load was sent, under "
                                    "{:.0f}%: the latencies belong to a lighter load",
                                    Percent(load.sent_share), Percent(void_rules::kSentShareMin)));
  }
  const Chosen chosen = ChooseFor(limit, source);
  if (const std::string broken = source.BrokenBy(); !broken.empty()) {
    return NoServerData(limit, broken);
  }
  if (const std::string lacks = source.Lacks(chosen.signal); !lacks.empty()) {
    return NoServerData(limit, fmt::format("{} of {}", TraitsOf(chosen.signal).name, lacks));
  }
  if (!source.Trusted(chosen.signal)) {
    return NoServerData(limit,
                        fmt::format("{} of this kind of server is known to be wrong at times",
                                    TraitsOf(chosen.signal).name));
  }
  const std::uint64_t needed = FewestForQuantile(limit.quantile);
  Observed seen = Observe(chosen.signal, source, engines, gateway);
  if (chosen.per_request) seen.evals = std::min(seen.all.n, load.evals.perhaps_answered());
  if (!seen.why_not.empty()) return NoServerData(limit, seen.why_not);
  if (needed == 0 || !std::isfinite(limit.value) || !(limit.value > 0)) {
    return NoServerData(limit, "the limit is no number that a histogram can be read at");
  }
  if (seen.all.n - seen.evals < needed) {
    return NoServerData(
        limit, fmt::format("{} {}, at least {} are needed for P{:g}", seen.all.n - seen.evals,
                           chosen.what, needed, Percent(limit.quantile)));
  }
  if (const std::string unseen = Unseen(chosen.signal, seen, source, engines, gateway, load);
      !unseen.empty()) {
    ServerPart part = NoServerData(limit, unseen);
    part.unseen = chosen.signal;
    return part;
  }
  return {.verdict = Judge(limit, seen, load, chosen.what), .comparable = chosen.per_request};
}

}  // namespace plimsoll
