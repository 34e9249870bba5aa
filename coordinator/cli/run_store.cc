#include "coordinator/cli/run_store.h"

#include <fmt/format.h>

#include "coordinator/store/rocks_store.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {
namespace {

// "; it runs 20261130-…-demo" if the store, looked at beside its holder, says so.
std::string RunningIn(const std::string& folder) {
  const auto store = OpenRocksStore(folder, StoreAccess::kReadOnly);
  if (!store.ok()) return {};
  const auto runs = RunRepo(**store).ListRuns(1);
  if (!runs.ok() || runs->empty() || runs->front().state != RunState::kRunning) return {};
  return fmt::format(" (its run: {})", runs->front().id);
}

Status Annotated(const Status& status, const std::string& more) {
  return Status(status.code(), std::string(MessageOf(status)) + more);
}

}  // namespace

StatusOr<std::unique_ptr<Store>> OpenRunStore(const std::string& folder) {
  auto store = OpenRocksStore(folder, StoreAccess::kReadWrite);
  if (!store.ok()) return Annotated(store.status(), RunningIn(folder));
  return store;
}

}  // namespace plimsoll
