// Runs that the simulator's tests begin with.
#pragma once

#include <memory>

#include "common/corpus/synth.h"
#include "gtest/gtest.h"
#include "tests/sim/fleet_sim.h"

namespace plimsoll {

// A corpus of both tiers whose calls are a twentieth of the recorded lengths.
inline std::shared_ptr<const Corpus> ScaledCorpus() {
  static const auto corpus = std::make_shared<const Corpus>(SynthCorpus({.seed = 5, .scale = 20}));
  return corpus;
}

// Three steps of a minute on an engine that carries them easily; calls take about 0.3 s.
inline SimOptions SmallRun() {
  SimOptions o;
  o.corpus = ScaledCorpus();
  o.plan.run_id = "sim";
  o.plan.target.url = "http://127.0.0.1:1/v1";
  o.plan.target.model = "model";
  o.network.through_codec = true;
  o.plan.seed = 42;
  o.plan.nonce = 7;
  o.plan.tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
                  {.name = "light", .tier = Tier::kLight, .share = 1}};
  o.settings.sessions = {4, 6, 8};
  o.settings.agents = 2;
  o.settings.step = {
      .warm_up = 10s, .measure = 60s, .block = 10s, .drain_limit = 30s, .prime_limit = 20s};
  o.engine.prefill_tokens_per_s = 60'000;
  o.bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 5},
                  {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 2},
                  {.metric = Metric::kErrors, .value = 0.05}};
  return o;
}

inline void ExpectIdentities(const RunResult& result) {
  for (const RunStep& step : result.steps) {
    for (const Identity& identity : step.summary.identities) {
      EXPECT_TRUE(identity.holds()) << "step " << step.summary.plan.step << ": " << identity.name
                                    << ": " << identity.left << " against " << identity.right;
    }
  }
}

}  // namespace plimsoll
