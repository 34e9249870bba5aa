#include "coordinator/signals/identities.h"

#include <cmath>
#include <limits>
#include <optional>

#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Counts are whole; sums of decimals are not.
constexpr double kSlack = 1e-6;
constexpr std::string_view kGapsAreTokens = "gaps=tokens";

using State = IdentityCheck::State;

// A side of an identity: a number and how far it may be off, or what it lacks.
struct Side {
  double value = 0;
  double uncertainty = 0;
  std::string lacks;
};

std::string LacksWords(const SourceSignal& signal) {
  return fmt::format("{} is not known: {}", TraitsOf(signal.reading.signal).name,
                     MissingWords(signal.lacking.empty() ? signal.reading.missing
                                                         : signal.lacking.front().missing));
}

Side Counter(const SourceReading& source, Signal signal) {
  const SourceSignal& one = source.Of(signal);
  if (!one.complete()) return {.lacks = LacksWords(one)};
  if (!one.reading.trusted) {
    return {.lacks = fmt::format("{} is not trusted here", TraitsOf(signal).name)};
  }
  return {one.reading.increase, one.reading.uncertainty, ""};
}

// How many observations a histogram got.
Side Observed(const SourceReading& source, Signal signal) {
  const SourceSignal& one = source.Of(signal);
  // Nothing observed is an answer here: 0.
  const bool nothing = one.reading.missing == Missing::kNothing && one.reading.why.empty();
  if (!one.complete() && !nothing) return {.lacks = LacksWords(one)};
  return {.value = static_cast<double>(one.reading.observations()), .lacks = ""};
}

Side Last(const SourceReading& source, Signal signal) {
  const SourceSignal& one = source.Of(signal);
  if (!one.complete()) return {.lacks = LacksWords(one)};
  return {one.reading.gauge.last, 0, ""};
}

Side Change(const SourceReading& source, Signal signal) {
  Side side = Last(source, signal);
  if (side.lacks.empty()) side.value -= source.Of(signal).reading.gauge.track.front().value;
  return side;
}

Side Plus(Side a, const Side& b, double sign = 1) {
  a.value += sign * b.value;
  a.uncertainty += b.uncertainty;
  if (a.lacks.empty()) a.lacks = b.lacks;
  return a;
}

// Nothing was in the server on the first page nor on the last: then it does not matter at which
// moment of a request a counter moves.
bool Settled(const SourceReading& source) {
  for (const Signal signal : {Signal::kRunning, Signal::kWaiting}) {
    const SourceSignal& one = source.Of(signal);
    if (!one.complete()) return false;
    if (one.reading.gauge.track.front().value != 0 || one.reading.gauge.last != 0) return false;
  }
  return true;
}

// Tokens after the first ones.
Side Decoded(const SourceReading& source) {
  if (source.Of(Signal::kTokensOut).reading.moves == Moves::kLive) {
    return Plus(Counter(source, Signal::kTokensOut), Observed(source, Signal::kTtft), -1);
  }
  // Where tokens out move at the finish, another counter stands in. SGLang's is written when its
  // scheduler logs, tens of steps after the gaps.
  Side side = Counter(source, Signal::kTokensDecoded);
  if (side.lacks.empty() && !Settled(source)) {
    side.lacks = "tokens decoded are written later than gaps, and requests are under way";
  }
  return side;
}

// `side` if its signals move at the same moment, or the server is settled.
Side Comparable(Side side, const SourceReading& source, Signal a, Signal b) {
  if (!side.lacks.empty()) return side;
  if (source.Of(a).reading.moves == source.Of(b).reading.moves || Settled(source)) return side;
  side.lacks = fmt::format("{} and {} move at different moments, and requests are under way",
                           TraitsOf(a).name, TraitsOf(b).name);
  return side;
}

IdentityCheck Made(std::string_view key, std::string_view what, const Side& left, const Side& right,
                   bool at_most) {
  IdentityCheck check{.key = key, .what = what};
  if (!left.lacks.empty() || !right.lacks.empty()) {
    check.why = left.lacks.empty() ? right.lacks : left.lacks;
    return check;
  }
  check.left = left.value;
  check.right = right.value;
  const double slack = left.uncertainty + right.uncertainty +
                       kSlack * std::max({1.0, std::abs(left.value), std::abs(right.value)});
  const bool holds =
      at_most ? left.value <= right.value + slack : std::abs(left.value - right.value) <= slack;
  check.state = holds ? State::kHolds : State::kBroken;
  return check;
}

IdentityCheck Equal(std::string_view key, std::string_view what, const Side& left,
                    const Side& right) {
  return Made(key, what, left, right, false);
}
IdentityCheck AtMost(std::string_view key, std::string_view what, const Side& left,
                     const Side& right) {
  return Made(key, what, left, right, true);
}

// The smallest and the largest sum that these counts allow; the largest is infinite where some lie
// above the last edge.
void SumLimits(const BucketCounts& counts, double& least, double& most) {
  least = 0;
  most = 0;
  std::uint64_t before = 0;
  double lower = 0;
  for (std::size_t i = 0; i < counts.edges.size(); ++i) {
    const auto inside = static_cast<double>(counts.at_most[i] - before);
    least += inside * lower;
    most += inside * counts.edges[i];
    before = counts.at_most[i];
    lower = std::max(counts.edges[i], 0.0);
  }
  const auto beyond = static_cast<double>(counts.n - before);
  least += beyond * lower;
  if (beyond > 0) most = kInfinity;
}

void CheckHistogram(const SourceReading& source, Signal signal,
                    std::vector<IdentityCheck>& checks) {
  const SourceSignal& one = source.Of(signal);
  if (!one.reading.here()) return;
  Side buckets;
  bool repaired = false;
  for (const BucketCounts& counts : one.reading.histograms) {
    buckets.value += static_cast<double>(counts.n);
    repaired = repaired || counts.repaired;
    double least = 0;
    double most = 0;
    SumLimits(counts, least, most);
    if (std::isnan(counts.sum)) continue;
    IdentityCheck mean{.key = "mean-in-buckets",
                       .what = "a histogram's sum lies where its buckets allow",
                       .state = State::kHolds,
                       .left = counts.sum,
                       .right = counts.sum < least ? least : most};
    const double slack = kSlack * std::max(1.0, std::abs(counts.sum));
    if (counts.sum < least - slack || counts.sum > most + slack) mean.state = State::kBroken;
    mean.why = TraitsOf(signal).name;
    checks.push_back(std::move(mean));
  }
  Side count{.value = one.reading.counted, .lacks = ""};
  if (std::isnan(count.value)) count.lacks = "the histogram has no _count";
  IdentityCheck check = Equal("buckets=count",
                              "a histogram's last bucket holds all that it counted, and no bucket "
                              "less than the one before it",
                              buckets, count);
  if (repaired) check.state = State::kBroken;
  if (check.why.empty()) check.why = TraitsOf(signal).name;
  checks.push_back(std::move(check));
}

}  // namespace

std::vector<IdentityCheck> CheckSource(const SourceReading& source) {
  std::vector<IdentityCheck> checks;
  for (const SignalTraits& traits : AllSignals()) {
    if (traits.kind == SignalKind::kHistogram) CheckHistogram(source, traits.signal, checks);
  }
  checks.push_back(Equal(kGapsAreTokens, "as many gaps as tokens after the first",
                         Observed(source, Signal::kTokenGap), Decoded(source)));
  const Side parts =
      Plus(Counter(source, Signal::kTokensComputed), Counter(source, Signal::kTokensCached));
  checks.push_back(
      Equal("in=computed+cached", "prompt tokens are computed or found in the cache",
            Counter(source, Signal::kTokensIn),
            Comparable(Comparable(parts, source, Signal::kTokensIn, Signal::kTokensComputed),
                       source, Signal::kTokensIn, Signal::kTokensCached)));
  checks.push_back(AtMost("hits<=queries", "the prefix cache finds at most what it was asked for",
                          Counter(source, Signal::kPrefixHits),
                          Counter(source, Signal::kPrefixQueries)));
  checks.push_back(AtMost("queries<=tokens_in", "the prefix cache is asked once for each token",
                          Counter(source, Signal::kPrefixQueries),
                          Comparable(Counter(source, Signal::kTokensIn), source,
                                     Signal::kPrefixQueries, Signal::kTokensIn)));
  checks.push_back(AtMost("finished<=durations", "each finished request has a duration",
                          Counter(source, Signal::kFinished), Observed(source, Signal::kDuration)));
  return checks;
}

std::vector<IdentityCheck> CheckGateway(const SourceReading& gateway,
                                        const SourceReading& engines) {
  std::vector<IdentityCheck> checks;
  const Side first_tokens = Observed(engines, Signal::kTtft);
  checks.push_back(AtMost("started<=admitted", "engines start at most what the gateway admitted",
                          first_tokens, Counter(gateway, Signal::kAccepted)));
  checks.push_back(Equal("first-tokens", "the gateway sees as many first tokens as engines make",
                         Observed(gateway, Signal::kTtft), first_tokens));
  checks.push_back(Equal("open=in-engine", "callers wait for what is in the engines",
                         Plus(Last(engines, Signal::kRunning), Last(engines, Signal::kWaiting)),
                         Last(gateway, Signal::kOpenRequests)));
  checks.push_back(
      Equal("accounted", "what was admitted has finished, was cancelled, or is open",
            Counter(gateway, Signal::kAccepted),
            Plus(Plus(Counter(engines, Signal::kFinished), Counter(gateway, Signal::kCancelled)),
                 Change(gateway, Signal::kOpenRequests))));
  return checks;
}

std::string IdentityWords(const IdentityCheck& check) {
  if (check.state == State::kUnknown) return fmt::format("{}: {}", check.what, check.why);
  std::string_view broken;
  if (check.state == State::kBroken) {
    const bool several = check.key == kGapsAreTokens && check.left < check.right;
    broken = several
                 ? ": a gap covers several tokens (speculative decoding?), and speeds read from "
                   "gaps are too low"
                 : ", which cannot both be right";
  }
  return fmt::format("{}: {:.15g} against {:.15g}{}{}", check.what, check.left, check.right, broken,
                     check.why.empty() ? "" : fmt::format(" ({})", check.why));
}

}  // namespace plimsoll
