#include "coordinator/judge/capacity_words.h"

#include <cmath>

#include <fmt/format.h>

#include "coordinator/judge/metrics.h"

namespace plimsoll {
namespace {

using Kind = CapacityEnd::Kind;

// One decimal, rounded down as whole sessions are: "12.4", or "12" of whole ones.
std::string Down(double sessions) {
  const double tenths = std::floor(sessions * 10 + kJustUnder / 10);
  const bool whole = std::fmod(tenths, 10) == 0;
  return whole ? fmt::format("{:.0f}", tenths / 10) : fmt::format("{:.1f}", tenths / 10);
}

// "12.4 → 12", or "12" of whole ones.
std::string Rounded(const CapacityEnd& end) {
  const std::string exact = Down(end.sessions);
  const std::string whole = fmt::format("{}", end.whole());
  return exact == whole ? whole : exact + " → " + whole;
}

bool FarApart(const CapacityBand& band) {
  return band.low.kind != band.value.kind || band.high.kind != band.value.kind ||
         band.value.kind == Kind::kAt;
}

// " [10–14]"; nothing where all of the band is the same open end.
std::string Interval(const CapacityBand& band) {
  if (!FarApart(band)) return "";
  const auto text = [](const CapacityEnd& end) {
    return end.open() ? std::string("open") : fmt::format("{}", end.whole());
  };
  return fmt::format(" [{}–{}]", text(band.low), text(band.high));
}

// " (9.7 requests in flight [8.0–11.2], interpolated)"; nothing where they are not known.
std::string Kept(const CapacityBand& band) {
  if (!band.value.requests_in_flight) return "";
  std::string text = fmt::format(" ({:.1f} requests in flight", *band.value.requests_in_flight);
  if (FarApart(band)) {
    const auto end = [](const CapacityEnd& at) {
      return at.open() || !at.requests_in_flight ? std::string("open")
                                                 : fmt::format("{:.1f}", *at.requests_in_flight);
    };
    text += fmt::format(" [{}–{}]", end(band.low), end(band.high));
  }
  return text + (band.value.interpolated ? ", interpolated)" : ")");
}

// "< 5 sessions (4.0 requests in flight)", "12.4 → 12 sessions [10–14] (9.7 requests in flight …)".
std::string Number(const CapacityBand& band) {
  const std::uint32_t whole = band.value.whole();
  if (band.high.kind == Kind::kBelow) return fmt::format("< {} sessions{}", whole, Kept(band));
  if (band.low.kind == Kind::kAtLeast) {
    return fmt::format(">= {} sessions{}", band.low.whole(), Kept(band));
  }
  const std::string number =
      band.value.kind == Kind::kBelow ? fmt::format("under {} sessions", whole)
      : band.value.kind == Kind::kAt  ? fmt::format("{} sessions", Rounded(band.value))
                                      : fmt::format("{} sessions or more", whole);
  return number + Interval(band) + Kept(band);
}

// What keeps an interval open.
std::string OpenEnds(const CapacityBand& band, std::string_view stopped_by) {
  std::string text;
  if (band.low.kind == Kind::kBelow) {
    text += fmt::format(", lower end open: the sweep began at {}", band.low.whole());
  }
  if (band.high.kind == Kind::kAtLeast) {
    text +=
        stopped_by.empty()
            ? fmt::format(", upper end open: the sweep stopped at {}", band.high.whole())
            : fmt::format(", upper end open: stopped by {} at {}", stopped_by, band.high.whole());
  }
  return text;
}

std::string LimitedBy(const Capacity& capacity) {
  if (!capacity.limiting_part) return "";
  return ", limited by " + LabelOf(capacity, *capacity.limiting_part);
}

// Of a capacity that is confidently under the first step that has data.
std::string TooMuchFromTheFirst(const Capacity& capacity, const std::vector<StepResult>& steps) {
  std::string parts;
  for (const StepResult& step : steps) {
    if (step.sessions == capacity.failed) parts = PartsWith(step.verdict, Verdict::kFail);
  }
  const std::string head = Number(*capacity.band) + ": ";
  if (steps.front().sessions == capacity.failed) {
    return head + "the first step already misses: " + parts;
  }
  return head + parts + "; no step below was found to hold";
}

// "; 10 held, 15 did not: TTFT"
std::string Bracket(const Capacity& capacity, const std::vector<StepResult>& steps) {
  std::string text;
  if (capacity.passed) text = fmt::format("; {} held", *capacity.passed);
  for (const StepResult& step : steps) {
    if (step.sessions != capacity.failed) continue;
    text += fmt::format("{}{} did not{}: {}", text.empty() ? "; " : ", ", step.sessions,
                        text.empty() ? " hold" : "", PartsWith(step.verdict, Verdict::kFail));
  }
  return text;
}

std::string Head(const Capacity& capacity, const std::vector<StepResult>& steps,
                 std::string_view stopped_by) {
  const bool decided = capacity.passed || capacity.failed;
  if (!capacity.band || (!decided && capacity.band->value.open())) {
    return "no capacity: no step was decided";
  }
  const CapacityBand& band = *capacity.band;
  if (band.high.kind == Kind::kBelow) return TooMuchFromTheFirst(capacity, steps);
  if (band.low.kind == Kind::kAtLeast) {
    return Number(band) + (stopped_by.empty() ? std::string(", ceiling not found")
                                              : fmt::format(", stopped by {}", stopped_by));
  }
  return Number(band) + LimitedBy(capacity) + OpenEnds(band, stopped_by) + Bracket(capacity, steps);
}

// "10 is too close to call, leaning pass"
std::string Undecided(const StepResult& step) {
  if (step.verdict.verdict == Verdict::kNoData) return fmt::format("{} has no data", step.sessions);
  return fmt::format("{} is too close to call, leaning {}", step.sessions,
                     LeanOf(step.verdict) == Lean::kPass ? "pass" : "fail");
}

// What the other steps say: undecided ones, and what comes beyond the first miss.
std::string Remarks(const Capacity& capacity, const std::vector<StepResult>& steps) {
  std::string remarks;
  for (const StepResult& step : steps) {
    if (step.verdict.verdict == Verdict::kTooClose || step.verdict.verdict == Verdict::kNoData) {
      remarks += "; " + Undecided(step);
    } else if (capacity.failed && step.sessions > *capacity.failed && step.verdict.holds()) {
      remarks += fmt::format("; {} passed although {} missed", step.sessions, *capacity.failed);
    }
  }
  return remarks;
}

}  // namespace

std::string LabelOf(const Capacity& capacity, std::size_t index) {
  std::vector<Limit> limits;
  limits.reserve(capacity.parts.size());
  for (const PartCapacity& part : capacity.parts) limits.push_back(part.limit);
  return PartLabel(limits, index);
}

std::string CapacitySentence(const Capacity& capacity, const std::vector<StepResult>& steps,
                             std::string_view stopped_by) {
  return Head(capacity, steps, stopped_by) + Remarks(capacity, steps);
}

std::string CapacityNumber(const Capacity& capacity) {
  return capacity.band ? Number(*capacity.band) : "no capacity";
}

std::string WholeSessions(const CapacityBand& band) {
  const char* sign = band.value.kind == Kind::kBelow     ? "< "
                     : band.value.kind == Kind::kAtLeast ? ">= "
                                                         : "";
  return fmt::format("{}{}{}", sign, band.value.whole(), Interval(band));
}

std::string InFlightWords(const std::optional<double>& requests, std::string_view unit) {
  return requests ? fmt::format(" ({:.1f}{})", *requests, unit) : "";
}

std::string PartsSentence(const Capacity& capacity) {
  std::string text;
  for (std::size_t i = 0; i < capacity.parts.size(); ++i) {
    if (!text.empty()) text += " · ";
    text += LabelOf(capacity, i) + " ";
    const auto& band = capacity.parts[i].band;
    if (!band) {
      text += "no data";
      continue;
    }
    const CapacityEnd& value = band->value;
    text += value.kind == Kind::kBelow     ? fmt::format("< {}", value.whole())
            : value.kind == Kind::kAtLeast ? fmt::format(">= {}", value.whole())
                                           : Down(value.sessions);
    text += Interval(*band) + InFlightWords(value.requests_in_flight);
  }
  return text;
}

}  // namespace plimsoll
