// What one simulated step costs: five minutes of 15 lanes, in the whole rig (coordinator, two
// agents, links, engine model with its noise). The design's bound is 10 ms of CPU, median of 20.
// Verdicts are calibrated with hundreds of thousands of such steps. 1: the bound is missed.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include <sys/resource.h>

#include "common/corpus/synth.h"
#include "tests/sim/fleet_sim.h"

namespace plimsoll {
namespace {

constexpr double kMillisMax = 10;

double CpuMs() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) * 1e-3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

SimOptions Step(std::shared_ptr<const Corpus> corpus, std::uint64_t seed) {
  SimOptions o;
  o.corpus = std::move(corpus);
  o.plan.run_id = "bench";
  o.plan.seed = o.plan.nonce = seed;
  o.plan.tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
                  {.name = "light", .tier = Tier::kLight, .share = 1}};
  o.settings.sessions = {15};
  o.settings.agents = 2;
  o.settings.step = {
      .warm_up = 60s, .measure = 300s, .block = 60s, .drain_limit = 120s, .prime_limit = 60s};
  o.engine_seeds = {.path = seed, .calls = seed};
  o.bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 5.3},
                  {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 10},
                  {.metric = Metric::kErrors, .value = 0.02}};
  return o;
}

int Main() {
  const auto corpus = std::make_shared<const Corpus>(SynthCorpus({.seed = 5}));
  std::vector<double> cpu_ms;
  std::uint64_t calls = 0;
  std::uint64_t tasks = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const double before = CpuMs();
    FleetSim sim(Step(corpus, seed));
    const RunResult result = sim.Run();
    cpu_ms.push_back(CpuMs() - before);
    calls += result.steps.at(0).summary.errors.attempts;
    tasks += sim.scheduler().ran();
    FleetSim again(Step(corpus, seed));
    if (again.Run().steps.at(0).summary.ttft.p90_s != result.steps.at(0).summary.ttft.p90_s) {
      std::printf("seed %llu gave two results\n", static_cast<unsigned long long>(seed));
      return 1;
    }
  }
  std::sort(cpu_ms.begin(), cpu_ms.end());
  const double median = (cpu_ms[9] + cpu_ms[10]) / 2;
  std::printf("a 5-minute step of 15 lanes: CPU median %.2f ms, min %.2f, max %.2f (20 seeds)\n",
              median, cpu_ms.front(), cpu_ms.back());
  std::printf("measured attempts a step %.0f, tasks a run %.0f, %.2f us a task\n",
              static_cast<double>(calls) / 20, static_cast<double>(tasks) / 20,
              median * 1e3 / (static_cast<double>(tasks) / 20));
  const bool met = median <= kMillisMax;
  std::printf("a simulated step: median %.2f ms of CPU; goal %g ms: %s\n", median, kMillisMax,
              met ? "met" : "NOT met");
  return met ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll

int main() {
  return plimsoll::Main();
}
