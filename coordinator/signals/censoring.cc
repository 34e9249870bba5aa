#include "coordinator/signals/censoring.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"

namespace plimsoll {
namespace {

std::uint64_t Whole(double value) {
  return value > 0 ? static_cast<std::uint64_t>(std::llround(std::min(value, 9e15))) : 0;
}

OpenAtEnd InEngines(const SourceReading& engines) {
  double sum = 0;
  for (const Signal signal : {Signal::kRunning, Signal::kWaiting}) {
    const SourceSignal& one = engines.Of(signal);
    if (!one.complete()) {
      return {.most = std::nullopt,
              .how = fmt::format("{} of the engines is not known", TraitsOf(signal).name)};
    }
    sum += one.reading.gauge.last;
  }
  return {.most = Whole(sum), .how = "running and waiting in the engines"};
}

}  // namespace

OpenAtEnd OpenWithoutObservation(Signal signal, const SourceReading& engines,
                                 const SourceReading* gateway) {
  if (gateway == nullptr || !gateway->Of(Signal::kOpenRequests).complete()) {
    return InEngines(engines);
  }
  const GaugeReading& gauge = gateway->Of(Signal::kOpenRequests).reading.gauge;
  OpenAtEnd open{.most = Whole(gauge.last), .how = "open at the gateway"};
  const SourceSignal& histogram = engines.Of(signal);
  const SourceSignal& accepted = gateway->Of(Signal::kAccepted);
  // The name must be there: without it nothing is known of what was observed.
  const bool known = histogram.complete() || histogram.reading.missing == Missing::kNothing;
  if (histogram.reading.moves != Moves::kFirstToken || !known || !accepted.complete()) return open;
  const std::uint64_t admitted = Whole(gauge.track.front().value + accepted.reading.increase);
  const std::uint64_t seen = histogram.reading.observations();
  const std::uint64_t unseen = admitted > seen ? admitted - seen : 0;
  if (unseen < *open.most) {
    open = {.most = unseen, .how = "admitted by the gateway less the first tokens observed"};
  }
  return open;
}

}  // namespace plimsoll
