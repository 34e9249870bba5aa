// CorpusShelf in memory: corpora as they came from coordinators, checked against their digest.
#pragma once

#include <map>

#include "agent/control/agent.h"

namespace plimsoll {

class MemoryShelf final : public CorpusShelf {
 public:
  std::vector<std::string> digests() const override;
  std::shared_ptr<const Corpus> Find(const std::string& digest) const override;
  Status Add(const std::string& digest, std::string bytes) override;

 private:
  std::map<std::string, std::shared_ptr<const Corpus>> corpora_;
};

}  // namespace plimsoll
