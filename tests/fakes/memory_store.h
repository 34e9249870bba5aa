// A Store in memory, with the contract of the real one: the same tests run on both
// (tests/coordinator/store/store_contract_test.cc).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coordinator/store/store.h"

namespace plimsoll {

class MemoryStore : public Store {
 public:
  Status Commit(const std::vector<Put>& puts, Durability durability) override {
    for (const Put& put : puts) values_.insert_or_assign(put.key, put.value);
    ++commits_;
    if (durability == Durability::kSynced) ++synced_;
    return absl::OkStatus();
  }

  StatusOr<std::string> Get(std::string_view key) const override {
    const auto it = values_.find(key);
    if (it == values_.end()) return absl::NotFoundError("no such key");
    return it->second;
  }

  Status Scan(std::string_view prefix, const Visitor& visit) const override {
    for (auto it = values_.lower_bound(prefix); it != values_.end(); ++it) {
      if (!it->first.starts_with(prefix) || !visit(it->first, it->second)) break;
    }
    return absl::OkStatus();
  }

  int commits() const { return commits_; }
  int synced_commits() const { return synced_; }
  std::size_t size() const { return values_.size(); }

 private:
  std::map<std::string, std::string, std::less<>> values_;
  int commits_ = 0;
  int synced_ = 0;
};

}  // namespace plimsoll
