// The work of `plimsoll corpus import`: recordings of any form to one corpus, with a report of what
// was read, left out and estimated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/corpus/session.h"

namespace plimsoll {

struct ImportOptions {
  std::vector<std::string> paths;  // Files, and folders of them.
  std::string out;                 // The corpus file to write.
  bool keep_copies = false;
  std::optional<std::uint64_t> light_max;  // Bounds of the tiers; default: the quartiles.
  std::optional<std::uint64_t> heavy_min;
  std::string license;
};

struct Imported {
  Corpus corpus;
  std::string report;  // Lines: per form what was read and noted, the copies, the tiers' bounds.
};

// Reads everything and writes nothing. InvalidArgument or NotFound with one line for the first file
// that is no recording: "FILE:LINE: what".
StatusOr<Imported> ImportRecordings(const ImportOptions& options);

}  // namespace plimsoll
