// Puts the engine into the state that the rules of its faults give it, when their time begins and
// when it ends. On a Scheduler: behind plimsoll-gateway and in tests/sim.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "common/base/scheduler.h"
#include "gateway/engine/engine.h"
#include "gateway/faults/faults.h"

namespace plimsoll {

class EngineFaults {
 public:
  // Times of rules run from now. `scheduler` and `engine` outlive it.
  EngineFaults(Scheduler& scheduler, Engine& engine, std::span<const FaultRule> rules);
  EngineFaults(const EngineFaults&) = delete;
  EngineFaults& operator=(const EngineFaults&) = delete;

  // For the rules that run from the first chat request; once, further calls are ignored.
  void OnFirstRequest();
  FaultMoment Moment() const { return {scheduler_.Now() - start_, first_request_}; }

 private:
  void Apply();

  Scheduler& scheduler_;
  Engine& engine_;
  std::vector<FaultRule> rules_;  // Those of the engine.
  const MonoTime start_;
  std::optional<Duration> first_request_;
  std::vector<EngineCondition> set_;  // By copy.
  Timer next_;
};

}  // namespace plimsoll
