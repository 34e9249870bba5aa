// A step judged from what servers report: their own verdicts, merged with the client's as the
// scenario's `judge:` says, and everything else that is to be said of them. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/judge/evidence.h"
#include "coordinator/judge/server_summary.h"
#include "coordinator/judge/suspicion.h"
#include "coordinator/serverjudge/server_part.h"
#include "coordinator/serverjudge/sweep_events.h"

namespace plimsoll {

// Of the judge's evidence, what a server's verdict may know; `evals` were asked beside it.
ClientLoad LoadOf(const StepEvidence& evidence, const StepVerdict& client,
                  const EvalTraffic& evals = {});

struct ServerStep {
  JudgeMode mode = JudgeMode::kBoth;
  const SignalHistory& history;
  std::vector<MeasuredSpan> spans;  // In the order of time; of an extension those of both steps.
  MonoTime begin{};                 // Of the step, its warm-up included.
  MonoTime end{};                   // Until which pages count.
  KvFullRule kv_full;
};

struct ServerJudgement {
  StepVerdict verdict;  // The step's.
  ServerSummary summary;
  ServerCounts counts;   // For the suspicion list: without evals, as far as they can be told.
  bool changed = false;  // Some part is not the client's any more.
};

// `client` is the step's verdict by the client's records alone; a void one stays as it is.
ServerJudgement JudgeServer(const ServerStep& step, const StepVerdict& client,
                            const ClientLoad& load);

}  // namespace plimsoll
