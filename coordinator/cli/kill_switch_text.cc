#include "coordinator/cli/kill_switch_text.h"

#include "common/base/text.h"
#include "coordinator/killswitch/kill_words.h"
#include "coordinator/report/text_layout.h"
#include "fmt/format.h"

namespace plimsoll {

std::string KillSwitchText(const KillSwitchSpec& spec) {
  std::string text = LabelledLine(
      "kill", "the run ends at once, its calls hung up, by `plimsoll stop --abort` or when");
  for (const KillRule& rule : spec.rules) text += LabelledLine("", KillRuleWords(rule));
  if (!spec.file.empty()) text += LabelledLine("", fmt::format("the file {} exists", spec.file));
  if (spec.rules.empty()) return text;
  return text + LabelledLine("", spec.unread
                                     ? fmt::format("a page of these rules cannot be read for {}",
                                                   ShortTime(*spec.unread))
                                     : std::string("each page by itself; what cannot be read trips "
                                                   "nothing (unread: {for: 30s} would)"));
}

}  // namespace plimsoll
