// Bytes compressed and back, for stored batches. The fence of zstd in the store.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

StatusOr<std::string> Compress(std::string_view bytes);
// DataLoss if `bytes` is not one whole frame or holds more than `max_bytes`.
StatusOr<std::string> Decompress(std::string_view bytes, std::size_t max_bytes);

}  // namespace plimsoll
