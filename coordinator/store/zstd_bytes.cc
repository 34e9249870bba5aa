#include "coordinator/store/zstd_bytes.h"

#include <zstd.h>

#include "fmt/format.h"

namespace plimsoll {

StatusOr<std::string> Compress(std::string_view bytes) {
  // Level 3: the library's default, faster than a disk takes the result.
  constexpr int kLevel = 3;
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t n = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(n) != 0) {
    return absl::InternalError(fmt::format("compressing a batch: {}", ZSTD_getErrorName(n)));
  }
  out.resize(n);
  return out;
}

StatusOr<std::string> Decompress(std::string_view bytes, std::size_t max_bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return absl::DataLossError("a stored batch is no zstd frame");
  }
  if (size > max_bytes) {
    return absl::DataLossError(
        fmt::format("a stored batch claims {} bytes, at most {} are possible", size, max_bytes));
  }
  std::string out(size, '\0');
  const std::size_t n = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(n) != 0 || n != size) {
    return absl::DataLossError("a stored batch is damaged");
  }
  return out;
}

}  // namespace plimsoll
