#include "coordinator/store/limit_codec.h"

#include <cmath>
#include <utility>

#include "coordinator/store/eval_codec.h"
#include "plimsoll/v1/results.pb.h"

namespace plimsoll {
namespace {

Status Damaged() {
  return absl::DataLossError("a stored limit is damaged");
}

bool IsPositive(double value) {
  return std::isfinite(value) && value > 0;
}

}  // namespace

void WriteOrigin(const LimitOrigin& origin, v1::StoredLimitOrigin* out) {
  for (const std::string& run : origin.runs) out->add_runs(run);
  out->set_sessions(origin.sessions);
  out->set_factor(origin.factor);
  out->set_baseline(origin.baseline);
  if (origin.low) out->set_low(*origin.low);
  if (origin.high) out->set_high(*origin.high);
}

StatusOr<LimitOrigin> ReadOrigin(const v1::StoredLimitOrigin& in) {
  if (in.runs_size() < 1 || in.runs_size() > static_cast<int>(kBaselineRunsMax) ||
      !IsPositive(in.factor()) || !IsPositive(in.baseline()) || in.has_low() != in.has_high()) {
    return Damaged();
  }
  LimitOrigin origin;
  origin.runs.assign(in.runs().begin(), in.runs().end());
  origin.sessions = in.sessions();
  origin.factor = in.factor();
  origin.baseline = in.baseline();
  if (!in.has_low()) return origin;
  if (!IsPositive(in.low()) || !IsPositive(in.high()) || in.low() > in.high()) return Damaged();
  origin.low = in.low();
  origin.high = in.high();
  return origin;
}

void WriteLimit(const Limit& limit, v1::StoredLimit* out) {
  out->set_metric(static_cast<v1::StoredMetric>(limit.metric));
  out->set_quantile(limit.quantile);
  out->set_limit(limit.value);
  out->set_tier(limit.tier);
  if (limit.origin) WriteOrigin(*limit.origin, out->mutable_origin());
}

StatusOr<Limit> ReadLimit(const v1::StoredLimit& in) {
  if (in.metric() < 1 || in.metric() > kMetricsKnown) return Damaged();
  Limit limit{.metric = static_cast<Metric>(in.metric()),
              .quantile = in.quantile(),
              .value = in.limit(),
              .tier = in.tier()};
  if (in.has_origin()) {
    ASSIGN_OR_RETURN(limit.origin, ReadOrigin(in.origin()));
  }
  return limit;
}

void WriteBar(const Bar& bar, v1::StoredRun* out) {
  for (const Limit& limit : bar.limits) WriteLimit(limit, out->add_bar());
  WriteEvalBar(bar.evals, out);
}

StatusOr<Bar> ReadBar(const v1::StoredRun& in) {
  if (in.bar_size() > static_cast<int>(kBarLimitsMax)) return Damaged();
  Bar bar;
  for (const v1::StoredLimit& stored : in.bar()) {
    ASSIGN_OR_RETURN(Limit limit, ReadLimit(stored));
    bar.limits.push_back(std::move(limit));
  }
  ASSIGN_OR_RETURN(bar.evals, ReadEvalBar(in));
  return bar;
}

}  // namespace plimsoll
