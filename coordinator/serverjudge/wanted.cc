#include "coordinator/serverjudge/wanted.h"

#include <algorithm>

#include "fmt/format.h"

namespace plimsoll {
namespace {

bool AnyOn(const std::vector<Limit>& limits, Metric metric) {
  return std::any_of(limits.begin(), limits.end(),
                     [metric](const Limit& limit) { return limit.metric == metric; });
}

// What a target counted, where its counters did not count on.
void AddResets(const SourceStep& source, const SpanReading& span, Signal signal,
               std::vector<NotGotSignal>& missing) {
  if (TraitsOf(signal).kind == SignalKind::kGauge) return;
  for (const BrokenTarget& broken : span.whole.broken) {
    const std::string& target = source.targets[broken.target];
    const bool known = std::any_of(missing.begin(), missing.end(), [&](const NotGotSignal& one) {
      return one.target == target && one.signal == signal;
    });
    if (known) continue;
    missing.push_back({.source = source.source,
                       .target = target,
                       .signal = signal,
                       .missing = Missing::kReset,
                       .why = fmt::format("{}{}{}", ContinuityWords(broken.continuity),
                                          broken.why.empty() ? "" : ": ", broken.why)});
  }
}

}  // namespace

std::vector<Signal> WantedOf(PartSource source, const std::vector<Limit>& limits) {
  const bool gateway = source == PartSource::kGateway;
  std::vector<Signal> wanted;
  if (AnyOn(limits, Metric::kTtft)) wanted.push_back(Signal::kTtft);
  if (AnyOn(limits, Metric::kInteractivity)) wanted.push_back(Signal::kTimePerToken);
  if (AnyOn(limits, Metric::kErrors)) {
    wanted.push_back(Signal::kErrors);
    if (gateway) wanted.push_back(Signal::kRefused);
  }
  if (gateway) {
    wanted.push_back(Signal::kOpenRequests);
  } else {
    wanted.insert(wanted.end(), {Signal::kRunning, Signal::kWaiting, Signal::kKvFill});
  }
  return wanted;
}

std::vector<NotGotSignal> NotGotOf(const SourceStep& source, const std::vector<Signal>& wanted) {
  std::vector<NotGotSignal> missing;
  for (const Signal signal : wanted) {
    for (const SpanReading& span : source.spans) {
      for (const LackingTarget& lacking : span.whole.Of(signal).lacking) {
        if (lacking.missing == Missing::kNothing && span.idle[lacking.target]) continue;
        NotGotSignal one{.source = source.source,
                         .target = source.targets[lacking.target],
                         .signal = signal,
                         .missing = lacking.missing,
                         .why = lacking.why};
        const bool known = std::any_of(missing.begin(), missing.end(), [&](const NotGotSignal& m) {
          return m.target == one.target && m.signal == one.signal;
        });
        if (!known) missing.push_back(std::move(one));
      }
      AddResets(source, span, signal, missing);
    }
  }
  return missing;
}

}  // namespace plimsoll
