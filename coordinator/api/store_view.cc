#include "coordinator/api/store_view.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "coordinator/store/rocks_store.h"

namespace plimsoll {

StoreView::StoreView(std::string folder, const Scheduler& clock)
    : folder_(std::move(folder)), clock_(clock) {}

StatusOr<const RunRepo*> StoreView::Repo(Freshness freshness) {
  const bool must = opened_ == nullptr || freshness == Freshness::kNow;
  const MonoTime now = clock_.Now();
  if (!must && now - looked_ < kLookAgain) return &opened_->repo;
  // Before opening: what is written meanwhile then differs, and is seen at the next look.
  std::string fingerprint = Fingerprint();
  if (must || fingerprint != seen_) {
    ASSIGN_OR_RETURN(std::unique_ptr<Store> store, OpenRocksStore(folder_, StoreAccess::kReadOnly));
    opened_ = std::make_unique<Opened>(std::move(store));
    seen_ = std::move(fingerprint);
  }
  looked_ = now;
  return &opened_->repo;
}

std::string StoreView::Fingerprint() const {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code gone;  // A file may vanish between the listing and the look at it.
    const auto size = it->file_size(gone);
    const auto changed = it->last_write_time(gone);
    if (name == "LOCK" || gone) continue;
    files.push_back(fmt::format("{} {} {}\n", name, size, changed.time_since_epoch().count()));
  }
  std::sort(files.begin(), files.end());
  return fmt::format("{}", fmt::join(files, ""));
}

}  // namespace plimsoll
