// Which series of a page carry which signals, worked out once a layout. Pure.
//
// A signal's series that differ in nothing but the labels which mark copies (Mapping::same) are one
// child; the others are children of their own: ranks, models, finish reasons. A child of a
// histogram holds all of its buckets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/signals/mapping.h"
#include "coordinator/signals/missing.h"
#include "coordinator/signals/page.h"

namespace plimsoll {

// What of a source is looked at, beside its mapping.
struct SourceFilter {
  std::string model;             // Where the mapping names the label that holds it; empty: any.
  std::vector<LabelTest> where;  // Each applies to the series that have its label.
};

class Selection {
 public:
  struct Child {
    std::string key;            // Its series without copies' labels and le.
    std::vector<double> edges;  // Of a histogram: ascending, finite.
    std::size_t first = 0;      // Its numbers among Values(): see Numbers().
    bool has_infinity = true;   // A histogram without a bucket +Inf is none.
  };
  struct Entry {
    Missing missing = Missing::kNot;  // kNot, kNoName or kNoSeries.
    std::size_t alternative = 0;      // Of SignalMapping::any.
    std::vector<Child> children;
  };

  // `before`, which may be null, is the target's selection so far: an alternative that is still on
  // the page is kept, so that a step's numbers come from one name.
  Selection(const Mapping& mapping, const SourceFilter& filter, const PageLayout& layout,
            const Selection* before);

  // One for each of mapping.signals, in their order.
  const std::vector<Entry>& entries() const { return entries_; }
  // How many numbers stand at Child::first: plain ones 1; a ratio or lifetime mean 2 (the second is
  // what it is divided or weighted by); a histogram one an edge, then +Inf, count and sum.
  static std::size_t Numbers(const SignalMapping& signal, const Child& child);
  // Finite, or NaN: the page has no such number (no _sum, no value).
  std::vector<double> Values(const Page& page) const;

 private:
  friend class SelectionMaker;
  // A number of a child: the largest of each group, summed over groups.
  struct Slot {
    std::vector<std::vector<std::uint32_t>> groups;
  };
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;
};

}  // namespace plimsoll
