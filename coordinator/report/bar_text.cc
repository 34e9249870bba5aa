#include "coordinator/report/bar_text.h"

#include <fmt/format.h>

#include "coordinator/judge/metrics.h"

namespace plimsoll {
namespace {

// " (+10% of 3 baseline runs' 5.3 s, 5.6 to 6.1 s)"; empty of a limit that was written down.
std::string OriginText(const Limit& limit) {
  if (!limit.origin) return "";
  const LimitOrigin& origin = *limit.origin;
  const auto text = [&limit](double value) {
    return LimitText({.metric = limit.metric, .value = value, .tier = {}, .origin = limit.origin});
  };
  std::string from = fmt::format(" ({:+.3g}% of ", (origin.factor - 1) * 100);
  from += origin.runs.size() == 1 ? std::string("one baseline run's ")
                                  : fmt::format("{} baseline runs' ", origin.runs.size());
  from += text(origin.baseline);
  if (!origin.low || !origin.high) return from + ", how windows differ is unknown)";
  return from + fmt::format(", {} to {})", text(*origin.low), text(*origin.high));
}

}  // namespace

std::string BarSentence(const Bar& bar) {
  std::string text;
  for (const Limit& limit : bar.limits) {
    if (!text.empty()) text += " · ";
    text += fmt::format("{} {} {}{}", PartName(limit),
                        TraitsOf(limit.metric).at_most ? "<=" : ">=", LimitText(limit),
                        OriginText(limit));
  }
  if (bar.evals.pass_rate) {
    text += fmt::format("{}evals >= {:.4g}% right", text.empty() ? "" : " · ",
                        *bar.evals.pass_rate * 100);
  }
  if (bar.evals.drop) {
    text += fmt::format("{}evals at most {:.4g} points below unloaded", text.empty() ? "" : " · ",
                        *bar.evals.drop * 100);
  }
  return text;
}

}  // namespace plimsoll
