// What the gateway itself counts, as Envoy and the Envoy AI Gateway in it do. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/base/time.h"
#include "gateway/metrics/metric_histogram.h"

namespace plimsoll {

// A histogram whose page shows what had been observed by the last flush: Envoy's are every five
// seconds, counted from the start.
class FlushedHistogram {
 public:
  FlushedHistogram(std::span<const double> bounds, Duration every)
      : every_(every), shown_(bounds), since_(bounds) {}

  // Instants never decrease, from one call of either to the next.
  void Observe(double value, Duration since_start);
  const MetricHistogram& At(Duration since_start);
  void Clear();

 private:
  void FlushUntil(Duration since_start);

  Duration every_;
  std::int64_t flushes_ = 0;
  MetricHistogram shown_;
  MetricHistogram since_;
};

struct GatewayCounts {
  // Envoy's histograms are flushed so often; 0: at once.
  explicit GatewayCounts(Duration flush);
  // As counters that begin anew; what is open stays open.
  void Clear();

  // Envoy, towards the callers …
  std::uint64_t open = 0;
  std::uint64_t requests = 0;
  std::array<std::uint64_t, 6> answers{};  // By class of status, as the headers go out.
  std::uint64_t hung_up = 0;
  FlushedHistogram duration_ms;
  // … and towards the engines, each attempt for itself.
  std::uint64_t forwarded_open = 0;
  std::uint64_t forwarded = 0;
  std::array<std::uint64_t, 6> forwarded_answers{};
  std::uint64_t forwarded_cancelled = 0;
  std::uint64_t forwarded_broken = 0;  // The engine's side ended an answer under way.
  std::uint64_t retries = 0;
  // The AI gateway: attempts that reached an engine.
  MetricHistogram ttft;
  MetricHistogram per_token;
  MetricHistogram succeeded;  // Durations.
  MetricHistogram failed;
  MetricHistogram tokens_in;
  MetricHistogram tokens_cached;
  MetricHistogram tokens_created;  // Written to a cache at a price: none here.
  MetricHistogram tokens_out;
};

}  // namespace plimsoll
