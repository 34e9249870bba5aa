#include "gateway/metrics/gateway_counts.h"

namespace plimsoll {
namespace {

constexpr double kEnvoyMs[] = {0.5,   1,      5,      10,      25,     50,    100,
                               250,   500,    1000,   2500,    5000,   10000, 30000,
                               60000, 300000, 600000, 1800000, 3600000};
constexpr double kTtft[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
                            1,     2.5,   5,    7.5,  10,   15,   20,   30,  45,   60};
constexpr double kPerToken[] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,
                                0.3,  0.4,   0.5,  0.75,  1,   2.5};
constexpr double kDuration[] = {0.01, 0.02, 0.04, 0.08,  0.16,  0.32,  0.64,
                                1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92};
constexpr double kTokens[] = {1,     4,     16,     64,      256,     1024,     4096,
                              16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864};

}  // namespace

void FlushedHistogram::FlushUntil(Duration since_start) {
  const std::int64_t flushes = every_ > 0ns ? since_start / every_ : flushes_ + 1;
  if (flushes <= flushes_) return;
  flushes_ = flushes;
  shown_.Add(since_);
  since_.Clear();
}

void FlushedHistogram::Observe(double value, Duration since_start) {
  FlushUntil(since_start);
  since_.Observe(value);
}

const MetricHistogram& FlushedHistogram::At(Duration since_start) {
  FlushUntil(since_start);
  return shown_;
}

void FlushedHistogram::Clear() {
  shown_.Clear();
  since_.Clear();
}

GatewayCounts::GatewayCounts(Duration flush)
    : duration_ms(kEnvoyMs, flush),
      ttft(kTtft),
      per_token(kPerToken),
      succeeded(kDuration),
      failed(kDuration),
      tokens_in(kTokens),
      tokens_cached(kTokens),
      tokens_created(kTokens),
      tokens_out(kTokens) {}

void GatewayCounts::Clear() {
  requests = hung_up = forwarded = forwarded_cancelled = forwarded_broken = retries = 0;
  answers = {};
  forwarded_answers = {};
  duration_ms.Clear();
  for (MetricHistogram* const histogram : {&ttft, &per_token, &succeeded, &failed, &tokens_in,
                                           &tokens_cached, &tokens_created, &tokens_out}) {
    histogram->Clear();
  }
}

}  // namespace plimsoll
