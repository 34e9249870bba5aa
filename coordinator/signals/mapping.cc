#include "coordinator/signals/mapping.h"

#include <algorithm>

namespace plimsoll {

bool LabelTest::Passes(std::string_view value) const {
  if (op == Op::kPrefix) {
    return std::any_of(values.begin(), values.end(),
                       [value](const std::string& one) { return value.starts_with(one); });
  }
  const bool among = std::find(values.begin(), values.end(), value) != values.end();
  return among == (op == Op::kIn);
}

std::string_view MovesWords(Moves moves) {
  switch (moves) {
    case Moves::kUnsaid:
      return "";
    case Moves::kArrival:
      return "at the arrival";
    case Moves::kHeaders:
      return "at the answer's headers";
    case Moves::kFirstToken:
      return "at the first token";
    case Moves::kLive:
      return "as it happens";
    case Moves::kFinish:
      return "at the finish";
  }
  return "";
}

const SignalMapping* Mapping::Find(Signal signal) const {
  for (const SignalMapping& one : signals) {
    if (one.signal == signal) return &one;
  }
  return nullptr;
}

const std::string* Mapping::WhyAbsent(Signal signal) const {
  for (const AbsentSignal& one : absent) {
    if (one.signal == signal) return &one.because;
  }
  return nullptr;
}

}  // namespace plimsoll
