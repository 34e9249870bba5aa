// Whole runs in virtual time: what the rig does with a healthy engine, with faults, with lost
// agents.
#include "tests/sim/fleet_sim.h"

#include "common/corpus/synth.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

std::shared_ptr<const Corpus> SmallCorpus() {
  static const auto corpus = std::make_shared<const Corpus>(SynthCorpus({.seed = 5}));
  return corpus;
}

SimOptions Base() {
  SimOptions o;
  o.corpus = SmallCorpus();
  o.plan.run_id = "sim";
  o.plan.seed = 42;
  o.plan.nonce = 7;
  o.plan.tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
                  {.name = "light", .tier = Tier::kLight, .share = 1}};
  o.settings.sessions = {2, 4, 6};
  o.settings.agents = 2;
  o.settings.step = {
      .warm_up = 60s, .measure = 300s, .block = 60s, .drain_limit = 120s, .prime_limit = 60s};
  o.bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 60},
                  {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 1},
                  {.metric = Metric::kErrors, .value = 0.02}};
  return o;
}

void Explain(const FleetSim& sim, const RunResult& result) {
  for (const std::string& line : sim.said()) std::cout << line << "\n";
  std::cout << "exit " << static_cast<int>(result.code) << ": " << result.reason << "\n";
  for (const RunStep& step : result.steps) {
    std::cout << step.summary.plan.sessions << " sessions: " << Name(step.summary.verdict.verdict);
    for (const std::string& r : step.summary.verdict.reasons) std::cout << " | " << r;
    std::cout << "\n";
    for (const PartVerdict& p : step.summary.verdict.parts) std::cout << "   " << p.reason << "\n";
  }
}

void ExpectIdentities(const RunResult& result) {
  for (const RunStep& step : result.steps) {
    for (const Identity& identity : step.summary.identities) {
      EXPECT_TRUE(identity.holds())
          << identity.name << ": " << identity.left << " against " << identity.right;
    }
  }
}

TEST(FleetSim, AHealthyEngineHoldsEveryStep) {
  FleetSim sim(Base());
  const RunResult result = sim.Run();
  Explain(sim, result);
  EXPECT_EQ(result.code, ExitCode::kHeld);
  ASSERT_EQ(result.steps.size(), 3u);
  ExpectIdentities(result);
}

}  // namespace
}  // namespace plimsoll
