// Store: ordered keys to values, written in atomic groups. The seam between what is kept and where.
// Real: rocks_store. In tests: tests/fakes/memory_store and faulty_store.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"

namespace plimsoll {

struct Put {
  std::string key;
  std::string value;
};

enum class Durability {
  kLogged,  // In the write-ahead log: survives a killed process, not a lost machine.
  kSynced,  // On the disk: survives a lost machine.
};

// A store is used from one thread at a time. Errors are for people as they are: they name the
// store and what to do. ResourceExhausted: the disk is full; DataLoss: the database is corrupt.
class Store {
 public:
  // Return false to end the scan. The views are valid within the call.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual ~Store() = default;
  // All puts or none; later ones of the same key win. OK means durable as asked.
  virtual Status Commit(const std::vector<Put>& puts, Durability durability) = 0;
  // NotFound if the key is absent; an empty value is a value.
  virtual StatusOr<std::string> Get(std::string_view key) const = 0;
  // Visits every key that starts with `prefix`, ascending by bytes. The visitor must not write.
  virtual Status Scan(std::string_view prefix, const Visitor& visit) const = 0;
};

}  // namespace plimsoll
