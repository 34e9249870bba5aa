// All of a run's preflight, one part after another: this machine, calls to the target, servers'
// pages, the kill switch's rules, whether a hang-up reaches the engine.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/scheduler.h"
#include "common/chat/http_call_transport.h"
#include "common/http/transport.h"
#include "coordinator/cli/run_signals.h"
#include "coordinator/cli/scenario_files.h"
#include "coordinator/run/cancel_probe.h"
#include "coordinator/run/preflight.h"

namespace plimsoll {

class RunPreflight {
 public:
  struct Deps {
    HttpTransport& http;
    CallTransport& calls;  // Of the plan's target.
    Scheduler& scheduler;
    const LoadedScenario& loaded;
    const RunPlan& plan;
    HttpCallOptions secrets;
    RunSignals* signals = nullptr;  // Null: no server is asked.
    std::string store;
  };

  // Begins at once; `done` is called once, later, and must not destroy this. All that `deps` names
  // outlives it. The first blocking finding ends it.
  RunPreflight(Deps deps, std::function<void(PreflightReport)> done);
  ~RunPreflight();

 private:
  void Add(Finding finding);
  void AfterCalls(PreflightReport report);
  void AfterPages(PreflightReport report);
  void End();

  const Deps deps_;
  std::function<void(PreflightReport)> done_;
  const std::uint64_t key_;  // Salts its prompts apart from every lane's.
  bool system_first_ = true;
  PreflightReport report_;
  std::unique_ptr<Preflight> calls_;
  std::unique_ptr<CancelProbe> probe_;
  Timer later_;
};

}  // namespace plimsoll
