#include <algorithm>

#include "common/base/text.h"
#include "coordinator/killswitch/kill_switch.h"
#include "coordinator/killswitch/kill_words.h"
#include "fmt/format.h"

namespace plimsoll {
namespace {

// Of the target's last page: empty if the rule can read it, else why not.
std::string WhyUnread(const KillRule& rule, const TargetSeries& target) {
  if (target.samples.empty()) return "it has not answered yet";
  const TargetSample& last = target.samples.back();
  if (!last.readable()) return Printable(MessageOf(last.status), 160);
  const Signal signal = SignalOfRule(rule.signal);
  const std::vector<SignalMapping>& signals = target.mapping->signals;
  const auto found = std::find_if(signals.begin(), signals.end(),
                                  [signal](const auto& one) { return one.signal == signal; });
  const Missing missing =
      last.selection->entries()[static_cast<std::size_t>(found - signals.begin())].missing;
  if (missing == Missing::kNot || (missing == Missing::kNoSeries && found->lazy)) return {};
  return std::string(MissingWords(missing));
}

Finding FindingOf(const KillRule& rule, const SignalHistory& pages) {
  std::vector<std::string> read;
  std::vector<std::string> unread;
  for (const TargetSeries& target : pages.targets) {
    if (!Watches(rule, target)) continue;
    const std::string why = WhyUnread(rule, target);
    const std::string name = Printable(target.name);
    why.empty() ? read.push_back(name) : unread.push_back(fmt::format("{} ({})", name, why));
  }
  const std::string words = "kill switch: " + KillRuleWords(rule);
  if (read.empty() && unread.empty()) {
    return {FindingLevel::kWarning,
            fmt::format("{}: no page of {} has it, so it never trips; name one under {}, or take "
                        "the rule out",
                        words, rule.production ? "production" : "the candidate",
                        rule.production ? "kill_switch.production" : "signals")};
  }
  if (!unread.empty()) {
    const std::string elsewhere =
        read.empty() ? "" : fmt::format("watched on {}; ", fmt::join(read, ", "));
    return {
        FindingLevel::kWarning,
        fmt::format("{}: {}cannot be read on {}, and cannot trip there; make that page readable",
                    words, elsewhere, fmt::join(unread, ", "))};
  }
  return {FindingLevel::kOk, fmt::format("{}: watched on {}", words, fmt::join(read, ", "))};
}

}  // namespace

std::vector<Finding> KillSwitchFindings(const KillSwitchSpec& spec, const SignalHistory& pages) {
  std::vector<Finding> findings;
  for (const KillRule& rule : spec.rules) findings.push_back(FindingOf(rule, pages));
  return findings;
}

}  // namespace plimsoll
