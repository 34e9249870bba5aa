// The Store on a RocksDB database in a folder. Whatever is wrong with the folder is a clear error
// that names it; nothing aborts. After a failed write every later one fails with the same error.
// Commit() may be called from several threads at once, beside reads on another: the scraper keeps
// its pages without passing the run's loop.
#pragma once

#include <memory>
#include <string>

#include "common/base/status.h"
#include "coordinator/store/store.h"

namespace plimsoll {

enum class StoreAccess {
  kReadWrite,  // Creates the folder and the store if there is none. One process at a time.
  kReadOnly,   // A snapshot as of opening, also beside a process that writes.
};

// NotFound: no store there (read-only). FailedPrecondition: a file, a folder of other things, a
// store of another schema, or locked by another process. DataLoss: corrupt. PermissionDenied,
// ResourceExhausted: as they say.
StatusOr<std::unique_ptr<Store>> OpenRocksStore(const std::string& folder, StoreAccess access);

}  // namespace plimsoll
