#include "coordinator/ingest/step_ingest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/stats/histogram_sum.h"
#include "coordinator/judge/metrics.h"

namespace plimsoll {
namespace {

// In millionths; what no sane server says is capped, far above any limit.
std::int64_t Ppm(double share) {
  return static_cast<std::int64_t>(std::llround(std::min(share, 1e6) * 1e6));
}

// A sum that stays absent until a call reports something.
void AddTokens(std::uint32_t tokens, std::optional<std::uint64_t>* sum) {
  if (tokens != kAbsentTokens) *sum = sum->value_or(0) + tokens;
}

}  // namespace

StepIngest::StepIngest(const StepPlan& plan, std::vector<LaneSpec> lanes,
                       std::vector<std::string> tier_names, std::vector<Duration> recorded_cycle,
                       const Bar& bar, const TemplateFit& fit, std::uint32_t output_cap)
    : plan_(plan),
      lanes_(std::move(lanes)),
      tier_names_(std::move(tier_names)),
      recorded_cycle_(std::move(recorded_cycle)),
      fit_(fit),
      output_cap_(output_cap),
      blocks_(plan.blocks()),
      cells_(lanes_.size() * blocks_ * 2),
      plays_(lanes_.size()),
      cycles_ns_(tier_names_.size()),
      tiers_(tier_names_.size()) {
  for (const Limit& limit : bar.limits) parts_.emplace_back(limit, tier_names_);
  for (const LaneSpec& lane : lanes_) {
    for (std::uint32_t half = 0; half < blocks_ * 2; ++half) {
      CellCounts& counts = CellAt(lane.lane, half).counts;
      counts.lane = lane.lane;
      counts.block = half / 2;
      counts.half = half % 2;
      counts.tier = lane.tier;
      counts.parts.resize(parts_.size());
    }
  }
}

std::optional<std::uint32_t> StepIngest::HalfAt(StepNanos released) const {
  const StepNanos in_measure = released - plan_.warm_up.count();
  if (in_measure < 0 || in_measure >= plan_.measure.count()) return std::nullopt;
  const StepNanos block = plan_.block.count();
  return static_cast<std::uint32_t>(in_measure / block * 2 + in_measure % block * 2 / block);
}

StepIngest::StreamState& StepIngest::StreamOf(LanePlay& play, std::uint32_t stream) {
  for (StreamState& state : play.streams) {
    if (state.stream == stream) return state;
  }
  return play.streams.emplace_back(StreamState{.stream = stream});
}

void StepIngest::Add(const CallRecord& record) {
  if (record.step != plan_.step || record.lane >= lanes_.size() ||
      record.tier >= tier_names_.size()) {
    return;
  }
  if (broken_off_ && record.outcome == Outcome::kCut) {
    ++hung_up_;
    return;
  }
  CountAttempt(record);
  LanePlay& play = plays_[record.lane];
  if (play.play != record.play) {
    ObserveUnfinished(record.lane);
    play.play = record.play;
    play.streams.clear();
  }
  StreamState& stream = StreamOf(play, record.stream);
  const bool last = (record.flags & kLastAttempt) != 0;
  if (record.attempt == 1) {
    if (stream.last_ok && record.first_released > stream.last_released) {
      cycles_ns_[record.tier].Record(record.first_released - stream.last_released);
    }
  }
  // Of a retry too: the call's first attempt may have been another step's.
  stream.last_released = record.first_released;
  stream.last_ok = record.outcome == Outcome::kOk;
  stream.open = false;

  const auto half = HalfAt(record.first_released);
  if (!half.has_value()) return;
  if (record.attempt == 1) {
    ++first_releases_;
    plays_mixed_ += MixedPlay(record.lane, record.play);
  }
  if (last) {
    Observe(record, CellAt(record.lane, *half));
  } else {
    stream.open = record.outcome != Outcome::kClientError;  // Ours is no observation.
  }
}

void StepIngest::CountAttempt(const CallRecord& record) {
  if (record.released >= 0 && record.released < plan_.warm_up.count()) {
    ++suspicion_.warm_up_attempts;
  }
  const auto half = HalfAt(record.released);
  if (!half.has_value()) return;
  ++attempts_;
  CountSuspicion(record);
  ++outcomes_[static_cast<std::size_t>(record.outcome)];
  CellCounts& counts = CellAt(record.lane, *half).counts;
  CallEvidence& tier = tiers_[counts.tier];
  ++tier.outcomes[static_cast<std::size_t>(record.outcome)];
  ++counts.attempts;
  if (HungUp(record)) ++hung_up_;
  if (IsFailure(record.outcome) && !HungUp(record)) ++counts.failed;
  AddTokens(record.tokens_in, &tokens_in_);
  AddTokens(record.tokens_cached, &tokens_cached_);
  AddTokens(record.tokens_out, &tokens_out_);
  if (record.outcome == Outcome::kOk && record.tokens_out == kAbsentTokens) ++tier.usage_missing;
  CountFidelity(record, counts);
}

void StepIngest::CountSuspicion(const CallRecord& record) {
  SuspicionCounts& s = suspicion_;
  ++s.measured_attempts;
  const std::uint16_t status = record.http_status;
  const bool refusal_status = status == 429 || status == 503;
  const bool ok = record.outcome == Outcome::kOk;
  if (record.outcome == Outcome::kRefused) {
    if (status != 0 && !refusal_status) ++s.refused_with_other_status;
  } else if (refusal_status || (record.answer & kRetryAfterSeen) != 0) {
    ++(ok ? s.refusals_ok : s.refusals_failed);
  }
  if (ok && status != 0 && (status < 200 || status > 299)) ++s.ok_with_other_status;
  if (ok) CountCacheHits(record);
}

void StepIngest::CountCacheHits(const CallRecord& record) {
  if (forecast_ == nullptr || record.tokens_in == kAbsentTokens ||
      record.tokens_cached == kAbsentTokens || record.tokens_planned == 0 ||
      record.session >= forecast_->size() || record.call >= (*forecast_)[record.session].size()) {
    return;
  }
  SuspicionCounts& s = suspicion_;
  ++s.cache_n;
  s.tokens_planned += record.tokens_planned;
  s.tokens_predicted += (*forecast_)[record.session][record.call];
  s.tokens_reported += record.tokens_in;
  s.tokens_cached += record.tokens_cached;
}

void StepIngest::CountFidelity(const CallRecord& record, CellCounts& counts) {
  FidelityEvidence& f = fidelity_;
  if (record.tokens_out != kAbsentTokens) ++f.tokens_out_n;
  const double expected = fit_.Expected(record.tokens_planned, record.messages);
  if (record.tokens_in != kAbsentTokens && expected > 0) {
    ++f.prompt_n;
    if (record.tokens_cached != kAbsentTokens) ++f.cached_n;
    f.tokens_expected += expected;
    f.tokens_reported += record.tokens_in;
    // Rounded to whole tokens, as usage is: half a token of a short prompt is no drift.
    const double drift = std::abs(record.tokens_in - std::round(expected)) / expected;
    f.drift_ppm.Record(Ppm(drift));
    if (drift > kDriftShareMax) ++f.drift_over;
  }
  if (record.outcome == Outcome::kOk) CountOutput(record, counts);
}

void StepIngest::CountOutput(const CallRecord& record, CellCounts& counts) {
  FidelityEvidence& f = fidelity_;
  f.doubts.Count(record, output_cap_);
  if (OutputContradicted(record)) ++tiers_[counts.tier].usage_contradicted;
  if (record.tokens_asked > 0 && record.tokens_out != kAbsentTokens) {
    ++f.output_n;
    f.tokens_asked += record.tokens_asked;
    f.tokens_came += record.tokens_out;
    f.output_ratio_ppm.Record(Ppm(static_cast<double>(record.tokens_out) / record.tokens_asked));
  }
  const bool valid = (record.answer & kToolCallsValid) != 0;
  const bool invalid = (record.answer & kToolCallsInvalid) != 0;
  if ((record.flags & kToolCallPresent) != 0 || invalid) ++f.tool_present;
  if (valid) ++f.tool_valid;
  if (invalid) ++f.tool_invalid;
  f.tool_faults.Add(record.tool_faults);
  if (valid || invalid) ++counts.tool_answers;
  if (invalid) ++counts.tool_invalid;
  if ((record.answer & kReasoningOnly) != 0) ++f.reasoning_only;
  if ((record.answer & kHiddenReasoning) != 0) ++f.hidden_reasoning;
}

void StepIngest::Observe(const CallRecord& record, Cell& cell) {
  // A fault of our own is no observation of the deployment; above 0.1% it voids the step.
  if (record.outcome == Outcome::kClientError) return;
  CellCounts& counts = cell.counts;
  std::array<Observation, kMetricsKnown + 1> observed;  // By metric.
  for (const MetricTraits& traits : AllMetrics()) {
    if (traits.n == nullptr) continue;
    Observation& o = observed[static_cast<std::size_t>(traits.metric)];
    o = plimsoll::Observe(traits.metric, record);
    // What the end of a decided step hung up has at most a TTFT.
    if (HungUp(record) && (traits.metric != Metric::kTtft || o.kind != Observation::Kind::kValue)) {
      o = {};
    }
    if (o.kind != Observation::Kind::kNone) ++(counts.*traits.n);
    if (o.kind == Observation::Kind::kValue) (cell.*traits.of_cell).Record(o.kept);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].Judges(counts.tier)) continue;
    parts_[i].Add(observed[static_cast<std::size_t>(parts_[i].metric())], &counts.parts[i]);
  }
  if (TtftNanos(record) >= 0 && record.sent != kAbsentNanos) {
    cell.ttft_sent_ns.Record(record.first_token - record.sent);
  }
  const bool no_rate = record.outcome == Outcome::kOk && Interactivity(record) < 0;
  const bool counted = record.tokens_out != kAbsentTokens && !OutputContradicted(record);
  if (no_rate && (record.chunks < 2 || counted)) {
    ++counts.rate_one_chunk;  // Else its usage is missing or contradicted: counted apart.
  }
}

void StepIngest::Add(const StepTally& tally) {
  if (tally.step != plan_.step) return;
  tally_attempts_ += tally.attempts_released;
  in_flight_ns_ += tally.in_flight_request_ns;
  for (std::size_t o = 0; o < kOutcomes; ++o) tally_outcomes_[o] += tally.outcomes[o];
  for (const LaneTally& lane : tally.lanes) {
    lane_tallies_.push_back(lane);
    const PlaySums& plays = lane.plays;
    tally_calls_ += static_cast<std::int64_t>(plays.calls_total);
    // Remaining calls are either unsent or lie beyond the step.
    tally_calls_elsewhere_ +=
        static_cast<std::int64_t>(plays.calls_before + plays.calls_skipped + plays.calls_remaining);
    tally_plays_mixed_ += plays.mixed;
  }
}

// A call whose last attempt never came (its play was given up while it waited) failed.
void StepIngest::ObserveUnfinished(std::uint32_t lane) {
  for (StreamState& stream : plays_[lane].streams) {
    if (!std::exchange(stream.open, false)) continue;
    const auto half = HalfAt(stream.last_released);
    if (!half.has_value()) continue;
    CellCounts& counts = CellAt(lane, *half).counts;
    for (const MetricTraits& traits : AllMetrics()) {
      if (traits.n != nullptr) ++(counts.*traits.n);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const bool of_calls = TraitsOf(parts_[i].metric()).n != nullptr;
      if (!of_calls || !parts_[i].Judges(counts.tier)) continue;
      parts_[i].Add({.kind = Observation::Kind::kFailed}, &counts.parts[i]);
    }
  }
}

void StepIngest::EndEarly(Duration measure) {
  plan_.measure = measure;
  ended_early_ = true;
}

StepNanos StepIngest::MedianCycle(std::uint8_t tier) const {
  const auto median = cycles_ns_[tier].Quantile(0.5);
  const StepNanos cycle = median.value_or(recorded_cycle_[tier].count());
  return std::max<StepNanos>(1, cycle);
}

void StepIngest::BookUnsent() {
  for (const LaneTally& lane : lane_tallies_) {
    if (lane.lane >= lanes_.size() || lane.tier >= tier_names_.size()) continue;
    for (const FailedPlays& failed : lane.failed_plays) {
      const std::int64_t missed =
          std::min<std::int64_t>(failed.silent_ns, plan_.measure.count()) / MedianCycle(lane.tier);
      CellAt(lane.lane, std::min(failed.block, blocks_ - 1) * 2).counts.unsent +=
          static_cast<std::uint32_t>(std::min<std::uint64_t>(
              failed.calls_remaining,
              static_cast<std::uint64_t>(std::max<std::int64_t>(0, missed))));
    }
  }
}

StepEvidence StepIngest::Close(std::vector<AgentEvidence> agents) {
  for (std::uint32_t lane = 0; lane < plays_.size(); ++lane) ObserveUnfinished(lane);
  BookUnsent();
  StepEvidence evidence = SoFar(std::move(agents));
  for (const LaneTally& lane : lane_tallies_) {
    for (std::size_t s = 0; s < kLaneStates; ++s) evidence.lane_state_ns[s] += lane.state_ns[s];
    std::vector<TierReplay>& tiers = evidence.replay.tiers;
    if (lane.tier < tiers.size()) tiers[lane.tier].fidelity.Add(lane.fidelity);
  }
  evidence.planned_lane_ns = static_cast<std::int64_t>(plan_.sessions) * plan_.measure.count();
  AddIdentities(&evidence);
  evidence.requests_in_flight_mean =
      static_cast<double>(in_flight_ns_) / static_cast<double>(plan_.measure.count());
  return evidence;
}

StepEvidence StepIngest::SoFar(std::vector<AgentEvidence> agents) const {
  StepEvidence evidence;
  evidence.plan = plan_;
  evidence.tier_names = tier_names_;
  evidence.tiers_left_out = tiers_left_out_;
  for (const std::string& name : tier_names_) evidence.replay.tiers.push_back({.name = name});
  evidence.tiers = tiers_;
  evidence.agents = std::move(agents);
  evidence.tokens_in = tokens_in_;
  evidence.tokens_cached = tokens_cached_;
  evidence.tokens_out = tokens_out_;
  evidence.fidelity = fidelity_;
  evidence.suspicion = suspicion_;
  evidence.suspicion.blocks = SumBlocks();
  SumCells(&evidence);
  return evidence;
}

void StepIngest::SumCells(StepEvidence* evidence) const {
  HistogramSum sent;
  std::vector<std::array<HistogramSum, kMetricsKnown + 1>> values(evidence->tiers.size());
  evidence->cells.reserve(static_cast<std::size_t>(
      std::count_if(cells_.begin(), cells_.end(), [](const Cell& cell) { return !cell.empty(); })));
  for (const Cell& cell : cells_) {
    const CellCounts& c = cell.counts;
    if (cell.empty()) continue;
    evidence->cells.push_back(c);
    sent.Add(cell.ttft_sent_ns);
    for (const MetricTraits& traits : AllMetrics()) {
      if (traits.n == nullptr) continue;
      const Histogram& of_cell = cell.*traits.of_cell;
      values[c.tier][static_cast<std::size_t>(traits.metric)].Add(of_cell);
      evidence->tiers[c.tier].*traits.valueless += c.*traits.n - of_cell.count();
    }
  }
  evidence->ttft_sent_ns = sent.Take();
  for (std::size_t tier = 0; tier < values.size(); ++tier) {
    for (const MetricTraits& traits : AllMetrics()) {
      if (traits.n == nullptr) continue;
      evidence->tiers[tier].*traits.values =
          values[tier][static_cast<std::size_t>(traits.metric)].Take();
    }
    evidence->Merge(evidence->tiers[tier]);
  }
}

std::vector<BlockFigures> StepIngest::SumBlocks() const {
  std::vector<BlockFigures> blocks;
  HistogramSum sum;
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      for (const std::size_t half : {2 * b, 2 * b + 1}) {
        sum.Add(cells_[lane * blocks_ * 2 + half].ttft_ns);
      }
    }
    const Histogram all = sum.Take();
    if (const auto median = all.Quantile(0.5)) {
      blocks.push_back({.block = b, .ttft_n = all.count(), .ttft_p50_ns = *median});
    }
  }
  return blocks;
}

void StepIngest::AddIdentities(StepEvidence* evidence) const {
  const bool complete = std::none_of(evidence->agents.begin(), evidence->agents.end(),
                                     [](const AgentEvidence& a) { return a.lost; });
  // Without a lost agent's tally nothing can be compared; the step is void for that already.
  if (!complete) return;
  const auto sum = [](const OutcomeCounts& counts) {
    return static_cast<std::int64_t>(
        std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  };
  const auto add = [&](std::string name, std::int64_t left, std::int64_t right) {
    evidence->identities.push_back({.name = std::move(name), .left = left, .right = right});
  };
  add("attempts released = attempts ended, as agents count",
      static_cast<std::int64_t>(tally_attempts_), sum(tally_outcomes_));
  add("attempts released, as agents count = records stored",
      static_cast<std::int64_t>(tally_attempts_), static_cast<std::int64_t>(attempts_));
  std::int64_t differing = 0;
  for (std::size_t o = 0; o < kOutcomes; ++o) {
    differing += std::abs(static_cast<std::int64_t>(outcomes_[o]) -
                          static_cast<std::int64_t>(tally_outcomes_[o]));
  }
  add("outcomes that differ between agents and records = 0", differing, 0);

  const std::array<std::int64_t, kLaneStates>& states = evidence->lane_state_ns;
  add("calls of plays = before + skipped + released + unsent + beyond", tally_calls_,
      tally_calls_elsewhere_ + first_releases_);
  add("calls of plays, each in its own: checksums of tallies and records", tally_plays_mixed_,
      plays_mixed_);
  add("planned lane-time = sum of lane states (ns)", evidence->planned_lane_ns,
      std::accumulate(states.begin(), states.end(), std::int64_t{0}));
}

}  // namespace plimsoll
