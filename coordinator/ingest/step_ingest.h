// One step's records folded into cells, and with the agents' tallies into the evidence that the
// judge reads. Pure: records and tallies in, evidence out.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/plan/template_fit.h"
#include "common/record/call_record.h"
#include "coordinator/judge/bar.h"
#include "coordinator/judge/cell.h"
#include "coordinator/judge/evidence.h"

namespace plimsoll {

class StepIngest {
 public:
  // `lanes` are those of the step, by number. `recorded_cycle` is, by tier, the recorded time from
  // one release to the next: it stands in where a tier has no ok call (design section 2, "unsent").
  // `fit` says what usage should report of a planned prompt.
  StepIngest(const StepPlan& plan, std::vector<LaneSpec> lanes, std::vector<std::string> tier_names,
             std::vector<Duration> recorded_cycle, const Bar& bar, const TemplateFit& fit = {});

  // Records of other steps are ignored.
  void Add(const CallRecord& record);
  void Add(const StepTally& tally);

  // Everything has arrived, or never will: books what only the whole step can tell (unsent calls,
  // calls without a last attempt) and hands the evidence over. `agents` holds what the fleet knows
  // of each.
  StepEvidence Close(std::vector<AgentEvidence> agents);
  const std::vector<Cell>& cells() const { return cells_; }

 private:
  struct PlayKey {
    std::uint32_t lane;
    std::uint32_t play;
    friend bool operator==(const PlayKey&, const PlayKey&) = default;
  };
  struct PlayKeyHash {
    std::size_t operator()(const PlayKey& key) const {
      return (std::size_t{key.lane} << 32 | key.play) * 0x9e3779b97f4a7c15ULL >> 16;
    }
  };
  // What is known of one stream of one play, for cycles and unfinished calls.
  struct StreamState {
    std::uint32_t stream = 0;
    StepNanos last_released = 0;  // First release of its last call seen.
    bool last_ok = false;
    bool open = false;  // That call failed and has not come to its last attempt.
  };
  struct PlayState {
    std::uint32_t first_releases = 0;  // Calls first released in the measured time.
    std::vector<StreamState> streams;
  };

  std::optional<std::uint32_t> BlockAt(StepNanos released) const;
  Cell& CellAt(std::uint32_t lane, std::uint32_t block) { return cells_[lane * blocks_ + block]; }
  StreamState& StreamOf(PlayState& play, std::uint32_t stream);
  void CountAttempt(const CallRecord& record);
  void CountFidelity(const CallRecord& record, CellCounts& counts);
  void CountOutput(const CallRecord& record, CellCounts& counts);
  void Observe(const CallRecord& record, Cell& cell);
  void ObserveUnfinished();
  void BookUnsent();
  StepNanos MedianCycle(std::uint8_t tier) const;
  void AddIdentities(StepEvidence* evidence) const;
  void SumCells(StepEvidence* evidence) const;

  const StepPlan plan_;
  const std::vector<LaneSpec> lanes_;
  const std::vector<std::string> tier_names_;
  const std::vector<Duration> recorded_cycle_;
  const TemplateFit fit_;
  std::uint32_t blocks_;
  std::int64_t ttft_limit_ns_ = -1;  // Negative: the bar has no such part.
  double rate_limit_ = -1;

  std::vector<Cell> cells_;  // lane-major.
  std::unordered_map<PlayKey, PlayState, PlayKeyHash> plays_;
  std::vector<Histogram> cycles_ns_;  // By tier.
  OutcomeCounts outcomes_{};
  std::uint64_t attempts_ = 0;
  std::int64_t in_flight_ns_ = 0;  // Request-time within the measured time, as agents measure it.
  std::uint64_t tokens_in_ = 0;
  std::uint64_t tokens_cached_ = 0;
  std::uint64_t tokens_out_ = 0;
  std::uint64_t usage_missing_ = 0;
  FidelityEvidence fidelity_;

  std::vector<LaneTally> lane_tallies_;
  std::uint64_t tally_attempts_ = 0;
  OutcomeCounts tally_outcomes_{};
};

}  // namespace plimsoll
