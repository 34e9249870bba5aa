// Reads pages of metrics: Prometheus text 0.0.4 and OpenMetrics 1.0. Pure.
//
// A page is read whole or not at all: what is damaged on one line makes its numbers doubtful on all
// of them, and the scrape is done again. The rules that matter, with their sources (Prometheus'
// exposition formats; OpenMetrics 1.0):
// - 0.0.4: lines end in a line break, the last one too, so that a cut page is found; blanks may be
//   tabs and runs; empty lines and free comments are skipped; a timestamp is in milliseconds.
// - OpenMetrics: "# EOF" is the last line, which finds a cut page; fields are one space apart, no
//   line is empty; families do not interleave; a timestamp is in seconds; a sample may carry an
//   exemplar, which is no part of it.
// - Both: no series twice; names and labels are compared after their escapes are undone, labels in
//   any order; carriage returns before line breaks and a leading byte-order mark are skipped.
// - Values: see sample_tail.h. 1e500 is wrong, not infinite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "common/base/status.h"
#include "coordinator/signals/page.h"
#include "coordinator/signals/page_syntax.h"

namespace plimsoll {

// Far above any server's page, far below what hurts: an engine's has about 350 series, a gateway
// with many routes tens of thousands.
struct PageLimits {
  std::size_t bytes_max = std::size_t{32} << 20;
  std::size_t line_bytes_max = std::size_t{64} << 10;
  std::size_t labels_max = 64;
  std::size_t series_max = 200'000;
};

// Of one target: pages that have the same series as the last one are read several times faster, and
// share their layout with it.
class PageParser {
 public:
  explicit PageParser(PageLimits limits = {});

  // InvalidArgument: "line 12: has …", of the first line that is wrong. ResourceExhausted: a limit
  // is exceeded, in the same form. A page without a single series is wrong, too.
  StatusOr<Page> Parse(std::string_view body, PageSyntax syntax);

  // How many different layouts were met so far.
  std::uint64_t layouts() const { return layouts_; }

 private:
  // A page like the last one. False: it is not, or something is wrong with it.
  bool ReadKnown(std::string_view body, Page& page) const;
  StatusOr<Page> ReadNew(std::string_view body, PageSyntax syntax) const;

  PageLimits limits_;
  std::shared_ptr<const PageLayout> last_;
  PageSyntax syntax_ = PageSyntax::kText;  // Of last_.
  std::uint64_t layouts_ = 0;
};

}  // namespace plimsoll
