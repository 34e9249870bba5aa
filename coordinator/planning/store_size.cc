#include "coordinator/planning/store_size.h"

#include <algorithm>

#include "common/base/time.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// A record has about a hundred bytes; it is in the log, and in two levels while they are merged.
constexpr double kBytesARecord = 300;
// Two sparse histograms and a few counts, of one lane and block.
constexpr double kBytesACell = 4096;
// An engine's page of 350 lines takes 8 MB an hour at one a second, one of 2,000 lines 47 MB
// (docs/signals.md); a run keeps at most 4 GiB.
constexpr double kBytesAPageHour = 47e6;
constexpr double kPagesMax = 4.0 * (std::uint64_t{1} << 30);
constexpr std::uint64_t kAside = std::uint64_t{96} << 20;
// Retries, an extension, a repeat.
constexpr double kMore = 2;
// Beyond any disk; sums of what a plan multiplies stay numbers.
constexpr double kMost = 1e18;

std::uint64_t Bytes(double bytes) {
  return bytes > 0 ? static_cast<std::uint64_t>(std::min(bytes, kMost)) : 0;
}

}  // namespace

StoreSize StoreSizeOf(const Scenario& scenario, const DryPlan& dry) {
  const Sweep& sweep = scenario.sweep;
  double requests = 0;
  double lanes = 0;
  for (const DryStep& step : dry.steps) {
    // The dry plan counts the measured time; warm-up and cool-down are load too.
    const double measured = std::max(1e-9, ToSeconds(sweep.measure));
    requests += step.requests * std::max(1.0, ToSeconds(step.at_most) / measured);
    lanes += step.sessions;
  }
  if (scenario.evals) requests /= std::max(0.01, 1 - scenario.evals->share);
  const double blocks = ToSeconds(sweep.measure) / std::max(1e-9, ToSeconds(sweep.block));
  StoreSize size;
  size.records = Bytes(kMore * kBytesARecord * requests);
  size.cells = Bytes(kMore * kBytesACell * lanes * blocks);
  if (scenario.signals) {
    const double every = std::max(1e-3, ToSeconds(scenario.signals->every));
    const double pages = static_cast<double>(scenario.signals->targets.size()) *
                         ToSeconds(dry.at_most) / 3600 / every;
    size.pages = Bytes(std::min(kPagesMax, kBytesAPageHour * pages));
  }
  size.aside = kAside;
  return size;
}

std::string SizeText(std::uint64_t bytes) {
  const double mb = static_cast<double>(bytes) / 1e6;
  return mb < 999.5 ? fmt::format("{:.0f} MB", mb) : fmt::format("{:.1f} GB", mb / 1e3);
}

}  // namespace plimsoll
