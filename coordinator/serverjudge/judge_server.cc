#include "coordinator/serverjudge/judge_server.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "coordinator/judge/judge_step.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/serverjudge/judge_errors.h"
#include "coordinator/serverjudge/judge_latency.h"
#include "coordinator/serverjudge/merge.h"
#include "coordinator/serverjudge/wanted.h"
#include "coordinator/signals/identities.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// Shown of each source where it has them.
constexpr std::array kShown = {Signal::kRunning,      Signal::kWaiting,   Signal::kKvFill,
                               Signal::kOpenRequests, Signal::kRequests,  Signal::kAccepted,
                               Signal::kErrors,       Signal::kRefused,   Signal::kFinished,
                               Signal::kCancelled,    Signal::kPreempted, Signal::kTokensIn,
                               Signal::kTokensCached, Signal::kTokensOut, Signal::kPrefixQueries,
                               Signal::kPrefixHits,   Signal::kRetried};

// More in the engines than callers wait for, by more than pages of different instants explain.
constexpr double kOrphansMin = 1;
constexpr double kOrphansShare = 0.1;

struct Sources {
  SourceStep engines;
  SourceStep gateway;
};

ServerPart JudgeOf(const Limit& limit, const SourceStep& source, const Sources& sources,
                   const ClientLoad& load) {
  if (!limit.tier.empty()) return NoServerData(limit, "a server does not know the mix's tiers");
  switch (limit.metric) {
    case Metric::kTtft:
    case Metric::kInteractivity:
      return JudgeLatency(limit, source, sources.engines, sources.gateway, load);
    case Metric::kErrors:
      return JudgeErrors(limit, source, sources.engines, sources.gateway, load);
    case Metric::kToolCalls:
    case Metric::kEndToEndInteractivity:
    case Metric::kGoodput:
      break;
  }
  return NoServerData(limit, "no server counts this");
}

std::optional<ServerPart> JudgeIfThere(const Limit& limit, const SourceStep& source,
                                       const Sources& sources, const ClientLoad& load) {
  if (!source.there()) return std::nullopt;
  return JudgeOf(limit, source, sources, load);
}

// A source that saw less than was sent: which of its targets it is, nobody knows.
void TakeUnseen(const SourceStep& source, const ServerPart& part, ServerSummary& out) {
  if (!part.unseen) return;
  const std::string target = source.targets.size() == 1
                                 ? source.targets.front()
                                 : fmt::format("one of {}", source.targets.size());
  out.not_got.push_back({.source = source.source,
                         .target = target,
                         .signal = *part.unseen,
                         .missing = Missing::kNotAll,
                         .why = part.verdict.reason});
}

void JudgeParts(const ServerStep& step, const Sources& sources, const ClientLoad& load,
                ServerJudgement& out) {
  for (std::size_t i = 0; i < out.verdict.parts.size(); ++i) {
    PartVerdict& part = out.verdict.parts[i];
    const auto index = static_cast<std::uint32_t>(i);
    const auto engines = JudgeIfThere(part.limit, sources.engines, sources, load);
    const auto gateway = JudgeIfThere(part.limit, sources.gateway, sources, load);
    if (engines) TakeUnseen(sources.engines, *engines, out.summary);
    if (gateway) TakeUnseen(sources.gateway, *gateway, out.summary);
    out.summary.parts.push_back({PartSource::kClient, index, part});
    if (engines) out.summary.parts.push_back({PartSource::kEngines, index, engines->verdict});
    if (gateway) out.summary.parts.push_back({PartSource::kGateway, index, gateway->verdict});
    PartVerdict merged = MergePart(step.mode, part, MergeServers(part.limit, engines, gateway));
    out.changed = out.changed || merged.verdict != part.verdict || merged.reason != part.reason;
    part = std::move(merged);
  }
}

void TakeOutcomes(const SourceStep& source, ServerSummary& out) {
  for (std::size_t t = 0; t < source.targets.size(); ++t) {
    TargetOutcome worst{.source = source.source,
                        .target = source.targets[t],
                        .continuity = Continuity::kWhole,
                        .why = ""};
    for (const SpanReading& span : source.spans) {
      const BrokenTarget* broken = span.whole.Broken(t);
      if (broken == nullptr || broken->continuity <= worst.continuity) continue;
      worst.continuity = broken->continuity;
      worst.why = broken->why;
    }
    if (worst.continuity != Continuity::kWhole) out.outcomes.push_back(std::move(worst));
  }
}

void TakeFigures(const SourceStep& source, ServerSummary& out) {
  for (const Signal signal : kShown) {
    SourceFigure figure{.source = source.source, .signal = signal, .max = {}};
    const bool gauge = TraitsOf(signal).kind == SignalKind::kGauge;
    double seconds = 0;
    bool any = false;
    bool whole = true;
    for (const SpanReading& span : source.spans) {
      const SourceSignal& one = span.whole.Of(signal);
      whole = whole && one.reading.here() && one.reading.trusted;
      // What counters lost, or counted twice, nobody knows.
      whole = whole && (gauge || span.whole.whole());
      figure.partial = figure.partial || !one.lacking.empty();
      if (!one.reading.here()) continue;
      any = true;
      if (gauge) {
        figure.value += one.reading.gauge.mean * span.seconds;
        seconds += span.seconds;
        figure.max = std::max(figure.max.value_or(one.reading.gauge.max), one.reading.gauge.max);
      } else {
        figure.value += one.reading.increase;
      }
    }
    if (gauge && seconds > 0) figure.value /= seconds;
    if (any && whole && std::isfinite(figure.value)) out.figures.push_back(figure);
  }
}

// Sides that pages of different instants explain.
bool IsApart(const IdentityCheck& check, const ClientLoad& load) {
  const double allowed = 2 * load.in_flight +
                         kCountsApartShare * std::max(std::abs(check.left), std::abs(check.right));
  return std::abs(check.left - check.right) > allowed;
}

void TakeFindings(const Sources& sources, const ClientLoad& load, ServerSummary& out) {
  for (const SourceStep* source : {&sources.engines, &sources.gateway}) {
    for (const SpanReading& span : source->spans) {
      if (span.whole.continuity != Continuity::kWhole) continue;
      for (const IdentityCheck& check : CheckSource(span.whole)) {
        if (check.state != IdentityCheck::State::kBroken) continue;
        out.findings.push_back(fmt::format("{}: {}", Name(source->source), IdentityWords(check)));
      }
    }
  }
  if (!sources.engines.there() || !sources.gateway.there()) return;
  for (std::size_t i = 0; i < sources.engines.spans.size(); ++i) {
    const SourceReading& gateway = sources.gateway.spans[i].whole;
    const SourceReading& engines = sources.engines.spans[i].whole;
    if (!gateway.whole() || !engines.whole()) continue;
    for (const IdentityCheck& check : CheckGateway(gateway, engines)) {
      // What is open is compared over time, below.
      if (check.state != IdentityCheck::State::kBroken || check.key == "open=in-engine") continue;
      if (IsApart(check, load)) out.findings.push_back(IdentityWords(check));
    }
  }
  const SourceFigure* running = out.Find(PartSource::kEngines, Signal::kRunning);
  const SourceFigure* waiting = out.Find(PartSource::kEngines, Signal::kWaiting);
  const SourceFigure* open = out.Find(PartSource::kGateway, Signal::kOpenRequests);
  if (running == nullptr || waiting == nullptr || open == nullptr || open->partial) return;
  const double inside = running->value + waiting->value;
  if (inside - open->value <= std::max(kOrphansMin, kOrphansShare * open->value)) return;
  out.findings.push_back(fmt::format(
      "the engines held {:.1f} requests on average, and callers had {:.1f} open at the gateway: "
      "the rest is work that nobody waits for",
      inside, open->value));
}

// Of the source nearest to the tokens that counts them whole.
std::optional<std::uint64_t> CountOf(const Sources& sources, Signal signal) {
  for (const SourceStep* source : {&sources.engines, &sources.gateway}) {
    if (!source->Has(signal) || !source->Trusted(signal) || !source->BrokenBy().empty()) continue;
    const double sum = source->Increase(signal);
    if (sum >= 0 && sum < 9e15) return static_cast<std::uint64_t>(std::llround(sum));
  }
  return std::nullopt;
}

std::uint64_t Without(std::uint64_t evals, std::uint64_t count) {
  return count - std::min(evals, count);
}

ServerCounts CountsOf(const Sources& sources, const EvalTraffic& evals) {
  ServerCounts counts{.requests = CountOf(sources, Signal::kFinished),
                      .tokens_in = CountOf(sources, Signal::kTokensIn),
                      .tokens_out = CountOf(sources, Signal::kTokensOut)};
  const SourceStep& gateway = sources.gateway;
  if (gateway.Has(Signal::kRefused) && gateway.BrokenBy().empty()) {
    counts.refused =
        static_cast<std::uint64_t>(std::llround(std::max(0.0, gateway.Increase(Signal::kRefused))));
  }
  if (evals.asked == 0) return counts;
  if (counts.requests) counts.requests = Without(evals.ended_well, *counts.requests);
  if (counts.refused) counts.refused = Without(evals.refused, *counts.refused);
  // Nobody counts the evals' own.
  counts.tokens_in.reset();
  counts.tokens_out.reset();
  return counts;
}

}  // namespace

ClientLoad LoadOf(const StepEvidence& evidence, const StepVerdict& client,
                  const EvalTraffic& evals) {
  const auto of = [&](Outcome outcome) {
    return evidence.outcomes[static_cast<std::size_t>(outcome)];
  };
  ClientLoad load{.sessions = evidence.plan.sessions,
                  .first_tokens = evidence.ttft_ns.count(),
                  .ok = of(Outcome::kOk),
                  .refused = of(Outcome::kRefused),
                  .hung_up = of(Outcome::kDeadline) + of(Outcome::kIdleTimeout) + of(Outcome::kCut),
                  .in_flight = evidence.requests_in_flight_mean,
                  .sent_share = client.sent_share,
                  .evals = evals};
  load.unanswered = std::min(load.hung_up, evidence.ttft_infinite);
  for (const CellCounts& cell : evidence.cells) {
    load.attempts += cell.attempts;
    load.one_chunk += cell.rate_one_chunk;
  }
  return load;
}

ServerJudgement JudgeServer(const ServerStep& step, const StepVerdict& client,
                            const ClientLoad& load) {
  ServerJudgement out{.verdict = client, .summary = {.mode = step.mode}, .counts = {}};
  const Sources sources{ReadSource(step.history, PartSource::kEngines, step.spans),
                        ReadSource(step.history, PartSource::kGateway, step.spans)};
  std::vector<Limit> limits;
  for (const PartVerdict& part : client.parts) limits.push_back(part.limit);
  for (const SourceStep* source : {&sources.engines, &sources.gateway}) {
    for (NotGotSignal& missing : NotGotOf(*source, WantedOf(source->source, limits))) {
      out.summary.not_got.push_back(std::move(missing));
    }
    TakeOutcomes(*source, out.summary);
    TakeFigures(*source, out.summary);
  }
  SweepEnd end = EndOfSweep(step.history, step.begin, step.end, sources.engines, sources.gateway,
                            step.kv_full, load);
  out.summary.ends_sweep = end.event;
  out.summary.ends_why = std::move(end.why);
  if (client.is_void) return out;
  TakeFindings(sources, load, out.summary);
  out.counts = CountsOf(sources, load.evals);
  JudgeParts(step, sources, load, out);
  if (out.changed) Decide(out.verdict);
  return out;
}

}  // namespace plimsoll
