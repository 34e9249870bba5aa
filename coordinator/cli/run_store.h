// The store that a run writes.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "coordinator/store/store.h"

namespace plimsoll {

// Opened to write; the errors of OpenRocksStore, and if another run holds it, which.
StatusOr<std::unique_ptr<Store>> OpenRunStore(const std::string& folder);

}  // namespace plimsoll
