#include "gateway/metrics/engine_counts.h"

#include "common/base/check.h"

namespace plimsoll {
namespace {

constexpr double kVllmTtft[] = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75,
                                1,     2.5,   5,    7.5,  10,   20,   40,   80,  160,  640, 2560};
constexpr double kVllmToken[] = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
                                 0.75, 1,     2.5,  5,     7.5, 10,   20,  40,  80};
constexpr double kVllmRequest[] = {0.3, 0.5, 0.8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
                                   30,  40,  50,  60, 120, 240, 480, 960, 1920, 7680};
constexpr double kVllmTokens[] = {1,     2,      5,      10,     20,     50,    100,
                                  200,   500,    1000,   2000,   5000,   10000, 20000,
                                  50000, 100000, 200000, 500000, 1000000};
constexpr double kSglangTtft[] = {0.1, 0.2, 0.4, 0.6, 0.8, 1,  2,   4,   6,
                                  8,   10,  20,  40,  60,  80, 100, 200, 400};
constexpr double kSglangGap[] = {0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02, 0.025,
                                 0.03,  0.035, 0.04,  0.06,  0.08, 0.1,   0.2,  0.4,
                                 0.6,   0.8,   1,     2,     4,    6,     8};
constexpr double kSglangRequest[] = {0.1, 0.2, 0.4, 0.6, 0.8, 1,   2,   4,   6,    8,    10,
                                     20,  40,  60,  80,  100, 200, 400, 600, 1200, 1800, 2400};
constexpr double kSglangQueue[] = {0,   0.1,  0.2,  0.5,  1,    2,    3,    4,    5,
                                   10,  15,   20,   30,   40,   50,   60,   70,   80,
                                   90,  100,  200,  300,  400,  500,  600,  700,  800,
                                   900, 1000, 1200, 1400, 1600, 1800, 2000, 2500, 3000};
constexpr double kSglangTokens[] = {100,   300,    500,    700,    1000,   1500,   2000,  3000,
                                    4000,  5000,   6000,   7000,   8000,   9000,   10000, 12000,
                                    15000, 20000,  22000,  25000,  30000,  35000,  40000, 66000,
                                    99000, 132000, 300000, 600000, 900000, 1100000};

constexpr EngineBounds kVllm = {.ttft = kVllmTtft,
                                .gap = kVllmToken,
                                .per_token = kVllmToken,
                                .duration = kVllmRequest,
                                .queue = kVllmRequest,
                                .phase = kVllmRequest,
                                .tokens = kVllmTokens};
constexpr EngineBounds kSglang = {.ttft = kSglangTtft,
                                  .gap = kSglangGap,
                                  .per_token = kSglangGap,
                                  .duration = kSglangRequest,
                                  .queue = kSglangQueue,
                                  .phase = kSglangRequest,
                                  .tokens = kSglangTokens};

}  // namespace

const EngineBounds& BoundsOf(MetricKind kind) {
  PLIMSOLL_CHECK(IsEngine(kind));
  return kind == MetricKind::kSglang ? kSglang : kVllm;
}

EngineCounts::EngineCounts(const EngineBounds& bounds)
    : ttft(bounds.ttft),
      gap(bounds.gap),
      per_token(bounds.per_token),
      duration(bounds.duration),
      queue(bounds.queue),
      queue_started(bounds.queue),
      inference(bounds.phase),
      prefill(bounds.phase),
      decode(bounds.phase),
      prompt_length(bounds.tokens),
      output_length(bounds.tokens) {}

void EngineCounts::Clear() {
  *this = EngineCounts({.ttft = ttft.bounds(),
                        .gap = gap.bounds(),
                        .per_token = per_token.bounds(),
                        .duration = duration.bounds(),
                        .queue = queue.bounds(),
                        .phase = prefill.bounds(),
                        .tokens = prompt_length.bounds()});
}

}  // namespace plimsoll
