// A page of metrics line by line: what PageParser does where it cannot go by the last page. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "coordinator/signals/exposition.h"
#include "coordinator/signals/layout_builder.h"
#include "coordinator/signals/sample_tail.h"

namespace plimsoll {

class PageLines {
 public:
  // `body` outlives this.
  PageLines(std::string_view body, PageSyntax syntax, const PageLimits& limits);

  // Once. Errors as PageParser::Parse has them.
  Status Read();
  // Values and timestamps, one a series of the layout.
  const std::vector<SampleTail>& tails() const { return tails_; }
  // Once, after Read.
  std::shared_ptr<const PageLayout> TakeLayout();

 private:
  Status Line(std::string_view line);
  Status Sample(std::string_view line);
  Status Comment(std::string_view line);
  // "TYPE name counter", "HELP name …", "UNIT name …", behind "# ".
  Status Descriptor(std::string_view word, std::string_view rest);
  // OpenMetrics: the family that the samples from here on belong to.
  Status EnterFamily(std::string_view family);
  Status CheckFamilyOf(std::string_view sample);
  Status Wrong(std::string_view what) const;

  std::string_view body_;
  PageSyntax syntax_;
  PageLimits limits_;
  LayoutBuilder builder_;
  std::vector<SampleTail> tails_;
  std::vector<SeriesPart> labels_;
  std::uint32_t line_ = 0;
  std::size_t behind_sample_ = 0;                // Of body_: behind the last sample's line.
  bool ended_ = false;                           // "# EOF" was there.
  std::string family_;                           // The one that is open.
  std::string last_name_;                        // Of a sample.
  std::set<std::string, std::less<>> families_;  // All that were opened.
};

}  // namespace plimsoll
