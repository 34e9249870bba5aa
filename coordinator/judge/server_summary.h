// What is kept and shown of what servers said of a step: the verdicts that their own numbers give,
// what was wanted of them and not got, what happened to them, and a few figures. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "coordinator/judge/sweep_event.h"
#include "coordinator/judge/verdict.h"
#include "coordinator/signals/continuity.h"
#include "coordinator/signals/judge_mode.h"
#include "coordinator/signals/missing.h"
#include "coordinator/signals/signal.h"

namespace plimsoll {

// Whose numbers a verdict rests on. Kept with runs: never renumber.
enum class PartSource : std::uint8_t { kClient = 1, kEngines = 2, kGateway = 3 };
inline constexpr int kPartSources = 3;  // The highest number.

// "client", "engines", "gateway".
constexpr std::string_view Name(PartSource source) {
  switch (source) {
    case PartSource::kClient:
      return "client";
    case PartSource::kEngines:
      return "engines";
    case PartSource::kGateway:
      break;
  }
  return "gateway";
}

// What one source alone says of one limit.
struct SourcePart {
  PartSource source = PartSource::kClient;
  std::uint32_t part = 0;  // Index among the step's parts.
  PartVerdict verdict;
};

// A signal that was wanted of a target and is missing.
struct NotGotSignal {
  PartSource source = PartSource::kEngines;
  std::string target;
  Signal signal = Signal::kTtft;
  Missing missing = Missing::kNotMapped;
  std::string why;  // The read's error, the mapping's reason, the names looked for; may be empty.
  friend bool operator==(const NotGotSignal&, const NotGotSignal&) = default;
};

// What happened to a target within the measured time.
struct TargetOutcome {
  PartSource source = PartSource::kEngines;
  std::string target;
  Continuity continuity = Continuity::kReset;  // Never kWhole.
  std::string why;
  friend bool operator==(const TargetOutcome&, const TargetOutcome&) = default;
};

// A source's signal over the measured time.
struct SourceFigure {
  PartSource source = PartSource::kEngines;
  Signal signal = Signal::kRunning;
  double value = 0;           // A counter's increase; a gauge's mean over the time.
  std::optional<double> max;  // Of a gauge.
  bool partial = false;       // Some of the source's targets lack it: a part of the truth.
  friend bool operator==(const SourceFigure&, const SourceFigure&) = default;
};

struct ServerSummary {
  JudgeMode mode = JudgeMode::kBoth;
  // By part, then client, engines, gateway. Empty of a void step.
  std::vector<SourcePart> parts;
  std::vector<NotGotSignal> not_got;
  std::vector<TargetOutcome> outcomes;
  std::vector<SourceFigure> figures;
  std::vector<std::string> findings;  // What cannot be right, one line each.
  SweepEvent ends_sweep = SweepEvent::kNone;
  std::string ends_why;  // In words; empty of kNone.

  // Null: the source has none.
  const SourceFigure* Find(PartSource source, Signal signal) const {
    for (const SourceFigure& figure : figures) {
      if (figure.source == source && figure.signal == signal) return &figure;
    }
    return nullptr;
  }
};

// Kept with runs: never renumber.
enum class DrainState : std::uint8_t {
  kBack = 1,     // Where it was before the run, over two reads.
  kNotBack = 2,  // Not within the time that was waited.
  kUnknown = 3,  // Nobody could tell: pages or gauges are missing.
};
inline constexpr int kDrainStates = 3;  // The highest number.

constexpr std::string_view Name(DrainState state) {
  switch (state) {
    case DrainState::kBack:
      return "back";
    case DrainState::kNotBack:
      return "not back";
    case DrainState::kUnknown:
      break;
  }
  return "unknown";
}

// One gauge of one target, before the run and at the end.
struct DrainGauge {
  PartSource source = PartSource::kEngines;
  std::string target;
  Signal signal = Signal::kRunning;
  std::optional<double> before;  // The most that it showed; absent: it was not seen.
  std::optional<double> now;     // Absent: the page could not be read.
  bool back = false;
  friend bool operator==(const DrainGauge&, const DrainGauge&) = default;
};

// Whether the deployment is back where it started.
struct DrainSummary {
  DrainState state = DrainState::kUnknown;
  Duration took{};  // From the end of the load until it was back, or until nobody waited any more.
  double orphaned = 0;  // Requests in the engines beyond those that callers wait for; 0: none.
  std::vector<DrainGauge> gauges;
  std::vector<std::string> lines;  // What is not back, or not known; of kBack what to know.
  friend bool operator==(const DrainSummary&, const DrainSummary&) = default;
};

}  // namespace plimsoll
