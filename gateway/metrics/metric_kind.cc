#include "gateway/metrics/metric_kind.h"

#include <algorithm>

namespace plimsoll {

std::optional<MetricKind> MetricKindNamed(std::string_view name) {
  const auto* const found = std::find(kMetricKindNames.begin(), kMetricKindNames.end(), name);
  if (found == kMetricKindNames.end()) return std::nullopt;
  return static_cast<MetricKind>(found - kMetricKindNames.begin());
}

}  // namespace plimsoll
