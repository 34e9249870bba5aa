#include "coordinator/store/capacity_codec.h"

#include <cmath>
#include <utility>

#include "coordinator/store/limit_codec.h"
#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

Status Damaged() {
  return absl::DataLossError("a stored capacity is damaged");
}

void Write(const CapacityEnd& end, v1::StoredCapacityEnd* out) {
  out->set_kind(static_cast<v1::StoredCapacityEndKind>(end.kind));
  out->set_sessions(end.sessions);
  if (end.requests_in_flight) out->set_requests_in_flight(*end.requests_in_flight);
  out->set_interpolated(end.interpolated);
}

StatusOr<CapacityEnd> Read(const v1::StoredCapacityEnd& in) {
  if (in.kind() < v1::STORED_CAPACITY_END_KIND_BELOW ||
      in.kind() > v1::STORED_CAPACITY_END_KIND_AT_LEAST || !std::isfinite(in.sessions()) ||
      in.sessions() < 0 || !std::isfinite(in.requests_in_flight())) {
    return Damaged();
  }
  CapacityEnd end{.kind = static_cast<CapacityEnd::Kind>(in.kind()),
                  .sessions = in.sessions(),
                  .interpolated = in.interpolated()};
  if (in.has_requests_in_flight()) end.requests_in_flight = in.requests_in_flight();
  return end;
}

void Write(const CapacityBand& band, v1::StoredCapacityBand* out) {
  Write(band.value, out->mutable_value());
  Write(band.low, out->mutable_low());
  Write(band.high, out->mutable_high());
}

StatusOr<CapacityBand> Read(const v1::StoredCapacityBand& in) {
  CapacityBand band;
  ASSIGN_OR_RETURN(band.value, Read(in.value()));
  ASSIGN_OR_RETURN(band.low, Read(in.low()));
  ASSIGN_OR_RETURN(band.high, Read(in.high()));
  if (Less(band.value, band.low) || Less(band.high, band.value)) return Damaged();
  return band;
}

}  // namespace

void WriteCapacity(const Capacity& capacity, v1::StoredCapacity* out) {
  if (capacity.passed) out->set_passed_sessions(*capacity.passed);
  if (capacity.failed) out->set_failed_sessions(*capacity.failed);
  out->set_sentence(capacity.sentence);
  if (capacity.limited_by) {
    out->set_limited_by(static_cast<v1::StoredMetric>(*capacity.limited_by));
  }
  out->set_requests_in_flight(capacity.requests_in_flight);
  if (capacity.band) Write(*capacity.band, out->mutable_band());
  for (const PartCapacity& part : capacity.parts) {
    v1::StoredPartCapacity* stored = out->add_parts();
    WriteLimit(part.limit, stored->mutable_limit());
    if (part.band) Write(*part.band, stored->mutable_band());
  }
  if (capacity.limiting_part) out->set_limiting_part(*capacity.limiting_part);
}

StatusOr<Capacity> ReadCapacity(const v1::StoredCapacity& in) {
  if (in.limited_by() < 0 || in.limited_by() > kMetricsKnown ||
      in.parts_size() > static_cast<int>(kBarLimitsMax) ||
      (in.has_limiting_part() && in.limiting_part() >= static_cast<unsigned>(in.parts_size()))) {
    return Damaged();
  }
  Capacity capacity{.sentence = in.sentence(), .requests_in_flight = in.requests_in_flight()};
  if (in.has_passed_sessions()) capacity.passed = in.passed_sessions();
  if (in.has_failed_sessions()) capacity.failed = in.failed_sessions();
  if (in.limited_by() != v1::STORED_METRIC_UNSPECIFIED) {
    capacity.limited_by = static_cast<Metric>(in.limited_by());
  }
  if (in.has_band()) {
    ASSIGN_OR_RETURN(capacity.band, Read(in.band()));
  }
  for (const v1::StoredPartCapacity& stored : in.parts()) {
    PartCapacity part;
    ASSIGN_OR_RETURN(part.limit, ReadLimit(stored.limit()));
    if (stored.has_band()) {
      ASSIGN_OR_RETURN(part.band, Read(stored.band()));
    }
    capacity.parts.push_back(std::move(part));
  }
  if (in.has_limiting_part()) capacity.limiting_part = in.limiting_part();
  return capacity;
}

}  // namespace plimsoll
