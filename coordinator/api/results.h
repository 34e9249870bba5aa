// Results: what the API answers from. Reads the store through whoever keeps it open, and knows the
// run that is going on, if there is one. Used on one loop's thread.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "coordinator/api/run_view.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {

enum class Freshness : std::uint8_t {
  kRecent,  // As the store was a second ago at the latest.
  kNow,     // Read it again: what was open turned out to be gone.
};

struct ResultsDeps {
  // The store; the repo is valid until the next call.
  std::function<StatusOr<const RunRepo*>(Freshness)> repo;
  // The run that is going on.
  std::function<std::optional<LiveRun>()> live;
};

class Results {
 public:
  explicit Results(ResultsDeps deps) : deps_(std::move(deps)) {}

  // Latest start first.
  StatusOr<std::vector<RunInfo>> List(std::size_t limit) const;
  // By the whole id or an unambiguous beginning of it. NotFound names the latest runs.
  StatusOr<RunView> Get(std::string_view id_start) const;
  std::optional<LiveRun> Live() const { return deps_.live(); }

 private:
  template <typename T>
  StatusOr<T> Read(const std::function<StatusOr<T>(const RunRepo&)>& read) const;

  ResultsDeps deps_;
};

}  // namespace plimsoll
