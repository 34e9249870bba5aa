#include "coordinator/scrape/page_keeper.h"

#include <utility>

namespace plimsoll {

PageKeeper::PageKeeper(Sink sink, std::size_t bytes_max)
    : sink_(std::move(sink)), bytes_max_(bytes_max) {}

void PageKeeper::AddTarget(const KeptPageTarget& target) {
  const auto number = static_cast<std::uint32_t>(gathered_.size());
  gathered_.emplace_back();
  if (status_.ok()) status_ = sink_.put_target(number, target);
}

void PageKeeper::Add(std::uint32_t target, KeptPage page) {
  if (!page.error.empty() && page.body.size() > kUnreadBytesMax) {
    page.body.resize(kUnreadBytesMax);
    page.body.shrink_to_fit();
  }
  Gathered& to = gathered_[target];
  to.bytes += page.body.size();
  to.pages.push_back(std::move(page));
  if (to.pages.size() >= kPagesInBundle || to.bytes >= kBundleBytes) Write(target);
}

void PageKeeper::Flush() {
  for (std::uint32_t target = 0; target < gathered_.size(); ++target) Write(target);
}

void PageKeeper::Write(std::uint32_t target) {
  Gathered& from = gathered_[target];
  if (from.pages.empty()) return;
  std::vector<KeptPage> pages = std::exchange(from.pages, {});
  from.bytes = 0;
  const std::size_t all = pages.size();
  if (bytes_kept_ >= bytes_max_ / 2) pages.erase(pages.begin(), pages.end() - 1);
  if (!status_.ok() || bytes_kept_ >= bytes_max_) {
    pages_left_out_ += all;
    return;
  }
  pages_left_out_ += all - pages.size();
  StatusOr<std::string> bytes = EncodePages(pages);
  if (!bytes.ok()) {
    status_ = bytes.status();
    return;
  }
  const std::size_t size = bytes->size();
  status_ = sink_.put_pages(target, from.next_bundle++, *std::move(bytes));
  if (!status_.ok()) {
    pages_left_out_ += pages.size();
    return;
  }
  bytes_kept_ += size;
  pages_kept_ += pages.size();
}

}  // namespace plimsoll
