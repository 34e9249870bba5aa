// Cells to bytes and back (StoredCell in proto/plimsoll/v1/results.proto). Decoding checks
// everything that a histogram cannot be, so that a damaged value is DataLoss and never a wrong
// number.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "coordinator/judge/cell.h"

namespace plimsoll {

std::string EncodeCell(const Cell& cell);
// DataLoss: damaged. FailedPrecondition: stored by another version, which counted otherwise.
StatusOr<Cell> DecodeCell(std::string_view bytes);

}  // namespace plimsoll
