// What it costs to judge a step of ten million calls: 9,000 lanes, ten blocks, three parts, from
// the cells that ingest leaves behind. The bound of the verdict is a second and 200 MB.
#include <cstdio>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "common/base/rng.h"
#include "coordinator/judge/judge_step.h"
#include "coordinator/judge/step_summary.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kLanes = 9'000;
constexpr std::uint32_t kBlocks = 10;
constexpr std::uint64_t kCalls = 10'000'000;

rusage Usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

double CpuSeconds() {
  const rusage usage = Usage();
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Bar TheBar() {
  Bar bar;
  bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 5},
                {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 10},
                {.metric = Metric::kErrors, .value = 0.02}};
  return bar;
}

StepEvidence TheStep(const Bar& bar) {
  Rng rng(1);
  StepEvidence e;
  e.plan = {.step = 1, .sessions = kLanes, .measure = 600s, .block = 60s};
  e.tier_names = {"heavy"};
  e.tiers.resize(1);
  e.planned_lane_ns = std::int64_t{kLanes} * 600'000'000'000;
  e.lane_state_ns[0] = e.planned_lane_ns;
  e.agents = {{.slot = 0, .name = "bench", .lanes = kLanes, .attempts = kCalls}};
  const auto calls = static_cast<std::uint32_t>(kCalls / (kLanes * kBlocks * 2)) + 1;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    for (std::uint32_t half = 0; half < kBlocks * 2; ++half) {
      CellCounts cell{.lane = lane,
                      .block = half / 2,
                      .half = static_cast<std::uint8_t>(half % 2),
                      .ttft_n = calls,
                      .rate_n = calls,
                      .attempts = calls};
      for (std::uint32_t i = 0; i < calls; ++i) {
        const auto ttft = static_cast<std::int64_t>(rng.Exponential() * 2e9);
        e.ttft_ns.Record(ttft);
        cell.failed += rng.Chance(0.01) ? 1 : 0;
      }
      for (const Limit& limit : bar.limits) {
        const auto hits = static_cast<std::uint32_t>(calls * (0.85 + 0.15 * rng.Uniform()));
        PartCounts part{.n = calls, .hits = hits, .hits_strict = hits, .hits_loose = hits};
        for (std::size_t k = 0; k < part.hits_at.size(); ++k) part.hits_at[k] = k < 4 ? 0 : calls;
        cell.parts.push_back(part);
        static_cast<void>(limit);
      }
      e.cells.push_back(std::move(cell));
    }
  }
  return e;
}

int Main() {
  const Bar bar = TheBar();
  const StepEvidence evidence = TheStep(bar);
  const double begin = CpuSeconds();
  const StepVerdict verdict = JudgeStep(evidence, bar);
  const double judged = CpuSeconds();
  const StepSummary summary = Summarize(evidence, verdict);
  const double whole = CpuSeconds();
  const double megabytes = static_cast<double>(Usage().ru_maxrss) / 1024;
  std::uint64_t n = 0;
  for (const PartVerdict& part : verdict.parts) n = std::max(n, part.n);
  std::printf("%llu calls in %zu cells, %zu parts: judged in %.3f s of CPU, summarised in %.3f s\n",
              static_cast<unsigned long long>(n), evidence.cells.size(), verdict.parts.size(),
              judged - begin, whole - judged);
  std::printf("largest memory %.0f MB, evidence included; bound 1 s and 200 MB: %s\n", megabytes,
              whole - begin < 1 && megabytes < 200 ? "met" : "NOT met");
  if (verdict.is_void || n < kCalls) {
    std::printf("the step was not judged: %s\n",
                verdict.reasons.empty() ? "too few calls" : verdict.reasons.front().c_str());
    return 1;
  }
  return summary.plan.sessions == kLanes ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll

int main() {
  return plimsoll::Main();
}
