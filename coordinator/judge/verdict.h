// Verdicts as values: of a part, of a step, of a sweep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/judge/bar.h"

namespace plimsoll {

// Stored: never renumber.
enum class Verdict : std::uint8_t { kPass = 1, kFail = 2, kTooClose = 3, kNoData = 4 };
enum class Lean : std::uint8_t { kNone = 0, kPass = 1, kFail = 2 };

// "pass", "fail", "too close", "no data".
const char* Name(Verdict verdict);

// A percentile as shown: a number, "infinite" (it fell among failed calls), or nothing. One that
// the calls cannot carry is nothing: 6 for P50, 36 for P90, 72 for P95 and 368 for P99.
struct ShownPercentile {
  std::optional<double> value;
  bool infinite = false;
  friend bool operator==(const ShownPercentile&, const ShownPercentile&) = default;
};

struct PartVerdict {
  Limit limit;
  Verdict verdict = Verdict::kNoData;
  Lean lean = Lean::kNone;  // Of too close.
  std::string reason;       // One line for people; never empty.
  std::uint64_t n = 0;      // Observations behind the verdict.
  std::optional<double>
      value;  // The percentile or rate over all, failed calls included; absent: none, or +infinity.
  bool value_infinite = false;          // The percentile fell among failed calls.
  std::optional<double> value_ok_only;  // Over the calls that have one, shown beside.
  // 95% interval of the value, whatever tail the verdict is about; an end that is nothing is open:
  // nothing measured bounds the value there. On the verdict's side of the limit (a pass: not beyond
  // its stricter edge; a fail: not before its looser one; too close: around it). Of errors and tool
  // calls that of their share.
  ShownPercentile value_low;
  ShownPercentile value_high;
  double share_within = 0;  // Of calls at the limit's good side (IsBadShare: of the bad ones).
  double share_low = 0;   // 95% interval of that share; a limit with an interval of its own widens
  double share_high = 1;  // it: the lower end at its stricter edge, the upper at its looser one.
  std::optional<double> margin;  // (limit − value) / limit, positive is good.
};

struct StepVerdict {
  Verdict verdict = Verdict::kNoData;
  bool is_void = false;              // The step says nothing, whatever its parts show.
  std::vector<std::string> reasons;  // Why it is void, or which part decided.
  std::vector<PartVerdict> parts;    // In the bar's order; of a void step all read no data.
  double offered_share = 0;
  double sent_share = 0;
  // What failed the step beside its parts, in a word: "evals". Empty: nothing.
  std::string failed_beside;
  bool holds() const { return verdict == Verdict::kPass; }
};

// Of a step that is not void: any fail, else any no data, else any too close, else pass; no data
// without a part.
Verdict VerdictOf(const std::vector<PartVerdict>& parts);
// Of a step that is too close: fail if any part too close leans so, else pass. kNone for others.
Lean LeanOf(const StepVerdict& step);
// The name of step.parts[index], as short as it is unambiguous in the step: "TTFT", or "TTFT P99"
// beside another limit on TTFT, or "heavy TTFT".
std::string LabelOf(const StepVerdict& step, std::size_t index);
// The first of its reasons, "no reason given" without one.
std::string FirstReason(const StepVerdict& step);
// "TTFT: P90 of …": label and reason of the parts of `step` with `verdict`, in the bar's order.
std::vector<std::string> ReasonsWith(const StepVerdict& step, Verdict verdict);
// "TTFT" or "TTFT, errors": the parts of `step` with `verdict`, in the bar's order, and of a fail
// what failed it beside them; "" if none.
std::string PartsWith(const StepVerdict& step, Verdict verdict);

}  // namespace plimsoll
