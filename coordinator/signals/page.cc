#include "coordinator/signals/page.h"

#include <algorithm>
#include <cmath>

namespace plimsoll {

std::vector<PageLayout::Label> PageLayout::LabelsOf(std::size_t series) const {
  std::vector<Label> labels;
  const SeriesEntry& entry = series_[series];
  for (std::size_t i = entry.labels_begin; i < entry.labels_end; ++i) {
    labels.push_back({labels_[label_entries_[i].name], labels_[label_entries_[i].value]});
  }
  return labels;
}

std::string_view PageLayout::LabelOf(std::size_t series, std::string_view name) const {
  const SeriesEntry& entry = series_[series];
  for (std::size_t i = entry.labels_begin; i < entry.labels_end; ++i) {
    if (labels_[label_entries_[i].name] == name) return labels_[label_entries_[i].value];
  }
  return {};
}

std::string PageLayout::TextOf(std::size_t series, std::span<const std::string> without) const {
  std::string text(NameOf(series));
  char next = '{';
  for (const Label& label : LabelsOf(series)) {
    if (std::find(without.begin(), without.end(), label.name) != without.end()) continue;
    text += next;
    next = ',';
    text.append(label.name).append("=\"");
    for (const char c : label.value) {
      if (c == '"' || c == '\\') text += '\\';
      if (c == '\n') {
        text += "\\n";
      } else {
        text += c;
      }
    }
    text += '"';
  }
  if (next == ',') text += '}';
  return text;
}

std::span<const std::uint32_t> PageLayout::Named(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return {};
  return found->second;
}

FamilyType PageLayout::TypeOf(std::string_view family) const {
  const auto found = types_.find(family);
  return found == types_.end() ? FamilyType::kUnknown : found->second;
}

std::optional<double> Page::Single(std::string_view name) const {
  const std::span<const std::uint32_t> series = layout->Named(name);
  if (series.size() != 1 || std::isnan(values[series[0]])) return std::nullopt;
  return values[series[0]];
}

}  // namespace plimsoll
