#include "coordinator/signals/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "coordinator/signals/buckets.h"
#include "coordinator/signals/sample_tail.h"

namespace plimsoll {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<std::uint32_t>;

}  // namespace

class SelectionMaker {
 public:
  SelectionMaker(const Mapping& mapping, const SourceFilter& filter, const PageLayout& layout,
                 Selection& selection)
      : mapping_(mapping), filter_(filter), layout_(layout), selection_(selection) {
    bucket_labels_ = mapping.same;
    bucket_labels_.emplace_back("le");
  }

  Selection::Entry Make(const SignalMapping& signal, const Selection::Entry* before) {
    Selection::Entry entry;
    std::size_t at = 0;
    entry.missing = Missing::kNoName;
    if (before != nullptr && before->missing == Missing::kNot && before->alternative > 0 &&
        before->alternative < signal.any.size() &&
        State(signal, before->alternative) == Missing::kNot) {
      at = before->alternative;
      entry.missing = Missing::kNot;
    }
    for (std::size_t i = 0; i < signal.any.size() && entry.missing != Missing::kNot; ++i) {
      const Missing state = State(signal, i);
      if (state == Missing::kNot || entry.missing == Missing::kNoName) {
        entry.missing = state;
        at = i;
      }
    }
    entry.alternative = at;
    if (entry.missing == Missing::kNot) Fill(signal, entry);
    if (entry.missing == Missing::kNot && entry.children.empty())
      entry.missing = Missing::kNoSeries;
    return entry;
  }

 private:
  bool IsHistogram(const SignalMapping& signal) const {
    return TraitsOf(signal.signal).kind == SignalKind::kHistogram;
  }

  bool Wanted(std::uint32_t series, const Alternative& one) const {
    for (const LabelTest& test : one.where) {
      if (!test.Passes(layout_.LabelOf(series, test.label))) return false;
    }
    if (!filter_.model.empty() && !mapping_.model_label.empty()) {
      const std::string_view model = layout_.LabelOf(series, mapping_.model_label);
      if (!model.empty() && model != filter_.model) return false;
    }
    for (const LabelTest& test : filter_.where) {
      const std::string_view value = layout_.LabelOf(series, test.label);
      if (!value.empty() && !test.Passes(value)) return false;
    }
    return true;
  }

  Numbers Series(const std::string& name, const Alternative& one) const {
    Numbers wanted;
    for (const std::uint32_t series : layout_.Named(name)) {
      if (Wanted(series, one)) wanted.push_back(series);
    }
    return wanted;
  }

  // Whether an alternative is on the page: kNot (missing), kNoSeries or kNoName.
  Missing State(const SignalMapping& signal, std::size_t i) const {
    const Alternative& one = signal.any[i];
    const std::string name = IsHistogram(signal) ? one.name + "_bucket" : one.name;
    if (layout_.Named(name).empty()) return Missing::kNoName;
    return Series(name, one).empty() ? Missing::kNoSeries : Missing::kNot;
  }

  void Fill(const SignalMapping& signal, Selection::Entry& entry) {
    const Alternative& one = signal.any[entry.alternative];
    if (IsHistogram(signal)) {
      FillHistogram(one, entry);
    } else if (signal.derivation == Derivation::kPlain) {
      FillPlain(one, entry);
    } else {
      FillPair(signal, entry);
    }
  }

  std::size_t AddSlot(std::vector<Numbers> groups) {
    selection_.slots_.push_back({std::move(groups)});
    return selection_.slots_.size() - 1;
  }

  // Series by what tells children apart; copies of a child together.
  std::map<std::string, Numbers> ByChild(const Numbers& all,
                                         const std::vector<std::string>& without) const {
    std::map<std::string, Numbers> children;
    for (const std::uint32_t series : all) {
      children[layout_.TextOf(series, without)].push_back(series);
    }
    return children;
  }

  // Each child of a name and of those that are added to it, with its copies.
  std::vector<std::pair<std::string, Numbers>> ChildrenOf(const Alternative& one) const {
    std::vector<std::string> names = {one.name};
    names.insert(names.end(), one.plus.begin(), one.plus.end());
    std::vector<std::pair<std::string, Numbers>> children;
    for (const std::string& name : names) {
      for (auto& [key, copies] : ByChild(Series(name, one), mapping_.same)) {
        children.emplace_back(key, std::move(copies));
      }
    }
    return children;
  }

  void FillPlain(const Alternative& one, Selection::Entry& entry) {
    for (auto& [key, copies] : ChildrenOf(one)) {
      entry.children.push_back({.key = key, .edges = {}, .first = AddSlot({std::move(copies)})});
    }
  }

  // Numerator and denominator are summed over their series: one child.
  void FillPair(const SignalMapping& signal, Selection::Entry& entry) {
    const auto groups = [this](const Alternative& one) {
      std::vector<Numbers> found;
      for (auto& [key, copies] : ChildrenOf(one)) found.push_back(std::move(copies));
      return found;
    };
    const Alternative& one = signal.any[entry.alternative];
    entry.missing = Missing::kNoName;
    for (const Alternative& to : signal.to) {
      std::vector<Numbers> below = groups(to);
      if (below.empty()) continue;
      entry.missing = Missing::kNot;
      Selection::Child child{.key = one.name, .edges = {}, .first = AddSlot(groups(one))};
      AddSlot(std::move(below));
      entry.children.push_back(std::move(child));
      return;
    }
  }

  using Companions = std::map<std::string, Numbers>;

  // The series of `all`, named `name`, that belong to a child: all of its copies.
  static std::vector<Numbers> Companion(const Companions& all, const std::string& name,
                                        const std::string& key, const std::string& stem) {
    const auto found = all.find(name + key.substr(stem.size()));
    if (found == all.end()) return {};
    return {found->second};
  }

  void FillHistogram(const Alternative& one, Selection::Entry& entry) {
    const std::string stem = one.name + "_bucket";
    const Companions counts = ByChild(Series(one.name + "_count", one), mapping_.same);
    const Companions sums = ByChild(Series(one.name + "_sum", one), mapping_.same);
    for (const auto& [key, series] : ByChild(Series(stem, one), bucket_labels_)) {
      std::vector<std::pair<double, std::uint32_t>> by_edge;
      for (const std::uint32_t number : series) {
        double edge = 0;
        if (ParseSampleValue(layout_.LabelOf(number, "le"), edge) != nullptr) continue;
        if (!std::isnan(edge)) by_edge.emplace_back(edge, number);
      }
      std::sort(by_edge.begin(), by_edge.end());
      // Copies of one bucket together.
      std::vector<std::pair<double, Numbers>> buckets;
      for (const auto& [edge, number] : by_edge) {
        if (buckets.empty() || !SameEdge(buckets.back().first, edge)) {
          buckets.emplace_back(edge, Numbers());
        }
        buckets.back().second.push_back(number);
      }
      entry.children.push_back(HistogramChild(key, std::move(buckets)));
      AddSlot(Companion(counts, one.name + "_count", key, stem));
      AddSlot(Companion(sums, one.name + "_sum", key, stem));
    }
  }

  // Its edges and its slots, without those of _count and _sum.
  Selection::Child HistogramChild(const std::string& key,
                                  std::vector<std::pair<double, Numbers>> buckets) {
    Selection::Child child{.key = key, .edges = {}, .first = selection_.slots_.size()};
    child.has_infinity = !buckets.empty() && std::isinf(buckets.back().first);
    std::vector<Numbers> infinity;
    for (auto& [edge, copies] : buckets) {
      if (std::isinf(edge)) {
        if (edge > 0) infinity = {std::move(copies)};
        continue;
      }
      child.edges.push_back(edge);
      AddSlot({std::move(copies)});
    }
    AddSlot(std::move(infinity));
    return child;
  }

  const Mapping& mapping_;
  const SourceFilter& filter_;
  const PageLayout& layout_;
  Selection& selection_;
  std::vector<std::string> bucket_labels_;
};

Selection::Selection(const Mapping& mapping, const SourceFilter& filter, const PageLayout& layout,
                     const Selection* before) {
  SelectionMaker maker(mapping, filter, layout, *this);
  for (std::size_t i = 0; i < mapping.signals.size(); ++i) {
    const bool known = before != nullptr && i < before->entries_.size();
    entries_.push_back(maker.Make(mapping.signals[i], known ? &before->entries_[i] : nullptr));
  }
}

std::size_t Selection::Numbers(const SignalMapping& signal, const Child& child) {
  if (TraitsOf(signal.signal).kind == SignalKind::kHistogram) return child.edges.size() + 3;
  return signal.derivation == Derivation::kPlain ? 1 : 2;
}

std::vector<double> Selection::Values(const Page& page) const {
  std::vector<double> values;
  values.reserve(slots_.size());
  for (const Slot& slot : slots_) {
    double sum = slot.groups.empty() ? kNone : 0;
    for (const std::vector<std::uint32_t>& copies : slot.groups) {
      double largest = kNone;
      for (const std::uint32_t series : copies) {
        const double value = page.values[series];
        // An infinite count or gauge says no more than none.
        if (std::isfinite(value) && !(value <= largest)) largest = value;
      }
      sum += largest;
    }
    values.push_back(sum);
  }
  return values;
}

}  // namespace plimsoll
