// What is kept of a run's recipe and its price: to stored messages and back. Decoding checks every
// bound, so that a damaged value is DataLoss.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

namespace v1 {
class StoredCost;
}  // namespace v1

std::string EncodeRecipe(const KeptRecipe& recipe);
StatusOr<KeptRecipe> DecodeRecipe(std::string_view bytes);

void WriteCost(const CostSettings& cost, v1::StoredCost* out);
// DataLoss: no nodes, or a price that is not above zero.
StatusOr<CostSettings> ReadCost(const v1::StoredCost& in);

}  // namespace plimsoll
