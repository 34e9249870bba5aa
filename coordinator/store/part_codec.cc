#include "coordinator/store/part_codec.h"

#include <optional>

#include "coordinator/store/limit_codec.h"
#include "coordinator/store/percentile_codec.h"
#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

template <typename T, typename Set>
void Give(const std::optional<T>& value, const Set& set) {
  if (value.has_value()) set(*value);
}

bool IsIn(int value, int first, int last) {
  return value >= first && value <= last;
}

}  // namespace

void Write(const PartVerdict& part, v1::StoredPart& out) {
  out.set_metric(static_cast<v1::StoredMetric>(part.limit.metric));
  out.set_quantile(part.limit.quantile);
  out.set_limit(part.limit.value);
  out.set_verdict(static_cast<v1::StoredVerdict>(part.verdict));
  out.set_lean(static_cast<v1::StoredLean>(part.lean));
  out.set_reason(part.reason);
  out.set_n(part.n);
  Give(part.value, [&](double value) { out.set_value(value); });
  out.set_value_infinite(part.value_infinite);
  Give(part.value_ok_only, [&](double value) { out.set_value_ok_only(value); });
  out.set_share_within(part.share_within);
  out.set_share_low(part.share_low);
  out.set_share_high(part.share_high);
  Give(part.margin, [&](double value) { out.set_margin(value); });
  WriteValueInterval(part, &out);
  out.set_tier(part.limit.tier);
  if (part.limit.origin) WriteOrigin(*part.limit.origin, out.mutable_origin());
}

StatusOr<PartVerdict> Read(const v1::StoredPart& in) {
  if (!IsIn(in.metric(), 1, kMetricsKnown) || !IsIn(in.verdict(), 1, 4) || !IsIn(in.lean(), 0, 2)) {
    return absl::DataLossError("a stored part is damaged");
  }
  PartVerdict part;
  part.limit = {static_cast<Metric>(in.metric()), in.quantile(), in.limit(), in.tier(), {}};
  if (in.has_origin()) {
    ASSIGN_OR_RETURN(part.limit.origin, ReadOrigin(in.origin()));
  }
  part.verdict = static_cast<Verdict>(in.verdict());
  part.lean = static_cast<Lean>(in.lean());
  part.reason = in.reason();
  part.n = in.n();
  if (in.has_value()) part.value = in.value();
  part.value_infinite = in.value_infinite();
  if (in.has_value_ok_only()) part.value_ok_only = in.value_ok_only();
  part.share_within = in.share_within();
  part.share_low = in.share_low();
  part.share_high = in.share_high();
  if (in.has_margin()) part.margin = in.margin();
  RETURN_IF_ERROR(ReadValueInterval(in, &part));
  return part;
}

}  // namespace plimsoll
