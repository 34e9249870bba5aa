// Keeps the pages of a run: gathers those of each target into bundles, compresses them and hands
// them to the store, on the scraper's thread.
//
// Pages of a target differ in little but their numbers, so that a bundle of up to 16 of them takes
// little more than its first page and the digits that changed: about a tenth of what single ones
// would. A page of 350 lines read each second takes at most about 8 MB an hour, one of 2,000 lines
// about 47 MB, if every number moves each second. At most kBytesMax are kept of a run; from half of
// that on only one page of each bundle is, the others are counted. A process that is killed loses
// the bundles that were not full: at most the last 16 pages of each target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "coordinator/store/page_codec.h"

namespace plimsoll {

class PageKeeper {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{4} << 30;
  static constexpr std::size_t kPagesInBundle = 16;
  static constexpr std::size_t kBundleBytes = std::size_t{1} << 20;  // Raw; of all but huge pages.
  // Of a page that could not be read: what a person needs to see what it was.
  static constexpr std::size_t kUnreadBytesMax = std::size_t{4} << 10;

  // Where pages go; an error is said once and ends the keeping.
  struct Sink {
    std::function<Status(std::uint32_t target, const KeptPageTarget& what)> put_target;
    std::function<Status(std::uint32_t target, std::uint64_t bundle, std::string bytes)> put_pages;
  };

  explicit PageKeeper(Sink sink, std::size_t bytes_max = kBytesMax);

  // Targets are numbered from 0 in the order of these calls.
  void AddTarget(const KeptPageTarget& target);
  void Add(std::uint32_t target, KeptPage page);
  // Writes what is still gathered: at the end.
  void Flush();

  std::size_t bytes_kept() const { return bytes_kept_; }  // Compressed.
  std::uint64_t pages_kept() const { return pages_kept_; }
  std::uint64_t pages_left_out() const { return pages_left_out_; }
  // Of the first write that failed; after it nothing is kept any more.
  const Status& status() const { return status_; }

 private:
  struct Gathered {
    std::vector<KeptPage> pages;
    std::size_t bytes = 0;
    std::uint64_t next_bundle = 0;
  };

  void Write(std::uint32_t target);

  Sink sink_;
  const std::size_t bytes_max_;
  std::vector<Gathered> gathered_;  // By target.
  std::size_t bytes_kept_ = 0;
  std::uint64_t pages_kept_ = 0;
  std::uint64_t pages_left_out_ = 0;
  Status status_;
};

}  // namespace plimsoll
