// One page of metrics as values. Pure.
//
// A target's page hardly changes its series from one scrape to the next, only their values. So the
// series (names, labels, their order) are a PageLayout that pages share, and a Page itself is a
// pointer to it and one number a series.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace plimsoll {

// As the page's TYPE lines say. Servers err here (a counter typed gauge, and the reverse), so
// nothing is decided by it; a name with its suffix decides.
enum class FamilyType : std::uint8_t {
  kUnknown,
  kCounter,
  kGauge,
  kHistogram,
  kSummary,
  kInfo,
  kStateSet,
  kGaugeHistogram,
};

// The series of a page, immutable and shared. Series are numbered from 0 in the page's order.
class PageLayout {
 public:
  struct Label {
    std::string_view name;
    std::string_view value;
  };

  PageLayout() = default;
  PageLayout(const PageLayout&) = delete;
  PageLayout& operator=(const PageLayout&) = delete;

  std::size_t size() const { return series_.size(); }
  // With its suffix, as on the page: "x_bucket", "x_total".
  std::string_view NameOf(std::size_t series) const { return names_[series_[series].name]; }
  // Sorted by name; no name twice.
  std::vector<Label> LabelsOf(std::size_t series) const;
  // Empty if the series has no such label: both are the same in this format.
  std::string_view LabelOf(std::size_t series, std::string_view name) const;
  // "name{a="1",b="2"}" with escapes, labels sorted; those in `without` are left out.
  std::string TextOf(std::size_t series, std::span<const std::string> without = {}) const;
  // Numbers of the series with exactly this name, in the page's order. "a" never finds "a_by_b".
  std::span<const std::uint32_t> Named(std::string_view name) const;
  // Of the family that a TYPE line names; kUnknown without one.
  FamilyType TypeOf(std::string_view family) const;

 private:
  friend class LayoutBuilder;
  friend class PageParser;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  struct SeriesEntry {
    std::uint32_t name = 0;
    std::uint32_t labels_begin = 0;
    std::uint32_t labels_end = 0;
  };
  struct LabelEntry {
    std::uint32_t name = 0;
    std::uint32_t value = 0;
  };
  // What stands on the page before a series' value: comments above it, name, labels, blanks.
  struct Chunk {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::uint32_t line = 0;  // Of the value, from 1.
  };

  std::vector<std::string> names_;   // Of series, each once.
  std::vector<std::string> labels_;  // Names and values of labels, each once.
  std::vector<LabelEntry> label_entries_;
  std::vector<SeriesEntry> series_;
  std::unordered_map<std::string, std::vector<std::uint32_t>, Hash, std::equal_to<>> by_name_;
  std::unordered_map<std::string, FamilyType, Hash, std::equal_to<>> types_;
  std::string skeleton_;        // The page without values and what follows them.
  std::vector<Chunk> chunks_;   // One a series.
  std::size_t tail_begin_ = 0;  // In skeleton_: what stands behind the last sample's line.
};

inline constexpr std::int64_t kNoTimestamp = std::numeric_limits<std::int64_t>::min();

struct Page {
  std::shared_ptr<const PageLayout> layout;  // Never null in a page that was read.
  // One a series. NaN: the server has no value (a summary of nothing, 0/0): missing, never 0.
  std::vector<double> values;
  // Milliseconds since 1970, one a series, kNoTimestamp where there is none; empty: nowhere.
  std::vector<std::int64_t> timestamps_ms;

  // The value of the only series with this name; nothing without one, or with several, or NaN.
  std::optional<double> Single(std::string_view name) const;
};

}  // namespace plimsoll
