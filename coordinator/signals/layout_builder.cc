#include "coordinator/signals/layout_builder.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr std::size_t kShownBytes = 200;

void Append(std::string& key, std::uint32_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

}  // namespace

LayoutBuilder::LayoutBuilder() : layout_(std::make_shared<PageLayout>()) {}

std::uint32_t LayoutBuilder::Number(std::string_view text, Numbers& numbers,
                                    std::vector<std::string>& texts) {
  const auto found = numbers.find(text);
  if (found != numbers.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(texts.size());
  numbers.emplace(text, number);
  texts.emplace_back(text);
  return number;
}

std::uint32_t LayoutBuilder::LabelText(std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos) {
    return Number(quoted, labels_, layout_->labels_);
  }
  return Number(Unescaped(quoted), labels_, layout_->labels_);
}

Status LayoutBuilder::Add(std::string_view name, const std::vector<SeriesPart>& labels,
                          std::string_view before, std::uint32_t line) {
  PageLayout& layout = *layout_;
  const auto series = static_cast<std::uint32_t>(layout.series_.size());
  PageLayout::SeriesEntry entry;
  const std::size_t names_before = layout.names_.size();
  entry.name = name.find('\\') == std::string_view::npos
                   ? Number(name, names_, layout.names_)
                   : Number(Unescaped(name), names_, layout.names_);
  entry.labels_begin = static_cast<std::uint32_t>(layout.label_entries_.size());
  for (const SeriesPart& part : labels) {
    if (part.value.empty()) continue;  // The same as no label.
    layout.label_entries_.push_back({LabelText(part.name), LabelText(part.value)});
  }
  entry.labels_end = static_cast<std::uint32_t>(layout.label_entries_.size());
  const auto begin = layout.label_entries_.begin() + entry.labels_begin;
  const auto by_name = [&layout](const auto& a, const auto& b) {
    return layout.labels_[a.name] < layout.labels_[b.name];
  };
  std::sort(begin, layout.label_entries_.end(), by_name);
  const auto twice =
      std::adjacent_find(begin, layout.label_entries_.end(),
                         [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != layout.label_entries_.end()) {
    return absl::InvalidArgumentError(
        fmt::format("has the label {} twice", Printable(layout.labels_[twice->name], kShownBytes)));
  }
  layout.series_.push_back(entry);
  layout.chunks_.push_back({layout.skeleton_.size(), before.size(), line});
  layout.skeleton_.append(before);
  const std::string& kept = layout.names_[entry.name];
  if (layout.names_.size() > names_before) layout.by_name_[kept] = {};
  layout.by_name_[kept].push_back(series);
  return CheckNew(series, line);
}

// Refuses a series that is on the page already.
Status LayoutBuilder::CheckNew(std::uint32_t series, std::uint32_t line) {
  const PageLayout::SeriesEntry& entry = layout_->series_[series];
  std::string key;
  Append(key, entry.name);
  for (std::size_t i = entry.labels_begin; i < entry.labels_end; ++i) {
    Append(key, layout_->label_entries_[i].name);
    Append(key, layout_->label_entries_[i].value);
  }
  const auto [found, is_new] = lines_.emplace(std::move(key), line);
  if (is_new) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("has {}, which line {} has too: are two exporters' pages in one?",
                  Printable(layout_->TextOf(series), kShownBytes), found->second));
}

void LayoutBuilder::SetType(std::string_view family, FamilyType type) {
  layout_->types_.insert_or_assign(std::string(family), type);
}

std::size_t LayoutBuilder::size() const {
  return layout_->series_.size();
}

std::shared_ptr<const PageLayout> LayoutBuilder::Finish(std::string_view tail) {
  layout_->tail_begin_ = layout_->skeleton_.size();
  layout_->skeleton_.append(tail);
  return std::move(layout_);
}

}  // namespace plimsoll
