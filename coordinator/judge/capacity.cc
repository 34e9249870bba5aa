#include "coordinator/judge/capacity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "coordinator/judge/capacity_words.h"
#include "coordinator/judge/metrics.h"

namespace plimsoll {
namespace {

using Kind = CapacityEnd::Kind;

// A step's verdict, of the whole or of one part; never no data.
struct Measured {
  std::uint32_t sessions = 0;
  Verdict verdict = Verdict::kTooClose;
};

CapacityEnd Below(double sessions) {
  return {.kind = Kind::kBelow, .sessions = sessions};
}
CapacityEnd At(double sessions) {
  return {.kind = Kind::kAt, .sessions = sessions};
}
CapacityEnd AtLeast(double sessions) {
  return {.kind = Kind::kAtLeast, .sessions = sessions};
}

// Bounds of one measured range. Steps ascending, at least one.
class Verdicts {
 public:
  explicit Verdicts(const std::vector<Measured>& steps) : steps_(steps) {
    for (const Measured& step : steps_) {
      if (step.verdict == Verdict::kFail && !first_fail_) first_fail_ = step.sessions;
      if (step.verdict != Verdict::kPass) continue;
      last_pass_ = step.sessions;
      if (!first_fail_) held_ = step.sessions;
    }
    for (const Measured& step : steps_) {
      const bool above = !last_pass_ || step.sessions > *last_pass_;
      if (step.verdict == Verdict::kFail && above && !missed_) missed_ = step.sessions;
    }
  }

  // The rules of the header.
  void Hold(CapacityBand& band) const {
    if (held_) band.low = Raised(band.low, *held_);
    for (const Measured& step : steps_) {
      if (step.verdict != Verdict::kTooClose || (held_ && step.sessions < *held_) ||
          (missed_ && step.sessions > *missed_)) {
        continue;
      }
      band.low = Under(band.low, step.sessions);
      band.high = Raised(band.high, step.sessions);
    }
    if (first_fail_) band.low = Under(band.low, *first_fail_);
    if (last_pass_) band.high = Raised(band.high, *last_pass_);
    if (missed_) band.high = Under(band.high, *missed_);
    if (Less(band.value, band.low)) band.value = band.low;
    if (Less(band.high, band.value)) band.value = band.high;
  }

 private:
  // At `step` or above. What is reached at the last step is open above.
  CapacityEnd Raised(const CapacityEnd& end, std::uint32_t step) const {
    if (!Less(end, At(step))) return end;
    return step == steps_.back().sessions ? AtLeast(step) : At(step);
  }
  // Under `step`.
  CapacityEnd Under(const CapacityEnd& end, std::uint32_t step) const {
    if (end.kind == Kind::kBelow || (end.kind == Kind::kAt && end.sessions < step)) return end;
    return step == steps_.front().sessions ? Below(step) : At(step - kJustUnder);
  }

  const std::vector<Measured>& steps_;
  std::optional<std::uint32_t> first_fail_;
  std::optional<std::uint32_t> last_pass_;
  std::optional<std::uint32_t> held_;    // The last that passed below the first that failed.
  std::optional<std::uint32_t> missed_;  // The first that failed above the last that passed.
};

// What one part measured, over the steps that have data for it.
struct PartSteps {
  std::vector<SharePoint> share;
  std::vector<SharePoint> low;
  std::vector<SharePoint> high;
  std::vector<Measured> verdicts;
};

PartSteps StepsOf(const std::vector<StepResult>& steps, std::size_t index) {
  PartSteps part;
  for (const StepResult& step : steps) {
    if (index >= step.verdict.parts.size()) continue;
    const PartVerdict& p = step.verdict.parts[index];
    if (p.verdict == Verdict::kNoData || !std::isfinite(p.share_within) ||
        !std::isfinite(p.share_low) || !std::isfinite(p.share_high)) {
      continue;
    }
    const auto point = [&](double share) {
      return SharePoint{.sessions = static_cast<double>(step.sessions),
                        .share = share,
                        .weight = static_cast<double>(p.n)};
    };
    part.share.push_back(point(p.share_within));
    part.low.push_back(point(p.share_low));
    part.high.push_back(point(p.share_high));
    part.verdicts.push_back({step.sessions, p.verdict});
  }
  return part;
}

PartCapacity CapacityOfPart(const std::vector<StepResult>& steps, std::size_t index,
                            const Limit& limit) {
  PartCapacity capacity{.limit = limit};
  const PartSteps part = StepsOf(steps, index);
  if (part.verdicts.empty()) return capacity;
  const bool bad = IsBadShare(limit.metric);
  const Trend trend = bad ? Trend::kRises : Trend::kFalls;
  // Of a share of bad ones the upper edge is the unfavourable one; its limit may have ends.
  const auto value = LocateCrossing(part.share, bad ? limit.value : limit.quantile, trend);
  const auto low =
      LocateCrossing(bad ? part.high : part.low, bad ? StrictEdge(limit) : limit.quantile, trend);
  const auto high =
      LocateCrossing(bad ? part.low : part.high, bad ? LooseEdge(limit) : limit.quantile, trend);
  if (!value || !low || !high) return capacity;
  capacity.band = CapacityBand{.value = *value, .low = *low, .high = *high};
  Verdicts(part.verdicts).Hold(*capacity.band);
  return capacity;
}

// Under which number each part's end lies, at most.
bool LessAtMost(const CapacityEnd& a, const CapacityEnd& b) {
  const bool a_open = a.kind == Kind::kAtLeast;
  const bool b_open = b.kind == Kind::kAtLeast;
  return a_open == b_open ? a.sessions < b.sessions : b_open;
}

// The smallest of the parts' ends: the number under which one of them lies, and whether it may be
// anything below.
CapacityEnd Smallest(const std::vector<PartCapacity>& parts, CapacityEnd CapacityBand::*end) {
  std::optional<CapacityEnd> smallest;
  bool below = false;
  for (const PartCapacity& part : parts) {
    if (!part.band) continue;
    const CapacityEnd& mine = (*part.band).*end;
    below = below || mine.kind == Kind::kBelow;
    if (!smallest || LessAtMost(mine, *smallest)) smallest = mine;
  }
  return below ? Below(smallest->sessions) : *smallest;
}

// That part whose value is the smallest; absent: none was crossed.
std::optional<std::uint32_t> FirstCrossed(const std::vector<PartCapacity>& parts) {
  std::optional<std::uint32_t> first;
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].band || parts[i].band->value.kind == Kind::kAtLeast) continue;
    if (!first || Less(parts[i].band->value, parts[*first].band->value)) first = i;
  }
  return first;
}

// The smallest low end. Where a part was not judged any more, another that goes on proves nothing
// for it.
CapacityEnd SmallestLow(const std::vector<PartCapacity>& parts) {
  CapacityEnd low = Smallest(parts, &CapacityBand::low);
  for (const PartCapacity& part : parts) {
    if (!part.band || part.band->low.kind != Kind::kAtLeast || low.kind != Kind::kAt) continue;
    low.sessions = std::min(low.sessions, part.band->low.sessions);
  }
  return low;
}

// `steps` have data, at least one.
CapacityBand BandOf(const std::vector<PartCapacity>& parts, const std::vector<StepResult>& steps) {
  CapacityBand band{.value = Below(steps.front().sessions),
                    .low = Below(steps.front().sessions),
                    .high = AtLeast(steps.back().sessions)};
  if (std::any_of(parts.begin(), parts.end(),
                  [](const PartCapacity& part) { return part.band.has_value(); })) {
    band = {.value = Smallest(parts, &CapacityBand::value),
            .low = SmallestLow(parts),
            .high = Smallest(parts, &CapacityBand::high)};
  }
  std::vector<Measured> verdicts;
  verdicts.reserve(steps.size());
  for (const StepResult& step : steps) verdicts.push_back({step.sessions, step.verdict.verdict});
  Verdicts(verdicts).Hold(band);
  return band;
}

// Sets the requests in flight that `end` stands for. `steps` ascending, at least one.
void TakeRequests(const std::vector<StepResult>& steps, CapacityEnd& end) {
  const double sessions = end.whole();
  const auto above = std::find_if(steps.begin(), steps.end(), [&](const StepResult& step) {
    return step.sessions >= sessions;
  });
  double requests =
      above == steps.end() ? steps.back().requests_in_flight : above->requests_in_flight;
  if (above != steps.end() && above != steps.begin() && above->sessions != sessions) {
    const StepResult& below = *(above - 1);
    const double part = (sessions - below.sessions) / (above->sessions - below.sessions);
    requests =
        below.requests_in_flight + (above->requests_in_flight - below.requests_in_flight) * part;
    end.interpolated = true;
  }
  if (std::isfinite(requests)) end.requests_in_flight = requests;
}

void TakeRequests(const std::vector<StepResult>& steps, CapacityBand& band) {
  for (CapacityEnd* end : {&band.value, &band.low, &band.high}) TakeRequests(steps, *end);
}

// The last step that passed below the first that failed, and that one.
void TakeBracket(const std::vector<StepResult>& steps, Capacity& capacity) {
  for (const StepResult& step : steps) {
    if (step.verdict.verdict == Verdict::kFail) {
      capacity.failed = step.sessions;
      return;
    }
    if (!step.verdict.holds()) continue;
    capacity.passed = step.sessions;
    capacity.requests_in_flight = step.requests_in_flight;
  }
}

// The part that limits: that which is crossed first, else one that failed where the sweep missed.
std::optional<std::uint32_t> LimitingPart(const Capacity& capacity,
                                          const std::vector<StepResult>& steps) {
  if (!capacity.band || capacity.band->value.kind == Kind::kAtLeast) return std::nullopt;
  if (const auto crossed = FirstCrossed(capacity.parts)) return crossed;
  for (const StepResult& step : steps) {
    if (step.sessions != capacity.failed) continue;
    for (std::uint32_t i = 0; i < std::min(step.verdict.parts.size(), capacity.parts.size()); ++i) {
      if (step.verdict.parts[i].verdict == Verdict::kFail) return i;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> StepResult::known_in_flight() const {
  if (!std::isfinite(requests_in_flight) || !(requests_in_flight > 0)) return std::nullopt;
  return requests_in_flight;
}

SweepHistory OfLadder(const SweepHistory& history, std::string_view ladder) {
  SweepHistory steps;
  for (const StepResult& step : history) {
    if (step.origin.ladder == ladder) steps.push_back(step);
  }
  return steps;
}

std::vector<StepResult> DecidedSteps(const SweepHistory& history) {
  std::map<std::uint32_t, StepResult> by_sessions;
  for (const StepResult& step : history) {
    const auto [at, is_new] = by_sessions.try_emplace(step.sessions, step);
    if (is_new) continue;
    const bool loses_data =
        step.verdict.verdict == Verdict::kNoData && at->second.verdict.verdict != Verdict::kNoData;
    if (!loses_data) at->second = step;
  }
  std::vector<StepResult> steps;
  steps.reserve(by_sessions.size());
  for (auto& [sessions, step] : by_sessions) steps.push_back(std::move(step));
  return steps;
}

Capacity CapacityOf(const SweepHistory& history, std::string_view stopped_by) {
  const std::vector<StepResult> all = DecidedSteps(history);
  std::vector<StepResult> steps;  // Those with data.
  for (const StepResult& step : all) {
    if (step.verdict.verdict != Verdict::kNoData) steps.push_back(step);
  }

  Capacity capacity;
  TakeBracket(steps, capacity);
  const std::vector<PartVerdict>* bar = nullptr;
  for (const StepResult& step : all) {
    if (bar == nullptr || step.verdict.parts.size() > bar->size()) bar = &step.verdict.parts;
  }
  for (std::size_t i = 0; bar != nullptr && i < bar->size(); ++i) {
    capacity.parts.push_back(CapacityOfPart(steps, i, (*bar)[i].limit));
    if (auto& band = capacity.parts.back().band) TakeRequests(steps, *band);
  }
  if (!steps.empty()) {
    capacity.band = BandOf(capacity.parts, steps);
    TakeRequests(steps, *capacity.band);
  }
  capacity.limiting_part = LimitingPart(capacity, steps);
  if (capacity.limiting_part) {
    capacity.limited_by = capacity.parts[*capacity.limiting_part].limit.metric;
  }
  capacity.sentence = CapacitySentence(capacity, all, stopped_by);
  return capacity;
}

}  // namespace plimsoll
