// What servers say of a step that ends the sweep after it, whatever its verdict: a KV cache that
// stayed full, and refusals in every block. Pure.
#pragma once

#include <string>

#include "coordinator/judge/sweep_event.h"
#include "coordinator/serverjudge/server_part.h"
#include "coordinator/serverjudge/source_step.h"

namespace plimsoll {

// The KV cache counts as full where the fullest rank of an engine held at least `threshold` of it
// on every page for `time`, by that engine's own pages; a time of which none could be read is not
// one in which it was full. The next step would preempt, and measure that.
struct KvFullRule {
  double threshold = 0.95;  // Share of the cache.
  Duration time = 30s;
};

// Refusals are sustained where in every block, of at least three, the gateway (without one the
// engines) turned away at least this share of the requests, and so many in all; evals are none of
// them. A source that counts refusals among its error statuses, as all that ship do, has those in
// every block, and the agents' attempts say how many were refusals.
inline constexpr double kSustainedRefusalShare = 0.05;
inline constexpr double kSustainedRefusalsMin = 20;

struct SweepEnd {
  SweepEvent event = SweepEvent::kNone;
  std::string why;  // In words; empty of kNone.
};

// `from` to `to` is the whole step, its warm-up included.
SweepEnd EndOfSweep(const SignalHistory& history, MonoTime from, MonoTime to,
                    const SourceStep& engines, const SourceStep& gateway, const KvFullRule& rule,
                    const ClientLoad& load);

}  // namespace plimsoll
