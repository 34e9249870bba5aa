#include "coordinator/report/markdown_report.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/judge/server_words.h"
#include "coordinator/report/bar_text.h"
#include "coordinator/report/cost_text.h"

namespace plimsoll {
namespace {

constexpr int kVerdictsMax = 3;  // The exit codes that a verdict gives (design section 10).

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string Row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += fmt::format(" {} |", MarkdownEscaped(cell));
  return text + "\n";
}

std::string Head(const std::vector<std::string>& cells) {
  std::string text = Row(cells) + "|";
  for (std::size_t i = 0; i < cells.size(); ++i) text += " --- |";
  return text + "\n";
}

std::string HowItEnded(const ReportModel& model) {
  if (model.rollback == RollbackState::kFailed) {
    return fmt::format("## ROLLBACK FAILED: {}\n\n`plimsoll recover {}` tries it again.\n",
                       MarkdownEscaped(model.stopped_because), MarkdownEscaped(model.run_id));
  }
  if (!model.exit_code) {
    return fmt::format("## RUNNING: {}\n", MarkdownEscaped(model.run_name));
  }
  if (*model.exit_code > kVerdictsMax || model.steps.empty()) {
    constexpr int kStopped = 5;
    return fmt::format(
        "## {}: {}\n", *model.exit_code == kStopped ? "STOPPED" : "COULD NOT RUN",
        MarkdownEscaped(model.stopped_because.empty() ? "no reason given" : model.stopped_because));
  }
  return fmt::format("## {}: {}\n", Upper(Name(model.verdict.verdict)),
                     MarkdownEscaped(model.verdict.reason));
}

// The worst finding decides: preflight is blocked, or passed with warnings.
std::vector<std::string> PreflightRow(const PreflightSummary& preflight) {
  std::size_t warnings = 0;
  for (const Finding& finding : preflight.findings) {
    if (finding.level == FindingLevel::kBlocking) return {"preflight", "blocked", finding.text};
    if (finding.level == FindingLevel::kWarning) ++warnings;
  }
  return {"preflight", "ok",
          fmt::format("{} findings, {} of them warnings", preflight.findings.size(), warnings)};
}

std::string HookRows(const ReportModel& model, bool before) {
  std::string text;
  for (const HookOutcome& hook : model.hooks) {
    if ((hook.phase == HookPhase::kRollout) != before) continue;
    text += Row({Name(hook.phase), Name(hook.state), HookSentence(hook)});
  }
  return text;
}

std::string Phases(const ReportModel& model) {
  std::string text = Head({"phase", "outcome", ""}) + HookRows(model, true);
  if (model.preflight) text += Row(PreflightRow(*model.preflight));
  for (const ReportedStep& step : model.steps) {
    const StepSummary& s = step.summary;
    text += Row(
        {fmt::format(
             "{} sessions{}{}", s.plan.sessions,
             s.origin.ladder == kMixLadder ? "" : " " + s.origin.ladder,
             s.origin.kind == StepKind::kPlanned ? "" : fmt::format(" ({})", Name(s.origin.kind))),
         s.broken_off_after  ? "interrupted"
         : s.verdict.is_void ? "no data"
                             : Name(s.verdict.verdict),
         s.verdict.reasons.empty() ? "" : FirstReason(s.verdict)});
  }
  if (model.drain)
    text += Row({"drain", std::string(Name(model.drain->state)), Words(*model.drain)});
  text += HookRows(model, false);
  if (model.exit_code) {
    text += Row({"end", fmt::format("exit {}", *model.exit_code), model.stopped_because});
  }
  return text;
}

std::string Shown(const std::optional<double>& value) {
  return value ? ThreeDigits(*value) : "–";
}

std::string Shown(const ShownPercentile& percentile) {
  return percentile.infinite ? "infinite" : Shown(percentile.value);
}

std::string Steps(const ReportModel& model) {
  std::string text = Head({"sessions", "verdict", "TTFT P50 s", "TTFT P90 s", "n", "tok/s P90",
                           "errors %", "requests in flight"});
  for (const ReportedStep& step : model.steps) {
    const StepSummary& s = step.summary;
    text +=
        Row({fmt::format("{}", s.plan.sessions),
             s.verdict.is_void ? "no data" : Name(s.verdict.verdict), Shown(s.ttft.p50_s),
             Shown(s.ttft.p90_s), fmt::format("{}", s.ttft.n), Shown(s.rate.reached_by_90_tok_s),
             s.errors.error_share ? fmt::format("{:.2f}", *s.errors.error_share * 100) : "–",
             HasTallies(s) ? fmt::format("{:.1f}", s.requests_in_flight_mean) : "–"});
  }
  return text;
}

// What decided, limit by limit.
std::string Parts(const ReportModel& model) {
  std::string text;
  for (const ReportedStep& step : model.steps) {
    const StepSummary& s = step.summary;
    if (s.verdict.parts.empty() && s.suspicions.empty()) continue;
    text += fmt::format("\n**{} sessions**\n\n", s.plan.sessions);
    for (std::size_t i = 0; i < s.verdict.parts.size() && !s.verdict.is_void; ++i) {
      const PartVerdict& part = s.verdict.parts[i];
      text += fmt::format("- {}: {}: {}\n", MarkdownEscaped(LabelOf(s.verdict, i)),
                          Name(part.verdict), MarkdownEscaped(part.reason));
    }
    for (const Suspicion& suspicion : s.suspicions) {
      text += fmt::format("- suspicion: {}\n", MarkdownEscaped(suspicion.text));
    }
  }
  if (text.empty()) return text;
  return "\n<details><summary>What decided each step</summary>\n" + text + "\n</details>\n";
}

}  // namespace

std::string MarkdownEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '@':  // Nobody is called by a name in a report.
        escaped += "&#64;";
        break;
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
      case '#':
      case '|':
      case '~':
      case '!':
        escaped += '\\';
        escaped += c;
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string MarkdownReport(const ReportModel& model) {
  std::string text = HowItEnded(model) + "\n";
  if (!model.steps.empty()) {
    text += fmt::format("- **capacity**{} {}\n", model.exit_code ? "" : " so far",
                        MarkdownEscaped(model.capacity.sentence));
    if (model.exit_code) {
      text +=
          fmt::format("- **cost** {}\n", MarkdownEscaped(CostSentence(model.cost, model.capacity)));
    }
  }
  text += fmt::format("- **run** {} ({})\n", MarkdownEscaped(model.run_name),
                      MarkdownEscaped(model.run_id));
  text += fmt::format("- **against** {} at {}\n", MarkdownEscaped(model.model),
                      MarkdownEscaped(model.target_url));
  text += fmt::format("- **bar** {}\n", MarkdownEscaped(BarSentence(model.bar)));
  if (model.target) text += fmt::format("- **target** {} sessions\n", *model.target);
  text += "\n" + Phases(model);
  if (!model.steps.empty()) text += "\n" + Steps(model) + Parts(model);
  return text;
}

}  // namespace plimsoll
