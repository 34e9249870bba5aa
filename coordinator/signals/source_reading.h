// What a source says of a time: its targets (the copies of an engine, the gateway's processes)
// together. Pure.
//
// Counters are summed, histograms merged where their edges are equal, gauges added up, or the
// largest taken, as the mapping says. A target that lacks a signal makes the source's number a part
// of the truth: it is listed, and whoever judges must not take the rest for the whole.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coordinator/signals/target_reading.h"

namespace plimsoll {

// Which targets lack a signal, and in which of the ways.
struct LackingTarget {
  std::size_t target = 0;  // Index.
  Missing missing = Missing::kNotMapped;
  std::string why;
};

struct SourceSignal {
  SignalReading reading;               // Of the targets that have it; missing: none has.
  std::vector<LackingTarget> lacking;  // Empty: all have it.

  bool complete() const { return reading.here() && lacking.empty(); }
};

// A target whose counters did not count on.
struct BrokenTarget {
  std::size_t target = 0;  // Index.
  Continuity continuity = Continuity::kReset;
  std::string why;
};

struct SourceReading {
  std::vector<SourceSignal> signals;  // Every signal, in AllSignals()'s order.
  std::vector<BrokenTarget> broken;   // In the order of the targets.
  // The worst of what happened; with its reason.
  Continuity continuity = Continuity::kWhole;
  std::string continuity_why;

  bool whole() const { return broken.empty(); }
  const BrokenTarget* Broken(std::size_t target) const;  // Null: it is whole.

  const SourceSignal& Of(Signal signal) const;
};

// Of all targets of one source, in a fixed order; at least one.
SourceReading CombineTargets(std::span<const TargetReading> targets);

// What a source has for a bar on interactivity: times per token, one a request if it has them, else
// one a gap, which must be said. Null: neither.
struct InteractivitySignal {
  const SourceSignal* signal = nullptr;
  bool per_request = false;
};
InteractivitySignal InteractivityOf(const SourceReading& source);

// "wanted and not got": one line for each of `wanted` that is missing somewhere, such as
// "vllm: errors of engine-1: the page could not be read (connection refused)". `targets` are the
// targets' names.
std::vector<std::string> NotGot(const SourceReading& source, const std::string& source_name,
                                std::span<const std::string> targets,
                                std::span<const Signal> wanted);

}  // namespace plimsoll
