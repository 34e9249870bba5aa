// Pages of metrics that are kept with a run, as values: to stored bytes and back. Decoding checks
// every bound, so that a damaged value is DataLoss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"

namespace plimsoll {

struct KeptPageTarget {
  std::string source;   // "engines", "gateway" or "production".
  std::string name;     // Unique within the source.
  std::string url;      // Of the page, or of the Prometheus server that was asked for it.
  std::string kind;     // Of its mapping.
  std::string mapping;  // The mapping file as it was read; empty: a kind that is built in.
  friend bool operator==(const KeptPageTarget&, const KeptPageTarget&) = default;
};

// One exchange with a target.
struct KeptPage {
  WallTime at{};             // The middle of the exchange.
  Duration took{};           // From the request's first byte to the answer's last.
  std::uint16_t http = 0;    // Status; 0: there was no answer.
  std::string content_type;  // Empty: none was said.
  std::string error;         // Why it could not be read; empty: it could.
  std::string body;          // Of one that could not be read its beginning, perhaps empty.
  friend bool operator==(const KeptPage&, const KeptPage&) = default;
};

// A bundle is closed with the page that brings it to this size; a page has at most 32 MiB.
inline constexpr std::size_t kBundleBytesMax = std::size_t{40} << 20;
inline constexpr std::size_t kMappingBytesMax = std::size_t{1} << 20;

std::string EncodePageTarget(const KeptPageTarget& target);
StatusOr<KeptPageTarget> DecodePageTarget(std::string_view bytes);

// Several pages of one target as one zstd frame.
StatusOr<std::string> EncodePages(const std::vector<KeptPage>& pages);
StatusOr<std::vector<KeptPage>> DecodePages(std::string_view bytes);

}  // namespace plimsoll
