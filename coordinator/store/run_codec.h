// Stored values to bytes and back (proto/plimsoll/v1/results.proto). The only door to the generated
// types: decoding checks every enum and every length, so that a damaged value is DataLoss and never
// a wrong number.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

std::string EncodeRun(const RunInfo& run);
StatusOr<RunInfo> DecodeRun(std::string_view bytes);

std::string EncodeStep(const StepRow& row);
StatusOr<StepRow> DecodeStep(std::string_view bytes);

}  // namespace plimsoll
