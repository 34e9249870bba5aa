#include "agent/control/memory_shelf.h"

#include <utility>

#include <fmt/format.h>

#include "common/wire/corpus_codec.h"

namespace plimsoll {

std::vector<std::string> MemoryShelf::digests() const {
  std::vector<std::string> digests;
  for (const auto& [digest, corpus] : corpora_) digests.push_back(digest);
  return digests;
}

std::shared_ptr<const Corpus> MemoryShelf::Find(const std::string& digest) const {
  const auto it = corpora_.find(digest);
  return it == corpora_.end() ? nullptr : it->second;
}

Status MemoryShelf::Add(const std::string& digest, std::string bytes) {
  if (const std::string actual = Sha256Hex(bytes); actual != digest) {
    return absl::DataLossError(
        fmt::format("the corpus arrived damaged: SHA-256 {}, announced {}", actual, digest));
  }
  ASSIGN_OR_RETURN(Corpus corpus, DecodeCorpus(bytes));
  corpora_[digest] = std::make_shared<const Corpus>(std::move(corpus));
  return absl::OkStatus();
}

}  // namespace plimsoll
