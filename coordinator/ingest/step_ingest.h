// One step's records folded into cells, and with the agents' tallies into the evidence that the
// judge reads. Pure: records and tallies in, evidence out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/plan/template_fit.h"
#include "common/record/call_record.h"
#include "coordinator/ingest/observation.h"
#include "coordinator/judge/bar.h"
#include "coordinator/judge/cell.h"
#include "coordinator/judge/evidence.h"

namespace plimsoll {

// By session of the corpus and call: the tokens of its prompt that earlier calls of its play (or
// the prefix that its class shares) have brought, with a cache that forgets nothing.
using CacheForecast = std::vector<std::vector<std::uint32_t>>;

class StepIngest {
 public:
  // `lanes` are those of the step, by number. `recorded_cycle` is, by tier, the recorded time from
  // one release to the next: it stands in where a tier has no ok call (design section 2, "unsent").
  // `fit` says what usage should report of a planned prompt, `output_cap` how many tokens a call
  // that asks for no length may bring (0: not known).
  StepIngest(const StepPlan& plan, std::vector<LaneSpec> lanes, std::vector<std::string> tier_names,
             std::vector<Duration> recorded_cycle, const Bar& bar, const TemplateFit& fit = {},
             std::uint32_t output_cap = 0);

  // What a prefix cache should hit; without it, cache hits are not compared. `forecast` outlives
  // this object.
  void Expect(const CacheForecast& forecast) { forecast_ = &forecast; }
  // Tiers that the step's ladder plays no session of: limits on them are not judged.
  void LeaveOut(std::vector<std::string> tiers) { tiers_left_out_ = std::move(tiers); }

  // Records of other steps are ignored.
  void Add(const CallRecord& record);
  void Add(const StepTally& tally);

  // Everything has arrived, or never will: books what only the whole step can tell (unsent calls,
  // calls without a last attempt) and hands the evidence over. `agents` holds what the fleet knows
  // of each.
  StepEvidence Close(std::vector<AgentEvidence> agents);

  // The step ends here, by a stop and not by its plan. Calls that the stop hangs up are counted
  // apart: they say nothing of the deployment.
  void BreakOff() { broken_off_ = true; }
  // The step was decided: its measured time ends at `measure`, and calls that the end hangs up did
  // not fail. They count as attempts; of their latencies only a TTFT that came.
  void EndEarly(Duration measure);
  std::uint64_t hung_up() const { return hung_up_; }
  // What a step that was broken off has measured. Without tallies there are no lane states, no
  // unsent calls and no identities in it.
  StepEvidence SoFar(std::vector<AgentEvidence> agents) const;
  const std::vector<Cell>& cells() const { return cells_; }
  // Of attempts released in the measured time, as their records came in.
  std::uint64_t attempts() const { return attempts_; }
  const OutcomeCounts& outcomes() const { return outcomes_; }
  const std::vector<std::string>& tier_names() const { return tier_names_; }

 private:
  // What is known of one stream of one play, for cycles and unfinished calls.
  struct StreamState {
    std::uint32_t stream = 0;
    StepNanos last_released = 0;  // First release of its last call seen.
    bool last_ok = false;
    bool open = false;  // That call failed and has not come to its last attempt.
  };
  // The play that a lane is at. A lane begins its next play when every call of the one before has
  // ended, and its agent's records come in order: what a new play's first record does not find is
  // complete. So memory grows with the plays alive, not with those that ever were.
  struct LanePlay {
    std::uint32_t play = 0;
    std::vector<StreamState> streams;
  };

  // Half-blocks are numbered through the measured time: 2 · block + half.
  std::optional<std::uint32_t> HalfAt(StepNanos released) const;
  Cell& CellAt(std::uint32_t lane, std::uint32_t half) {
    return cells_[std::size_t{lane} * blocks_ * 2 + half];
  }
  static StreamState& StreamOf(LanePlay& play, std::uint32_t stream);
  bool HungUp(const CallRecord& record) const {
    return ended_early_ && record.outcome == Outcome::kCut;
  }
  void CountAttempt(const CallRecord& record);
  void CountFidelity(const CallRecord& record, CellCounts& counts);
  void CountOutput(const CallRecord& record, CellCounts& counts);
  void CountSuspicion(const CallRecord& record);
  void CountCacheHits(const CallRecord& record);
  void Observe(const CallRecord& record, Cell& cell);
  void ObserveUnfinished(std::uint32_t lane);
  void BookUnsent();
  StepNanos MedianCycle(std::uint8_t tier) const;
  void AddIdentities(StepEvidence* evidence) const;
  void SumCells(StepEvidence* evidence) const;
  std::vector<BlockFigures> SumBlocks() const;

  StepPlan plan_;
  const std::vector<LaneSpec> lanes_;
  const std::vector<std::string> tier_names_;
  const std::vector<Duration> recorded_cycle_;
  const TemplateFit fit_;
  const std::uint32_t output_cap_;
  std::uint32_t blocks_;
  std::vector<PartCounter> parts_;  // By the bar's limits.

  std::vector<Cell> cells_;           // lane-major.
  std::vector<LanePlay> plays_;       // By lane.
  std::vector<Histogram> cycles_ns_;  // By tier.
  std::vector<CallEvidence> tiers_;   // Their outcomes and calls without usage.
  OutcomeCounts outcomes_{};
  std::uint64_t attempts_ = 0;
  std::int64_t first_releases_ = 0;  // Calls first released in the measured time.
  std::int64_t in_flight_ns_ = 0;    // Request-time within the measured time, as agents measure it.
  std::optional<std::uint64_t> tokens_in_;
  std::optional<std::uint64_t> tokens_cached_;
  std::optional<std::uint64_t> tokens_out_;
  FidelityEvidence fidelity_;
  SuspicionCounts suspicion_;
  const CacheForecast* forecast_ = nullptr;
  std::vector<std::string> tiers_left_out_;

  bool broken_off_ = false;
  bool ended_early_ = false;
  std::uint64_t hung_up_ = 0;

  std::vector<LaneTally> lane_tallies_;
  std::int64_t tally_calls_ = 0;            // Of all plays.
  std::int64_t tally_calls_elsewhere_ = 0;  // Of them not released in the measured time.
  // Sums over the calls first released in the measured time of what their play mixes to, by records
  // and by tallies: they differ when a call is another play's.
  std::uint32_t plays_mixed_ = 0;
  std::uint32_t tally_plays_mixed_ = 0;
  std::uint64_t tally_attempts_ = 0;
  OutcomeCounts tally_outcomes_{};
};

}  // namespace plimsoll
