#include "coordinator/api/results.h"

namespace plimsoll {
namespace {

// Worth another look at a store that another process writes: it may have replaced files under us.
bool MayBeStale(const Status& status) {
  return !status.ok() && !absl::IsNotFound(status) && !absl::IsInvalidArgument(status);
}

}  // namespace

template <typename T>
StatusOr<T> Results::Read(const std::function<StatusOr<T>(const RunRepo&)>& read) const {
  StatusOr<const RunRepo*> repo = deps_.repo(Freshness::kRecent);
  if (repo.ok()) {
    StatusOr<T> value = read(**repo);
    if (!MayBeStale(value.status())) return value;
  }
  ASSIGN_OR_RETURN(const RunRepo* fresh, deps_.repo(Freshness::kNow));
  return read(*fresh);
}

StatusOr<std::vector<RunInfo>> Results::List(std::size_t limit) const {
  return Read<std::vector<RunInfo>>([limit](const RunRepo& repo) { return repo.ListRuns(limit); });
}

StatusOr<RunView> Results::Get(std::string_view id_start) const {
  // Before the store is read: a run that ends in between is then seen as over at once.
  const std::optional<LiveRun> live = Live();
  return Read<RunView>([&](const RunRepo& repo) { return ReadRunView(repo, id_start, live); });
}

}  // namespace plimsoll
