#include "coordinator/store/percentile_codec.h"

#include <cmath>
#include <limits>
#include <optional>

#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

bool IsOpen(const ShownPercentile& end) {
  return !end.value && !end.infinite;
}

// Of an end that is not open; nothing if it is no end.
std::optional<double> Place(const ShownPercentile& end) {
  if (end.infinite) {
    if (end.value) return std::nullopt;
    return std::numeric_limits<double>::infinity();
  }
  if (!std::isfinite(*end.value)) return std::nullopt;
  return end.value;
}

}  // namespace

void WritePercentile(const ShownPercentile& percentile, v1::StoredPercentile* out) {
  if (percentile.value) out->set_value(*percentile.value);
  out->set_infinite(percentile.infinite);
}

ShownPercentile ReadPercentile(const v1::StoredPercentile& in) {
  ShownPercentile percentile{.infinite = in.infinite()};
  if (in.has_value()) percentile.value = in.value();
  return percentile;
}

void WriteValueInterval(const PartVerdict& part, v1::StoredPart* out) {
  if (!IsOpen(part.value_low)) WritePercentile(part.value_low, out->mutable_value_low());
  if (!IsOpen(part.value_high)) WritePercentile(part.value_high, out->mutable_value_high());
}

Status ReadValueInterval(const v1::StoredPart& in, PartVerdict* part) {
  part->value_low = ReadPercentile(in.value_low());
  part->value_high = ReadPercentile(in.value_high());
  std::optional<double> before;
  for (const ShownPercentile& end : {part->value_low, part->value_high}) {
    if (IsOpen(end)) continue;
    const std::optional<double> place = Place(end);
    if (!place || (before && *place < *before)) {
      return absl::DataLossError("a stored interval is damaged");
    }
    before = place;
  }
  return absl::OkStatus();
}

}  // namespace plimsoll
