#include "coordinator/judge/suspicion.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/judge_part.h"
#include "coordinator/judge/void_rules.h"

namespace plimsoll {
namespace {

using suspicion::kAlikeRatioMax;

// The few calls at an end of the measured time have other lengths than the mean one.
constexpr double kTokensApart = 2;

class List {
 public:
  void Add(SuspicionCheck check, std::string text) { all_.push_back({check, std::move(text)}); }
  std::vector<Suspicion> Take() && { return std::move(all_); }

 private:
  std::vector<Suspicion> all_;
};

double Real(std::uint64_t count) {
  return static_cast<double>(count);
}

std::uint64_t OkOf(const StepEvidence& evidence) {
  return evidence.outcomes[static_cast<std::size_t>(Outcome::kOk)];
}

// Of calls that straddle the ends, `weight` times the mean call's share is allowed.
void CheckServerCount(const StepEvidence& e, const char* what, double weight,
                      std::optional<std::uint64_t> ours, std::optional<std::uint64_t> theirs,
                      List& list) {
  if (!ours || !theirs) return;
  const double straddling =
      2 * weight * e.requests_in_flight_mean / std::max(1.0, Real(e.suspicion.measured_attempts));
  const double apart = std::abs(Real(*theirs) - Real(*ours)) / std::max(1.0, Real(*ours));
  if (!(apart > suspicion::kCountsApartMax + straddling)) return;
  list.Add(
      SuspicionCheck::kCountsDisagree,
      fmt::format("we count {} {}, the server {} ({:.1f}% apart): another caller, a copy that is "
                  "not scraped, or calls answered in front of the engine",
                  *ours, what, *theirs, apart * 100));
}

void CheckCounts(const StepEvidence& e, const SuspicionContext& context, List& list) {
  const std::uint64_t ok = OkOf(e);
  const std::uint64_t contradicted = e.fidelity.doubts.contradicted();
  if (Real(e.usage_missing + contradicted) > void_rules::kUsageMissingShareMax * Real(ok)) {
    list.Add(
        SuspicionCheck::kCountsDisagree,
        fmt::format("usage of {} of {} ok calls is missing, and of {} contradicts their stream: "
                    "tokens and speeds rest on the others; look at what the gateway does to "
                    "the stream's last event",
                    e.usage_missing, ok, contradicted));
  }
  if (!context.server) return;
  const ServerCounts& server = *context.server;
  CheckServerCount(e, "calls answered", 1, ok, server.requests, list);
  CheckServerCount(e, "prompt tokens", kTokensApart, e.tokens_in, server.tokens_in, list);
  CheckServerCount(e, "generated tokens", kTokensApart, e.tokens_out, server.tokens_out, list);
}

// What the gateway turned away and no attempt of ours is booked as.
void CheckServerRefusals(const StepEvidence& e, const SuspicionContext& context, List& list) {
  if (!context.server || !context.server->refused) return;
  const std::uint64_t ours = e.outcomes[static_cast<std::size_t>(Outcome::kRefused)];
  const double allowed = 2 * e.requests_in_flight_mean + suspicion::kCountsApartMax * Real(ours);
  if (!(Real(*context.server->refused) - Real(ours) > allowed)) return;
  list.Add(SuspicionCheck::kRefusalsUncounted,
           fmt::format("the server refused {} requests, {} attempts are counted as refused: "
                       "somebody between tries again by himself, or another caller is turned away",
                       *context.server->refused, ours));
}

// One is enough: by the rule every attempt with such a sign is a refusal.
void CheckRefusals(const SuspicionCounts& counts, List& list) {
  if (counts.refusals_ok + counts.refusals_failed > 0) {
    list.Add(
        SuspicionCheck::kRefusalsUncounted,
        fmt::format("{} attempts came with HTTP 429, 503 or a Retry-After and are not counted as "
                    "refused ({} as ok, {} as another failure): look at their records, somebody "
                    "sheds load under another name",
                    counts.refusals_ok + counts.refusals_failed, counts.refusals_ok,
                    counts.refusals_failed));
  }
  if (counts.ok_with_other_status + counts.refused_with_other_status > 0) {
    list.Add(SuspicionCheck::kRefusalsUncounted,
             fmt::format("statuses and outcomes disagree: {} ok attempts without a 2xx, {} refused "
                         "ones with neither 429 nor 503; the counts of outcomes are wrong",
                         counts.ok_with_other_status, counts.refused_with_other_status));
  }
}

void CheckWarmUpRate(const StepEvidence& e, List& list) {
  const SuspicionCounts& counts = e.suspicion;
  const double warm_up_s = ToSeconds(e.plan.warm_up);
  const double measure_s = ToSeconds(e.plan.measure);
  if (!(warm_up_s > 0 && measure_s > 0)) return;
  if (counts.warm_up_attempts < suspicion::kWarmUpAttemptsMin) return;
  const double before = Real(counts.warm_up_attempts) / warm_up_s;
  const double measured = Real(counts.measured_attempts) / measure_s;
  if (!(measured < suspicion::kMeasuredRateMin * before)) return;
  list.Add(
      SuspicionCheck::kWarmUpAteStep,
      fmt::format("the warm-up released {} attempts a second, the measured time {}: most of the "
                  "load came before it was measured; look for calls that take longer than the "
                  "measured time, or for refusals, and measure longer",
                  ThreeDigits(before), ThreeDigits(measured)));
}

void CheckFirstBlock(const SuspicionCounts& counts, List& list) {
  const BlockFigures* first = nullptr;
  std::int64_t fastest = 0;
  std::int64_t slowest = 0;
  std::size_t others = 0;
  for (const BlockFigures& block : counts.blocks) {
    if (block.ttft_n < suspicion::kBlockCallsMin) continue;
    if (block.block == 0) {
      first = &block;
      continue;
    }
    fastest = others == 0 ? block.ttft_p50_ns : std::min(fastest, block.ttft_p50_ns);
    slowest = std::max(slowest, block.ttft_p50_ns);
    ++others;
  }
  if (first == nullptr || others < suspicion::kOtherBlocksMin) return;
  const double p50 = static_cast<double>(first->ttft_p50_ns);
  const bool slower = p50 > suspicion::kFirstBlockApart * static_cast<double>(slowest);
  const bool faster = p50 * suspicion::kFirstBlockApart < static_cast<double>(fastest);
  if (!slower && !faster) return;
  list.Add(SuspicionCheck::kWarmUpAteStep,
           fmt::format("the first block's median TTFT is {} s, the others' {} to {} s: {}",
                       ThreeDigits(ToSeconds(Duration(first->ttft_p50_ns))),
                       ThreeDigits(ToSeconds(Duration(fastest))),
                       ThreeDigits(ToSeconds(Duration(slowest))),
                       slower ? "the opening wave still runs in it; lengthen sweep.warm_up"
                              : "the queue still grows after it, and no block is the steady state; "
                                "lengthen sweep.warm_up and sweep.measure"));
}

void CheckPrompts(const FidelityEvidence& f, List& list) {
  if (f.prompt_n == 0 || !(f.tokens_expected > 0)) return;
  const double total = Real(f.tokens_reported) / f.tokens_expected - 1;
  const bool many = Real(f.drift_over) > suspicion::kDriftCallsShareMax * Real(f.prompt_n);
  if (!many && !(std::abs(total) > kDriftShareMax)) return;
  list.Add(
      SuspicionCheck::kPromptsUnlike,
      fmt::format("prompts are not as long as recorded: {} of {} calls are off by over {:g}%, all "
                  "tokens by {:+.1f}%; look at preflight's fit of the template, at what the "
                  "gateway adds or cuts, and at the tokenizer",
                  f.drift_over, f.prompt_n, kDriftShareMax * 100, total * 100));
}

void CheckCache(const SuspicionCounts& c, List& list) {
  if (c.cache_n < suspicion::kCacheCallsMin || c.tokens_planned == 0 || c.tokens_reported == 0) {
    return;
  }
  const double predicted = Real(c.tokens_predicted) / Real(c.tokens_planned);
  const double seen = Real(c.tokens_cached) / Real(c.tokens_reported);
  const double allowed =
      suspicion::kCacheShareApart + Real(limits::kBlockTokens * c.cache_n) / Real(c.tokens_planned);
  if (!(std::abs(seen - predicted) > allowed)) return;
  list.Add(
      SuspicionCheck::kCacheUnlikeTrace,
      fmt::format("{:.0f}% of the prompt tokens came from the cache, the trace predicts {:.0f}% "
                  "with a cache that forgets nothing: {} (n {})",
                  seen * 100, predicted * 100,
                  seen < predicted
                      ? "it is off, too small for these sessions, or their calls are spread "
                        "over copies; look at affinity and at the engine's KV usage"
                      : "prompts hit what this run did not send; look for a nonce used before, "
                        "for other traffic, and at how usage counts cached tokens",
                  c.cache_n));
}

// Fewer chunks: several tokens came in one. More: tokens were cut, or not counted.
void CheckChunks(const UsageDoubts& d, List& list) {
  if (!(Real(d.answers_unlike) > kAnswersUnlikeShareMax * Real(d.answers))) return;
  const double share = d.tokens > 0 ? Real(d.chunks) / Real(d.tokens) : 0;
  list.Add(
      SuspicionCheck::kChunksUnlikeTokens,
      fmt::format("chunks are not tokens: in {} of {} answers they differ by over {:g}%; {:.3g} "
                  "chunks a token over all: {}",
                  d.answers_unlike, d.answers, kChunksUnlikeShare * 100, share,
                  share < 1 ? "several tokens come in one, and speed rests on what usage counts"
                            : "usage counts fewer tokens than were streamed, and speed is "
                              "understated"));
}

void CheckClock(const std::string& whose, std::int64_t moved_ns, Duration over, List& list) {
  const double moved = ToSeconds(Duration(moved_ns));
  const double allowed =
      ToSeconds(suspicion::kWallMovedMax) + suspicion::kSlewMax * ToSeconds(over);
  if (!(std::abs(moved) > allowed)) return;
  list.Add(
      SuspicionCheck::kClocksStepped,
      fmt::format("the wall clock of {} moved {:+.3g} s against its monotonic clock: it was set, "
                  "or the machine was suspended or migrated; durations here are monotonic, but "
                  "look at the machine and its time service before trusting the step",
                  whose, moved));
}

void CheckClocks(const StepEvidence& e, List& list) {
  for (const AgentEvidence& agent : e.agents) {
    CheckClock(fmt::format("agent '{}'", agent.name), agent.wall_moved_ns, e.plan.measure, list);
  }
  if (e.suspicion.wall_moved_ns) {
    const Duration whole = e.plan.warm_up + e.plan.measure + e.plan.drain_limit;
    CheckClock("the coordinator", *e.suspicion.wall_moved_ns, whole, list);
  }
}

// One line for all agents: what holds one back often holds back its neighbours.
void CheckHeldBack(const StepEvidence& e, std::optional<std::int64_t> HostLoad::*time,
                   std::string_view what, std::string_view look, List& list) {
  const auto share = [&](const AgentEvidence& agent) {
    return static_cast<double>((agent.host.*time).value_or(0)) /
           static_cast<double>(e.plan.measure.count());
  };
  const AgentEvidence* worst = nullptr;
  std::size_t held_back = 0;
  for (const AgentEvidence& agent : e.agents) {
    if (!(share(agent) > suspicion::kHeldBackShareMax)) continue;
    ++held_back;
    if (worst == nullptr || share(agent) > share(*worst)) worst = &agent;
  }
  if (worst == nullptr) return;
  list.Add(
      SuspicionCheck::kAgentHeldBack,
      fmt::format("{}: {} of {} agents, at worst '{}' by {:.1f}% of the measured time, with P99 "
                  "of its releases {:.1f} ms late; {}",
                  what, held_back, e.agents.size(), worst->name, share(*worst) * 100,
                  static_cast<double>(worst->lateness_p99_ns) * 1e-6, look));
}

void CheckHosts(const StepEvidence& e, List& list) {
  CheckHeldBack(e, &HostLoad::throttled_ns, "a control group's quota throttled the generator",
                "raise the quota, or give each agent fewer sessions", list);
  CheckHeldBack(e, &HostLoad::stolen_ns,
                "the generator's hosts gave its processors to other guests",
                "times may be late by some milliseconds; look for a quieter machine", list);
}

void CheckAlike(const char* what, std::optional<std::int64_t> median,
                std::optional<std::int64_t> tail, std::uint64_t n, List& list) {
  if (n < suspicion::kAlikeCallsMin || !median || !tail || *median <= 0 || *tail <= 0) return;
  const double a = static_cast<double>(*median);
  const double b = static_cast<double>(*tail);
  const double ratio = std::max(a, b) / std::min(a, b);
  if (!(ratio < kAlikeRatioMax)) return;
  list.Add(
      SuspicionCheck::kCallsAlike,
      fmt::format("every call is alike: {} of {} calls has P90 and P50 within {:.1f}%; look for a "
                  "limiter, a canned answer or a simulator without noise",
                  what, n, (ratio - 1) * 100));
}

// The nearest comparable steps with fewer and with more sessions; of repeats the last.
struct Neighbours {
  const StepFigures* lighter = nullptr;
  const StepFigures* heavier = nullptr;
};

Neighbours NeighboursOf(const StepFigures& step, const std::vector<StepFigures>& others) {
  Neighbours found;
  for (const StepFigures& other : others) {
    if (!other.comparable) continue;
    if (other.sessions < step.sessions &&
        (found.lighter == nullptr || other.sessions >= found.lighter->sessions)) {
      found.lighter = &other;
    }
    if (other.sessions > step.sessions &&
        (found.heavier == nullptr || other.sessions <= found.heavier->sessions)) {
      found.heavier = &other;
    }
  }
  return found;
}

void CompareErrors(const StepFigures& lighter, const StepFigures& heavier, List& list) {
  if (!lighter.errors_known || !heavier.errors_known) return;
  if (!(heavier.errors.high < lighter.errors.low)) return;
  list.Add(SuspicionCheck::kErrorsFell,
           fmt::format(
               "errors fell from {:.2f}% (95% interval {:.2f}–{:.2f}%) at {} sessions to {:.2f}% "
               "({:.2f}–{:.2f}%) at {}: more load does not heal; look at what was wrong in "
               "the lighter step (a cold start, a deploy), or stopped counting since",
               lighter.errors.share * 100, lighter.errors.low * 100, lighter.errors.high * 100,
               lighter.sessions, heavier.errors.share * 100, heavier.errors.low * 100,
               heavier.errors.high * 100, heavier.sessions));
}

void CompareTtft(const StepFigures& lighter, const StepFigures& heavier, List& list) {
  if (std::min(lighter.ttft_n, heavier.ttft_n) < suspicion::kNeighbourCallsMin) return;
  if (!lighter.ttft_p90_ns.value) return;
  const double before = static_cast<double>(*lighter.ttft_p90_ns.value);
  const bool tail_up =
      heavier.ttft_p90_ns.infinite || static_cast<double>(heavier.ttft_p90_ns.value.value_or(0)) >
                                          (1 + suspicion::kTailRiseMin) * before;
  if (!tail_up) return;
  if (!(heavier.ttft_mean_s < (1 - suspicion::kMeanFallMin) * lighter.ttft_mean_s)) return;
  const std::string after =
      heavier.ttft_p90_ns.infinite
          ? "infinite"
          : ThreeDigits(ToSeconds(Duration(*heavier.ttft_p90_ns.value))) + " s";
  list.Add(
      SuspicionCheck::kMeanDownTailUp,
      fmt::format("from {} to {} sessions the mean TTFT fell from {} to {} s while P90 rose from "
                  "{} s to {}: some calls got another treatment; look at tiers, copies and "
                  "failed calls apart",
                  lighter.sessions, heavier.sessions, ThreeDigits(lighter.ttft_mean_s),
                  ThreeDigits(heavier.ttft_mean_s), ThreeDigits(before / 1e9), after));
}

void CheckNeighbours(const StepFigures& step, const std::vector<StepFigures>& others, List& list) {
  if (!step.comparable) return;
  const Neighbours near = NeighboursOf(step, others);
  for (const auto& compare : {CompareErrors, CompareTtft}) {
    if (near.lighter != nullptr) compare(*near.lighter, step, list);
    if (near.heavier != nullptr) compare(step, *near.heavier, list);
  }
}

}  // namespace

std::string_view Name(SuspicionCheck check) {
  switch (check) {
    case SuspicionCheck::kCountsDisagree:
      return "counts_disagree";
    case SuspicionCheck::kRefusalsUncounted:
      return "refusals_uncounted";
    case SuspicionCheck::kWarmUpAteStep:
      return "warm_up_ate_step";
    case SuspicionCheck::kPromptsUnlike:
      return "prompts_unlike_recorded";
    case SuspicionCheck::kCacheUnlikeTrace:
      return "cache_unlike_trace";
    case SuspicionCheck::kChunksUnlikeTokens:
      return "chunks_unlike_tokens";
    case SuspicionCheck::kClocksStepped:
      return "clocks_stepped";
    case SuspicionCheck::kCallsAlike:
      return "calls_alike";
    case SuspicionCheck::kErrorsFell:
      return "errors_fell";
    case SuspicionCheck::kMeanDownTailUp:
      return "mean_down_tail_up";
    case SuspicionCheck::kAgentHeldBack:
      return "agent_held_back";
  }
  return "unknown";
}

StepFigures FiguresOf(const StepEvidence& evidence, bool is_void) {
  StepFigures figures{.sessions = evidence.plan.sessions, .comparable = !is_void};
  figures.ttft_n = evidence.ttft_ns.count();
  figures.ttft_mean_s = evidence.ttft_ns.mean() / 1e9;
  figures.ttft_p90_ns = evidence.ttft_ns.QuantileWithInfinite(0.9, evidence.ttft_infinite);
  std::vector<ShareCell> cells;
  cells.reserve(evidence.cells.size());
  for (const CellCounts& cell : evidence.cells) {
    cells.push_back(BadCallsOf(Metric::kErrors, cell));
  }
  figures.errors = SmallShareOf(cells);
  figures.errors_known = figures.errors.n > 0;
  return figures;
}

std::vector<Suspicion> SuspicionsOf(const StepEvidence& evidence, bool is_void,
                                    const SuspicionContext& context) {
  List list;
  CheckCounts(evidence, context, list);
  CheckRefusals(evidence.suspicion, list);
  CheckServerRefusals(evidence, context, list);
  CheckWarmUpRate(evidence, list);
  CheckFirstBlock(evidence.suspicion, list);
  CheckPrompts(evidence.fidelity, list);
  CheckCache(evidence.suspicion, list);
  CheckChunks(evidence.fidelity.doubts, list);
  CheckClocks(evidence, list);
  CheckAlike("TTFT", evidence.ttft_ns.Quantile(0.5), evidence.ttft_ns.Quantile(0.9),
             evidence.ttft_ns.count(), list);
  CheckAlike("interactivity", evidence.rate_mtok_s.ReachedBy(0.5),
             evidence.rate_mtok_s.ReachedBy(0.9), evidence.rate_mtok_s.count(), list);
  CheckNeighbours(FiguresOf(evidence, is_void), context.others, list);
  CheckHosts(evidence, list);
  return std::move(list).Take();
}

}  // namespace plimsoll
