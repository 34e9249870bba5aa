#include "coordinator/store/eval_codec.h"

#include <cmath>
#include <utility>

#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

constexpr int kKindsMax = 64;  // Far beyond a set's.

Status Damaged() {
  return absl::DataLossError("stored evals are damaged");
}

template <typename Repeated>
void WriteCounts(const EvalCounts& counts, Repeated* out) {
  for (const std::uint64_t count : counts.by_outcome) out->Add(count);
}

// Later versions may append outcomes; fewer are possible, never more than we know.
template <typename Repeated>
bool ReadCounts(const Repeated& in, EvalCounts* counts) {
  if (in.size() > static_cast<int>(kEvalOutcomes) || (in.size() > 0 && in[0] != 0)) return false;
  for (int i = 0; i < in.size(); ++i) counts->by_outcome[static_cast<std::size_t>(i)] = in[i];
  return true;
}

template <typename Repeated>
void WriteKinds(const FaultyAnswers& faults, Repeated* out) {
  if (!faults.any()) return;
  for (const std::uint64_t count : faults.by_kind) out->Add(count);
}

template <typename Repeated>
bool ReadKinds(const Repeated& in, FaultyAnswers* faults) {
  if (in.size() > static_cast<int>(kToolFaults) || (in.size() > 0 && in[0] != 0)) return false;
  for (int i = 0; i < in.size(); ++i) faults->by_kind[static_cast<std::size_t>(i)] = in[i];
  return true;
}

bool IsInterval(double low, double high, double least) {
  return std::isfinite(low) && std::isfinite(high) && low >= least && low <= high && high <= 1;
}

bool IsShare(double value, double least) {
  return std::isfinite(value) && value >= least && value <= 1;
}

bool ReadNumbers(const v1::StoredEvals& in, EvalSummary* evals) {
  if (!IsInterval(in.rate_low(), in.rate_high(), 0)) return false;
  evals->interval = {in.rate_low(), in.rate_high()};
  if (in.has_change_low() != in.has_change_high()) return false;
  if (in.has_change_low()) {
    if (!IsInterval(in.change_low(), in.change_high(), -1)) return false;
    evals->change = Interval{in.change_low(), in.change_high()};
  }
  evals->design_effect = in.design_effect();
  return std::isfinite(evals->design_effect) && evals->design_effect >= 1;
}

}  // namespace

void WriteEvals(const EvalSummary& evals, v1::StoredEvals* out) {
  out->set_verdict(static_cast<v1::StoredVerdict>(evals.verdict));
  out->set_lean(static_cast<v1::StoredLean>(evals.lean));
  out->set_reason(evals.reason);
  WriteCounts(evals.loaded, out->mutable_loaded());
  WriteCounts(evals.unloaded, out->mutable_unloaded());
  out->set_design_effect(evals.design_effect);
  out->set_rate_low(evals.interval.low);
  out->set_rate_high(evals.interval.high);
  if (evals.change) {
    out->set_change_low(evals.change->low);
    out->set_change_high(evals.change->high);
  }
  WriteKinds(evals.faults, out->mutable_tool_faults());
  WriteKinds(evals.faults_unloaded, out->mutable_tool_faults_unloaded());
  for (const EvalKindSummary& kind : evals.kinds) {
    v1::StoredEvalKind* to = out->add_kinds();
    to->set_kind(kind.kind);
    WriteCounts(kind.loaded, to->mutable_loaded());
    WriteCounts(kind.unloaded, to->mutable_unloaded());
  }
}

StatusOr<EvalSummary> ReadEvals(const v1::StoredEvals& in) {
  EvalSummary evals;
  const int verdict = in.verdict();
  const int lean = in.lean();
  if (verdict < 1 || verdict > static_cast<int>(Verdict::kNoData) || lean < 0 ||
      lean > static_cast<int>(Lean::kFail) || in.kinds_size() > kKindsMax) {
    return Damaged();
  }
  evals.verdict = static_cast<Verdict>(verdict);
  evals.lean = static_cast<Lean>(lean);
  evals.reason = in.reason();
  if (!ReadCounts(in.loaded(), &evals.loaded) || !ReadCounts(in.unloaded(), &evals.unloaded) ||
      !ReadKinds(in.tool_faults(), &evals.faults) ||
      !ReadKinds(in.tool_faults_unloaded(), &evals.faults_unloaded) || !ReadNumbers(in, &evals)) {
    return Damaged();
  }
  for (const v1::StoredEvalKind& stored : in.kinds()) {
    EvalKindSummary kind{.kind = stored.kind()};
    if (!ReadCounts(stored.loaded(), &kind.loaded) ||
        !ReadCounts(stored.unloaded(), &kind.unloaded)) {
      return Damaged();
    }
    evals.kinds.push_back(std::move(kind));
  }
  return evals;
}

void WriteEvalBar(const EvalBar& bar, v1::StoredRun* out) {
  if (bar.pass_rate) out->mutable_eval_bar()->set_pass_rate(*bar.pass_rate);
  if (bar.drop) out->mutable_eval_bar()->set_drop(*bar.drop);
}

StatusOr<EvalBar> ReadEvalBar(const v1::StoredRun& in) {
  EvalBar bar;
  const v1::StoredEvalBar& stored = in.eval_bar();
  if (stored.has_pass_rate()) {
    if (!IsShare(stored.pass_rate(), 0)) return Damaged();
    bar.pass_rate = stored.pass_rate();
  }
  if (stored.has_drop()) {
    if (!IsShare(stored.drop(), 0)) return Damaged();
    bar.drop = stored.drop();
  }
  return bar;
}

void WriteFaults(const FaultyAnswers& faults, v1::StoredFidelity* out) {
  WriteKinds(faults, out->mutable_tool_faults());
}

StatusOr<FaultyAnswers> ReadFaults(const v1::StoredFidelity& in) {
  FaultyAnswers faults;
  if (!ReadKinds(in.tool_faults(), &faults)) return Damaged();
  return faults;
}

}  // namespace plimsoll
