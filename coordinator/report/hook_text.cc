#include "coordinator/report/hook_text.h"

#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/report/run_report.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll {
namespace {

constexpr std::size_t kLinesShown = 8;
constexpr std::size_t kLineBytesShown = 400;

// The last lines of what a hook wrote, white space at the end left out.
std::string LastLines(std::string_view output) {
  std::vector<std::string_view> lines;
  while (!output.empty() && (output.back() == '\n' || output.back() == '\r')) {
    output.remove_suffix(1);
  }
  while (!output.empty() && lines.size() < kLinesShown) {
    const std::size_t at = output.rfind('\n');
    const std::size_t from = at == std::string_view::npos ? 0 : at + 1;
    lines.push_back(output.substr(from));
    output = output.substr(0, from == 0 ? 0 : from - 1);
  }
  std::string text;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    text += fmt::format("      {}\n", Printable(*line, kLineBytesShown));
  }
  return text;
}

}  // namespace

std::string RollbackShout(const ReportModel& model) {
  if (model.rollback != RollbackState::kFailed) return {};
  return Wrap("ROLLBACK FAILED: ",
              fmt::format("the deployment may still be what the run left; try again with "
                          "plimsoll recover {}",
                          model.run_id),
              kReportColumns);
}

std::string HookText(const ReportModel& model) {
  if (model.hooks.empty()) return {};
  std::string text = "\nhooks\n";
  for (const HookOutcome& hook : model.hooks) {
    text += fmt::format("  {}  {}\n", WallText(hook.started), HookSentence(hook));
    if (!hook.ok()) text += LastLines(hook.output);
  }
  return text;
}

}  // namespace plimsoll
