// What is kept of a run's recipe and its price: to stored messages and back. Decoding checks every
// bound, so that a damaged value is DataLoss.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

namespace v1 {
class StoredRun;
}  // namespace v1

std::string EncodeRecipe(const KeptRecipe& recipe);
StatusOr<KeptRecipe> DecodeRecipe(std::string_view bytes);

// The price of a run; absent where the run has none.
void WriteCost(const std::optional<CostSettings>& cost, v1::StoredRun* out);
// DataLoss: no nodes, or a price that is not above zero.
StatusOr<std::optional<CostSettings>> ReadCost(const v1::StoredRun& in);

}  // namespace plimsoll
