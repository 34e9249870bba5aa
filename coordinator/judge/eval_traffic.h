// The evals of a step as requests: they are none of the load's, and a server counts them among it
// all the same. What agents know of them, so that a server's counts can be read without them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/record/eval_record.h"

namespace plimsoll {

struct EvalTraffic {
  std::uint64_t asked = 0;
  std::uint64_t ended_well = 0;         // Their call ended in order, whatever the answer is worth.
  std::uint64_t refused = 0;            // Turned away.
  std::uint64_t with_status = 0;        // A status line came.
  std::uint64_t with_error_status = 0;  // It was 400 or above.
  // From release to end, of each answer that was judged and had a token: its first token came
  // within that time. In no order.
  std::vector<std::int64_t> answered_ns;

  void Add(const EvalRecord& record) {
    ++asked;
    ended_well += record.call == Outcome::kOk || record.call == Outcome::kEmpty ? 1 : 0;
    refused += record.call == Outcome::kRefused ? 1 : 0;
    with_status += record.http_status > 0 ? 1 : 0;
    with_error_status += record.http_status >= 400 ? 1 : 0;
    if (record.call == Outcome::kOk) answered_ns.push_back(record.end - record.released);
  }
  void Add(const EvalTraffic& more) {
    asked += more.asked;
    ended_well += more.ended_well;
    refused += more.refused;
    with_status += more.with_status;
    with_error_status += more.with_error_status;
    answered_ns.insert(answered_ns.end(), more.answered_ns.begin(), more.answered_ns.end());
  }
  // Those that a server may have begun to answer.
  std::uint64_t perhaps_answered() const { return asked - std::min(asked, with_error_status); }
  // Those whose first token came within `seconds` for certain.
  std::uint64_t SurelyWithin(double seconds) const {
    return static_cast<std::uint64_t>(std::count_if(
        answered_ns.begin(), answered_ns.end(),
        [seconds](std::int64_t ns) { return static_cast<double>(ns) <= seconds * 1e9; }));
  }
  friend bool operator==(const EvalTraffic&, const EvalTraffic&) = default;
};

}  // namespace plimsoll
