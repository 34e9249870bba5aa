#include "coordinator/store/origin_codec.h"

#include "plimsoll/v1/results.pb.h"

namespace plimsoll {

void WriteOrigin(const StepOrigin& origin, v1::StoredOrigin* out) {
  // The numbers are the same, and both sides say "never renumber".
  out->set_kind(static_cast<v1::StoredStepKind>(origin.kind));
  out->set_ladder(origin.ladder);
  out->set_reason(origin.reason);
  if (origin.failed_early_after) out->set_failed_early_after_blocks(*origin.failed_early_after);
  out->set_measured_ns(origin.measured.count());
}

StatusOr<StepOrigin> ReadOrigin(const v1::StoredOrigin& in) {
  const int kind = in.kind();
  const bool known =
      kind >= v1::STORED_STEP_KIND_PLANNED && kind <= v1::STORED_STEP_KIND_REFINEMENT;
  if (!known || in.ladder().empty() || in.measured_ns() < 0) {
    return absl::DataLossError("a stored step's origin is damaged");
  }
  StepOrigin origin{.kind = static_cast<StepKind>(kind),
                    .ladder = in.ladder(),
                    .reason = in.reason(),
                    .failed_early_after = {},
                    .measured = Duration(in.measured_ns())};
  if (in.has_failed_early_after_blocks()) {
    origin.failed_early_after = in.failed_early_after_blocks();
  }
  return origin;
}

}  // namespace plimsoll
