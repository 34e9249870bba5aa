// `plimsoll runs export ID --pages jsonl`: the pages of metrics that a run kept.
#pragma once

#include <string>

#include "common/base/status.h"
#include "coordinator/cli/output_file.h"
#include "coordinator/store/store.h"

namespace plimsoll {

// A line a page, by target, then in the order in which they were read; a bundle of pages at a time.
Status WritePages(Store& store, const std::string& run, OutputFile& out);

}  // namespace plimsoll
