// Builds a PageLayout series by series. Pure; the slow half of reading a page.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/status.h"
#include "coordinator/signals/page.h"
#include "coordinator/signals/series_text.h"

namespace plimsoll {

class LayoutBuilder {
 public:
  LayoutBuilder();

  // `before` is all of the page between the last sample's line and this value. InvalidArgument,
  // without the line: a label twice, or a series that was there before.
  Status Add(std::string_view name, const std::vector<SeriesPart>& labels, std::string_view before,
             std::uint32_t line);
  void SetType(std::string_view family, FamilyType type);
  std::size_t size() const;
  // `tail` is what follows the last sample's line. The builder is spent.
  std::shared_ptr<const PageLayout> Finish(std::string_view tail);

 private:
  using Numbers = std::unordered_map<std::string, std::uint32_t, PageLayout::Hash, std::equal_to<>>;
  static std::uint32_t Number(std::string_view text, Numbers& numbers,
                              std::vector<std::string>& texts);
  std::uint32_t LabelText(std::string_view quoted);
  Status CheckNew(std::uint32_t series, std::uint32_t line);

  std::shared_ptr<PageLayout> layout_;
  Numbers names_;
  Numbers labels_;
  std::unordered_map<std::string, std::uint32_t> lines_;  // By the series' numbers.
};

}  // namespace plimsoll
