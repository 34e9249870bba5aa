#include "coordinator/api/bar_messages.h"

#include <cmath>

#include "common/base/text.h"
#include "coordinator/judge/metrics.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

static_assert(static_cast<int>(Metric::kGoodput) == v1::METRIC_GOODPUT);
static_assert(static_cast<int>(CapacityEnd::Kind::kAtLeast) == v1::CAPACITY_END_KIND_AT_LEAST);

v1::Metric Of(Metric metric) {
  return static_cast<v1::Metric>(metric);
}

double Finite(double value) {
  return std::isfinite(value) ? value : 0;
}

bool IsNumber(const std::optional<double>& value) {
  return value.has_value() && std::isfinite(*value);
}

void Fill(const CapacityEnd& end, v1::CapacityEnd* out) {
  out->set_kind(static_cast<v1::CapacityEndKind>(end.kind));
  out->set_sessions(Finite(end.sessions));
  out->set_whole_sessions(end.whole());
  if (!IsNumber(end.requests_in_flight)) return;
  out->set_requests_in_flight_mean(*end.requests_in_flight);
  out->set_requests_in_flight_interpolated(end.interpolated);
}

void Fill(const CapacityBand& band, v1::CapacityBand* out) {
  Fill(band.value, out->mutable_value());
  Fill(band.low, out->mutable_low_95());
  Fill(band.high, out->mutable_high_95());
}

void Fill(const BracketEnd& end, v1::BracketEnd* out) {
  out->set_sessions(end.sessions);
  if (IsNumber(end.requests_in_flight)) {
    out->set_requests_in_flight_mean(*end.requests_in_flight);
  }
}

}  // namespace

void FillLimit(const Limit& limit, v1::Limit* out) {
  out->set_metric(Of(limit.metric));
  if (!IsBadShare(limit.metric)) out->set_quantile_share(Finite(limit.quantile));
  out->set_limit(Finite(limit.value));
  out->set_key(ValidUtf8(PartKey(limit)));
  if (!limit.tier.empty()) out->set_tier(ValidUtf8(limit.tier));
  if (!limit.origin) return;
  v1::LimitOrigin* origin = out->mutable_origin();
  for (const std::string& run : limit.origin->runs) origin->add_runs(ValidUtf8(run));
  origin->set_sessions(limit.origin->sessions);
  origin->set_factor(Finite(limit.origin->factor));
  origin->set_baseline(Finite(limit.origin->baseline));
  if (IsNumber(limit.origin->low)) origin->set_low_95(*limit.origin->low);
  if (IsNumber(limit.origin->high)) origin->set_high_95(*limit.origin->high);
}

void FillCapacity(const Capacity& capacity, v1::Capacity* out) {
  out->set_sentence(ValidUtf8(capacity.sentence));
  if (capacity.passed) out->set_passed_sessions(*capacity.passed);
  if (capacity.failed) out->set_failed_sessions(*capacity.failed);
  if (capacity.limited_by) out->set_limited_by(Of(*capacity.limited_by));
  if (capacity.passed && IsNumber(capacity.requests_in_flight)) {
    out->set_requests_in_flight_mean(capacity.requests_in_flight);
  }
  if (capacity.band) Fill(*capacity.band, out->mutable_band());
  for (const PartCapacity& part : capacity.parts) {
    v1::PartCapacity* filled = out->add_parts();
    FillLimit(part.limit, filled->mutable_limit());
    if (part.band) Fill(*part.band, filled->mutable_band());
  }
  if (capacity.limiting_part) out->set_limiting_part(*capacity.limiting_part);
}

void FillBracket(const Bracket& bracket, v1::TierLadder* out) {
  out->set_sentence(ValidUtf8(bracket.sentence));
  if (bracket.passed) Fill(*bracket.passed, out->mutable_last_passed());
  if (bracket.failed) Fill(*bracket.failed, out->mutable_first_failed());
}

}  // namespace plimsoll
