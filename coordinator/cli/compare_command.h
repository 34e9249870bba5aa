// `plimsoll compare RUN…`: runs of several recipes beside each other, from the store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "coordinator/report/comparison.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {

struct CompareFlags {
  std::vector<std::string> runs;  // Ids, or unambiguous beginnings.
  std::string store = "plimsoll-store";
  std::string json;  // Empty: no JSON file.
  std::optional<std::uint32_t> target;
  bool anyway = false;
};

// Reads and compares. InvalidArgument or NotFound, in sentences: fewer than two runs, one twice,
// one that is not there, has not ended or has no step, or, without `anyway`, runs that were not
// measured alike.
StatusOr<Comparison> CompareStored(const RunRepo& repo, const CompareFlags& flags);

// Takes the words after `plimsoll compare`. Returns 0, or 64 for usage, runs that cannot be
// compared or a store that cannot be read; 70 if the JSON file cannot be written.
int CompareMain(int argc, const char* const* argv);

}  // namespace plimsoll
