// PageRepo: the pages of metrics that are kept with runs, as typed reads and writes on a Store.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "coordinator/store/keys.h"
#include "coordinator/store/page_codec.h"
#include "coordinator/store/store.h"

namespace plimsoll {

class PageRepo {
 public:
  // `store` outlives the repo.
  explicit PageRepo(Store& store) : store_(store) {}

  // Adds or replaces a target of the run's pages; logged.
  Status PutTarget(const keys::PageTargetKey& key, const KeptPageTarget& target);
  // Ascending by their numbers.
  StatusOr<std::vector<std::pair<std::uint32_t, KeptPageTarget>>> Targets(
      std::string_view run) const;

  // `bytes` as EncodePages gives them; logged. Their number of pages and bytes are the caller's to
  // bound. Safe from any thread where the store's Commit is.
  Status PutPages(const keys::PagesKey& key, std::string bytes);
  // Every bundle by target, then in the order of its pages. An error of the visitor ends the scan.
  Status ScanPages(std::string_view run,
                   const std::function<Status(const keys::PagesKey& key,
                                              const std::vector<KeptPage>& pages)>& visit) const;

 private:
  Store& store_;
};

}  // namespace plimsoll
