// Wraps a Store: the nth commit and, if wanted, all later ones fail and write nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coordinator/store/store.h"

namespace plimsoll {

class FaultyStore : public Store {
 public:
  enum class Afterwards { kRecovers, kStaysBroken };

  // `store` outlives this. Commits count from 1; 0: none fails.
  FaultyStore(Store& store, int fail_commit, Afterwards afterwards = Afterwards::kRecovers,
              Status error = absl::ResourceExhaustedError("store fake: the disk is full"))
      : store_(store),
        fail_commit_(fail_commit),
        afterwards_(afterwards),
        error_(std::move(error)) {}

  Status Commit(const std::vector<Put>& puts, Durability durability) override {
    ++commits_;
    const bool fails =
        fail_commit_ > 0 && (commits_ == fail_commit_ ||
                             (afterwards_ == Afterwards::kStaysBroken && commits_ > fail_commit_));
    if (fails) return error_;
    return store_.Commit(puts, durability);
  }
  StatusOr<std::string> Get(std::string_view key) const override { return store_.Get(key); }
  Status Scan(std::string_view prefix, const Visitor& visit) const override {
    return store_.Scan(prefix, visit);
  }

  int commits() const { return commits_; }

 private:
  Store& store_;
  const int fail_commit_;
  const Afterwards afterwards_;
  const Status error_;
  int commits_ = 0;
};

}  // namespace plimsoll
