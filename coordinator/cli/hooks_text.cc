#include "coordinator/cli/hooks_text.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/planning/planner.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/run/window_budget.h"

namespace plimsoll {
namespace {

std::string HookLine(HookPhase phase, const HookSpec& hook, std::string_view when) {
  if (hook.empty()) return {};
  return LabelledLine(
      Name(phase),
      fmt::format("{}{}; {}, {}{}", hook.shell ? "sh -c " : "",
                  Printable(fmt::format("{}", fmt::join(hook.argv, " "))), when,
                  "deadline " + ShortTime(hook.deadline),
                  hook.tries > 1 ? fmt::format(", at most {} tries", hook.tries) : ""));
}

}  // namespace

std::string HooksText(const Scenario& scenario) {
  const RunHooks& hooks = scenario.hooks;
  std::string text =
      HookLine(HookPhase::kRollout, hooks.rollout, "before anything is sent") +
      HookLine(HookPhase::kPromote, hooks.promote, "after a confident pass, with run --promote") +
      HookLine(HookPhase::kRollBack, hooks.rollback, "however the run ends");
  if (!scenario.window.length) return text;
  const RunSettings settings = MakeRunSettings(scenario, !hooks.promote.empty());
  text += LabelledLine(
      "window",
      fmt::format("{}: measured for at most {}, the last {} are reserved for the end ({} of them "
                  "for the rollback); a single step needs {} in all",
                  ShortTime(*scenario.window.length), ShortTime(MeasuringTime(settings)),
                  ShortTime(EndReserve(settings)),
                  ShortTime(HookTime(settings, HookPhase::kRollBack)),
                  ShortTime(LeastWindow(settings))));
  if (const std::string why = WhyWindowIsTooShort(settings); !why.empty()) {
    text += LabelledLine("blocks", why + "; `plimsoll run` would end with 4");
  }
  return text;
}

}  // namespace plimsoll
