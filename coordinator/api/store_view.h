// StoreView: a store that another process may be writing, opened for reading and opened again when
// it has changed. Any number of them beside one writer.
#pragma once

#include <memory>
#include <string>

#include "common/base/scheduler.h"
#include "common/base/status.h"
#include "coordinator/api/results.h"
#include "coordinator/store/run_repo.h"
#include "coordinator/store/store.h"

namespace plimsoll {

// An opened store is a snapshot. It is looked at again when somebody asks and the last look was a
// second ago or more, and opened again if its files have changed since: a change shows after a
// second at most, and a store at rest costs a listing of its folder.
class StoreView {
 public:
  static constexpr Duration kLookAgain = 1s;

  // Opens nothing yet. `clock` outlives it.
  StoreView(std::string folder, const Scheduler& clock);

  // Valid until the next call. kNow opens in any case. The errors of OpenRocksStore.
  StatusOr<const RunRepo*> Repo(Freshness freshness);

 private:
  struct Opened {
    explicit Opened(std::unique_ptr<Store> opened) : store(std::move(opened)), repo(*store) {}
    std::unique_ptr<Store> store;
    RunRepo repo;
  };
  // Names, sizes and times of the files that a write changes.
  std::string Fingerprint() const;

  const std::string folder_;
  const Scheduler& clock_;
  std::unique_ptr<Opened> opened_;
  std::string seen_;
  MonoTime looked_{};
};

}  // namespace plimsoll
