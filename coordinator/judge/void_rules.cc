#include "coordinator/judge/void_rules.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

namespace plimsoll {
namespace {

double Millis(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-6;
}

// |ns| without the overflow that the most negative number has.
bool Exceeds(std::int64_t ns, Duration bound) {
  return ns > bound.count() || ns < -bound.count();
}

void CheckAgent(const AgentEvidence& agent, std::vector<std::string>& reasons) {
  if (agent.lost) reasons.push_back(fmt::format("agent '{}' was lost during the step", agent.name));
  if (agent.records_lost > 0) {
    reasons.push_back(fmt::format("agent '{}' lost {} records", agent.name, agent.records_lost));
  }
  if (Exceeds(agent.skew_ns, void_rules::kSkewMax)) {
    reasons.push_back(
        fmt::format("agent '{}' started {:.0f} ms off the common start, over {:.0f} ms", agent.name,
                    Millis(agent.skew_ns), Millis(void_rules::kSkewMax.count())));
  }
}

// A saturated generator measures itself.
void CheckGenerator(const AgentEvidence& agent, double measured_ns,
                    std::vector<std::string>& reasons) {
  if (Exceeds(agent.lateness_p99_ns, void_rules::kLatenessP99Max)) {
    reasons.push_back(fmt::format(
        "generator-limited: 1% of agent '{}''s calls left {:.0f} ms late or more, over {:.0f} ms",
        agent.name, Millis(agent.lateness_p99_ns), Millis(void_rules::kLatenessP99Max.count())));
  }
  if (Exceeds(agent.loop_lag_max_ns, void_rules::kLoopLagMax)) {
    reasons.push_back(fmt::format(
        "generator-limited: agent '{}''s event loop stood still for {:.0f} ms, over {:.0f} ms",
        agent.name, Millis(agent.loop_lag_max_ns), Millis(void_rules::kLoopLagMax.count())));
  }
  const double stalled = static_cast<double>(agent.loop_stalled_ns) / measured_ns;
  if (!(stalled <= void_rules::kLoopStalledShareMax)) {
    reasons.push_back(
        fmt::format("generator-limited: agent '{}''s event loop stood still for {:.1f}% of the "
                    "measured time, over {:.0f}%",
                    agent.name, stalled * 100, void_rules::kLoopStalledShareMax * 100));
  }
  if (!(agent.cpu_share_max <= void_rules::kCpuShareMax)) {  // NaN is no proof of health.
    reasons.push_back(fmt::format(
        "generator-limited: agent '{}' used {:.0f}% of a core in its worst second, over {:.0f}%",
        agent.name, agent.cpu_share_max * 100, void_rules::kCpuShareMax * 100));
  }
}

// Whether `part` is over `bound` of `whole`. What is not known is not held against an agent; NaN is
// no proof of health.
template <typename Part, typename Whole>
bool Over(const std::optional<Part>& part, const std::optional<Whole>& whole, double bound) {
  if (!part || !whole) return false;
  return !(static_cast<double>(*part) <= bound * static_cast<double>(*whole));
}

// What kept the agent, or nearly kept it, from doing as planned.
void CheckHost(const AgentEvidence& agent, std::optional<std::int64_t> measured_ns,
               std::vector<std::string>& reasons) {
  const HostLoad& host = agent.host;
  const auto limited = [&](bool over, double bound, const auto& words) {
    if (over) reasons.push_back(fmt::format("generator-limited: {}, over {:g}%", words(), bound));
  };
  const auto share_of_time = [&](const std::optional<std::int64_t>& ns) {
    return static_cast<double>(*ns) / static_cast<double>(*measured_ns) * 100;
  };
  using namespace void_rules;
  limited(Over(host.thread_share_max, std::optional(1.0), kCpuShareMax), kCpuShareMax * 100, [&] {
    return fmt::format(
        "a thread of agent '{}' beside its event loop used {:.0f}% of a core in its worst second",
        agent.name, *host.thread_share_max * 100);
  });
  limited(Over(host.cores_used_max, host.cores, kCpuShareMax), kCpuShareMax * 100, [&] {
    return fmt::format("agent '{}' used {:.3g} of its {:.3g} cores in its worst second", agent.name,
                       *host.cores_used_max, *host.cores);
  });
  limited(Over(host.throttled_ns, measured_ns, kHeldBackShareMax), kHeldBackShareMax * 100, [&] {
    return fmt::format(
        "agent '{}' was throttled by its control group's quota for {:.1f}% of the measured time",
        agent.name, share_of_time(host.throttled_ns));
  });
  limited(Over(host.stolen_ns, measured_ns, kHeldBackShareMax), kHeldBackShareMax * 100, [&] {
    return fmt::format(
        "{:.1f}% of the processor time of agent '{}''s machine went to its host's other guests",
        share_of_time(host.stolen_ns), agent.name);
  });
  limited(Over(host.descriptors_max, host.descriptors_limit, kRoomShareMax), kRoomShareMax * 100,
          [&] {
            return fmt::format("agent '{}' had {} of its {} descriptors open", agent.name,
                               *host.descriptors_max, *host.descriptors_limit);
          });
  limited(Over(host.ports_max, host.ports_limit, kRoomShareMax), kRoomShareMax * 100, [&] {
    return fmt::format("agent '{}''s machine had {} TCP sockets for its {} local ports", agent.name,
                       *host.ports_max, *host.ports_limit);
  });
}

void CheckClientErrors(const StepEvidence& evidence, std::vector<std::string>& reasons) {
  std::uint64_t attempts = 0;
  for (const std::uint64_t count : evidence.outcomes) attempts += count;
  const std::uint64_t ours = evidence.outcomes[static_cast<std::size_t>(Outcome::kClientError)];
  if (static_cast<double>(ours) >
      void_rules::kClientErrorShareMax * static_cast<double>(attempts)) {
    reasons.push_back(fmt::format("{} of {} attempts failed by our own fault, over {:.1f}%", ours,
                                  attempts, void_rules::kClientErrorShareMax * 100));
  }
}

double ShareOfPlanned(const StepEvidence& evidence, double ns) {
  if (evidence.planned_lane_ns <= 0) return 0;
  return std::clamp(ns / static_cast<double>(evidence.planned_lane_ns), 0.0, 1.0);
}

}  // namespace

double OfferedShare(const StepEvidence& evidence) {
  if (evidence.planned_lane_ns <= 0) return 0;
  double theirs = 0;  // Sums in double: one agent's nonsense cannot overflow it.
  double ours = 0;
  for (std::size_t i = 0; i < kLaneStates; ++i) {
    (IsOurs(static_cast<LaneState>(i)) ? ours : theirs) +=
        static_cast<double>(evidence.lane_state_ns[i]);
  }
  const double unaccounted = static_cast<double>(evidence.planned_lane_ns) - theirs - ours;
  return 1 - ShareOfPlanned(evidence, ours + std::max(0.0, unaccounted));
}

double SentShare(const StepEvidence& evidence) {
  const auto state = [&](LaneState s) {
    return static_cast<double>(evidence.lane_state_ns[static_cast<std::size_t>(s)]);
  };
  return ShareOfPlanned(evidence, state(LaneState::kInFlight) + state(LaneState::kPlannedDelay));
}

std::vector<std::string> VoidReasons(const StepEvidence& evidence) {
  std::vector<std::string> reasons;
  if (evidence.agents.empty()) reasons.emplace_back("no agent reported");
  for (const AgentEvidence& agent : evidence.agents) CheckAgent(agent, reasons);
  for (const Identity& identity : evidence.identities) {
    if (identity.holds()) continue;
    reasons.push_back(fmt::format("the counts do not add up: {}: {} against {}", identity.name,
                                  identity.left, identity.right));
  }
  CheckClientErrors(evidence, reasons);
  const auto measured_ns = static_cast<double>(evidence.plan.measure.count());
  for (const AgentEvidence& agent : evidence.agents) {
    CheckGenerator(agent, measured_ns, reasons);
    CheckHost(agent, evidence.plan.measure.count(), reasons);
  }
  // Of a step that an agent did not tell of, nobody knows what was offered.
  const bool told = std::none_of(evidence.agents.begin(), evidence.agents.end(),
                                 [](const AgentEvidence& a) { return a.lost || a.no_tally; });
  if (evidence.planned_lane_ns <= 0) {
    reasons.emplace_back("no lane-time was planned");
  } else if (!told) {
    return reasons;
  } else if (const double offered = OfferedShare(evidence);
             offered < void_rules::kOfferedShareMin) {
    reasons.push_back(fmt::format("only {:.1f}% of the planned load was offered, under {:.0f}%",
                                  offered * 100, void_rules::kOfferedShareMin * 100));
  }
  return reasons;
}

}  // namespace plimsoll
