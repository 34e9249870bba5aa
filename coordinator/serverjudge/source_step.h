// What the pages of one source (the engines, the gateway) say of a step: as a whole, block by
// block, and of the time in which its last requests ended. Pure.
//
// A step's edges are instants, pages come when they come. An edge is the page nearest to it that
// could be read, at most half a block away; a target without one has no page of the step. Edges
// between blocks need one of every target, or the two blocks are one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/judge/server_summary.h"
#include "coordinator/signals/source_reading.h"
#include "coordinator/signals/step_readings.h"

namespace plimsoll {

// A measured time: a step has one, with an extension two.
struct MeasuredSpan {
  MonoTime from{};
  MonoTime to{};
  MonoTime ended{};  // When every call released in it had ended, or was cut.
  Duration block{};
};

struct SpanReading {
  SourceReading whole;
  std::vector<bool> idle;  // By target: nothing ran or waited there on any page.
  // One a block, or a few together; empty: some target has no page of an edge.
  std::vector<SourceReading> blocks;
  // From the measured time's end to a page at or after `ended`; absent: there is none of every
  // target.
  std::optional<SourceReading> after;
  double seconds = 0;
  // Share of the time between the pages of its ends, of the target that has the least of it.
  double covered = 1;
};

struct SourceStep {
  PartSource source = PartSource::kEngines;
  std::vector<std::string> targets;  // Names; empty: the scenario has none.
  std::vector<SpanReading> spans;    // Empty without targets.

  bool there() const { return !targets.empty(); }
  // Every target has the signal in every span; copies that were idle need not have observed
  // anything.
  bool Has(Signal signal) const;
  // "engine-1: the page could not be read (connection refused)": why Has() is false, or empty.
  std::string Lacks(Signal signal) const;
  // "engine-1: the process restarted (…)": the worst of what happened; empty: all counters counted
  // on.
  std::string BrokenBy() const;
  bool Trusted(Signal signal) const;
  // Of a counter, over all spans; whatever targets lack.
  double Increase(Signal signal) const;
  // Of a gauge on the last pages of the spans, added up.
  double Last(Signal signal) const;
  // SpanReading::covered of all spans.
  double Covered() const;
};

// The source's name in a SignalHistory.
std::string_view KeyOf(PartSource source);

SourceStep ReadSource(const SignalHistory& history, PartSource source,
                      std::span<const MeasuredSpan> spans);

// All of a target's pages from one instant to another, of gauges: counters may lack an end.
struct TargetGauges {
  std::string target;  // Its name.
  TargetReading reading;
};
// By target; empty: the source has none.
std::vector<TargetGauges> ReadGauges(const SignalHistory& history, PartSource source, MonoTime from,
                                     MonoTime to);

}  // namespace plimsoll
