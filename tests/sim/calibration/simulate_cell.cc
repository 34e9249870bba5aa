#include "tests/sim/calibration/simulate_cell.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "common/base/rng.h"
#include "common/corpus/synth.h"
#include "common/record/call_record.h"
#include "coordinator/judge/judge_part.h"
#include "tests/sim/fleet_sim.h"

namespace plimsoll {
namespace {

constexpr Duration kWarmUp = 60s;

std::shared_ptr<const Corpus> CalibrationCorpus() {
  static const auto corpus =
      std::make_shared<const Corpus>(SynthCorpus({.seed = 5, .heavy = 64, .light = 64}));
  return corpus;
}

std::vector<TierPlan> TiersOf(Mix mix) {
  const TierPlan heavy{.name = "heavy", .tier = Tier::kHeavy, .share = 1};
  const TierPlan light{.name = "light", .tier = Tier::kLight, .share = 1};
  if (mix == Mix::kLight) return {light};
  if (mix == Mix::kHeavy) return {heavy};
  return {heavy, light};
}

// One engine that grows with the lanes, so that each number of lanes meets the same utilization
// while all lanes compete for one queue and one batch: the most that they can depend on each other.
EngineConfig EngineFor(const SimulatedCell& cell) {
  EngineConfig e;
  const double share = cell.lanes / 15.0 / cell.load;
  e.prefill_tokens_per_s = 60'000 * share;
  e.prefill_base_s = 0.03 / share;
  e.decode_slowdown = 0.03 / share;
  e.running_max = std::max(4u, static_cast<std::uint32_t>(64 * share));
  e.kv_blocks = static_cast<std::uint32_t>(150'000 * share);
  e.noise.drift_time = cell.drift_time;
  return e;
}

SimOptions OptionsOf(const SimulatedCell& cell, const std::vector<std::uint32_t>& sessions,
                     std::uint64_t path, std::uint64_t replicate) {
  SimOptions o;
  o.corpus = CalibrationCorpus();
  o.plan.run_id = "calibration";
  o.plan.target.url = "http://127.0.0.1:1/v1";
  o.plan.target.model = "model";
  o.plan.seed = MixKey(path, replicate);
  o.plan.nonce = o.plan.seed;
  o.plan.tiers = TiersOf(cell.mix);
  o.settings.sessions = sessions;
  o.settings.agents = 1;
  o.settings.step = {.warm_up = kWarmUp,
                     .measure = cell.blocks * cell.block,
                     .block = cell.block,
                     .drain_limit = 120s,
                     .prime_limit = 60s};
  o.engine = EngineFor(cell);
  o.engine_seeds = {.path = path, .calls = MixKey(replicate, path)};
  if (cell.refused > 0) {
    o.faults.push_back({.kind = FaultKind::kRefuse, .probability = cell.refused, .status = 500});
  }
  // A bar that everything passes: what a limit would say is asked afterwards, of all limits.
  o.bar.limits = {{.metric = Metric::kErrors, .value = 1}};
  return o;
}

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

SimulatedCall CallOf(const CallRecord& record, Duration block) {
  const bool ok = record.outcome == Outcome::kOk;
  const StepNanos ttft = TtftNanos(record);
  const double rate = Interactivity(record);
  const StepNanos since = record.first_released - kWarmUp.count();
  return {.lane = static_cast<std::uint16_t>(record.lane),
          .block = static_cast<std::uint16_t>(since / block.count()),
          .half = static_cast<std::uint8_t>(since % block.count() * 2 / block.count()),
          .ttft_s = ttft >= 0 ? static_cast<float>(ttft) * 1e-9f
                    : ok      ? kNone
                              : std::numeric_limits<float>::infinity(),
          .rate_tok_s = rate >= 0 ? static_cast<float>(rate)
                        : ok      ? kNone
                                  : 0.0f,
          .ended_s = static_cast<float>(record.end - kWarmUp.count()) * 1e-9f,
          .failed = !ok};
}

// Where each step of the run, by number, stands in the sweep; of one that was repeated its last
// try.
std::map<std::uint32_t, std::size_t> PlacesOf(const RunResult& result,
                                              const std::vector<std::uint32_t>& sessions) {
  std::map<std::uint32_t, std::size_t> places;
  for (std::size_t k = 0; k < sessions.size(); ++k) {
    std::optional<std::uint32_t> last;
    for (const RunStep& step : result.steps) {
      if (step.summary.plan.sessions == sessions[k]) last = step.summary.plan.step;
    }
    if (last) places[*last] = k;
  }
  return places;
}

}  // namespace

const char* Name(Mix mix) {
  return mix == Mix::kLight ? "light" : mix == Mix::kMix ? "mix" : "heavy";
}

std::vector<SimulatedStep> SimulateSweep(const SimulatedCell& cell,
                                         const std::vector<std::uint32_t>& sessions,
                                         std::uint64_t path, std::uint64_t replicate) {
  FleetSim sim(OptionsOf(cell, sessions, path, replicate));
  const RunResult result = sim.Run();
  const std::map<std::uint32_t, std::size_t> places = PlacesOf(result, sessions);
  std::vector<SimulatedStep> steps(sessions.size());
  const StepNanos begin = kWarmUp.count();
  const StepNanos end = begin + cell.blocks * cell.block.count();
  for (const CallRecord& record : sim.records()) {
    const auto at = places.find(record.step);
    if (at == places.end() || (record.flags & kLastAttempt) == 0) continue;
    if (record.first_released < begin || record.first_released >= end) continue;
    steps[at->second].calls.push_back(CallOf(record, cell.block));
  }
  for (SimulatedStep& step : steps) {
    std::stable_sort(step.calls.begin(), step.calls.end(),
                     [](const SimulatedCall& a, const SimulatedCall& b) {
                       return std::tie(a.lane, a.block) < std::tie(b.lane, b.block);
                     });
  }
  for (const auto& [number, kept] : sim.cells()) {
    const auto at = places.find(number);
    if (at == places.end()) continue;
    for (const Cell& one : kept) {
      steps[at->second].errors.push_back(BadCallsOf(Metric::kErrors, one.counts));
    }
  }
  return steps;
}

SimulatedStep Simulate(const SimulatedCell& cell, std::uint64_t path, std::uint64_t replicate) {
  return std::move(SimulateSweep(cell, {cell.lanes}, path, replicate).front());
}

}  // namespace plimsoll
