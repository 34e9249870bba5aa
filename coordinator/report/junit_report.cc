#include "coordinator/report/junit_report.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

enum class CaseKind : std::uint8_t { kPassed, kFailure, kError, kSkipped };

struct Case {
  std::string group;  // Its class.
  std::string name;
  CaseKind kind = CaseKind::kPassed;
  std::string type;  // Of a failure or an error.
  std::string text;
};

// What a verdict is where it decides, and where it does not.
void Mark(Verdict verdict, bool decides, const std::string& reason, Case& into) {
  into.text = reason;
  if (verdict == Verdict::kPass) return;
  into.type = Name(verdict);
  if (!decides) {
    into.kind = CaseKind::kSkipped;
    into.text = fmt::format("{}: {}", Name(verdict), reason);
  } else {
    into.kind = verdict == Verdict::kNoData ? CaseKind::kError : CaseKind::kFailure;
  }
}

bool SameSessions(const StepSummary& a, const StepSummary& b) {
  return a.origin.ladder == b.origin.ladder && a.plan.sessions == b.plan.sessions;
}

// Whether the run's exit code is about the step: of the mix, up to the target, and its last word.
bool Decides(const ReportModel& model, std::size_t index) {
  const StepSummary& step = model.steps[index].summary;
  if (step.origin.ladder != kMixLadder) return false;
  const std::uint32_t target = model.target.value_or(model.steps.front().summary.plan.sessions);
  if (step.plan.sessions > target) return false;
  return std::none_of(
      model.steps.begin() + static_cast<std::ptrdiff_t>(index) + 1, model.steps.end(),
      [&step](const ReportedStep& later) { return SameSessions(step, later.summary); });
}

std::string StepName(const StepSummary& step) {
  return fmt::format(
      "step {}: {} sessions{}{}", step.plan.step + 1, step.plan.sessions,
      step.origin.ladder == kMixLadder ? "" : " " + step.origin.ladder,
      step.origin.kind == StepKind::kPlanned ? "" : fmt::format(" ({})", Name(step.origin.kind)));
}

std::string ReasonsOf(const StepVerdict& verdict) {
  std::string text;
  for (const std::string& reason : verdict.reasons) text += (text.empty() ? "" : "; ") + reason;
  return text.empty() ? "no reason given" : text;
}

void AddStep(const ReportModel& model, std::size_t index, std::vector<Case>& cases) {
  const StepSummary& step = model.steps[index].summary;
  const bool decides = Decides(model, index);
  const std::string group = model.run_name + "." + StepName(step);
  Case whole{.group = group, .name = "step"};
  Mark(step.verdict.is_void ? Verdict::kNoData : step.verdict.verdict, decides,
       ReasonsOf(step.verdict), whole);
  cases.push_back(std::move(whole));
  for (std::size_t i = 0; i < step.verdict.parts.size(); ++i) {
    const PartVerdict& part = step.verdict.parts[i];
    Case one{.group = group, .name = LabelOf(step.verdict, i)};
    Mark(part.verdict, decides, part.reason, one);
    cases.push_back(std::move(one));
  }
}

Case VerdictCase(const ReportModel& model) {
  Case verdict{.group = model.run_name,
               .name = model.target ? fmt::format("target: {} sessions hold", *model.target)
                                    : std::string("target: the first step holds")};
  constexpr int kVerdictsMax = 3;  // Of design section 10: the codes that a verdict gives.
  if (!model.exit_code || *model.exit_code > kVerdictsMax) {
    verdict.kind = CaseKind::kError;
    verdict.type = model.exit_code ? fmt::format("exit {}", *model.exit_code) : "not ended";
    verdict.text = !model.stopped_because.empty() ? model.stopped_because
                   : model.exit_code              ? "the run did not come to a verdict"
                                     : "the run has not ended, or its coordinator died";
    return verdict;
  }
  Mark(model.verdict.verdict, true, model.verdict.reason, verdict);
  return verdict;
}

// The last start of each hook: a rollback that came at its third try is one that came.
void AddHooks(const ReportModel& model, std::vector<Case>& cases) {
  for (std::size_t i = 0; i < model.hooks.size(); ++i) {
    const HookOutcome& hook = model.hooks[i];
    if (i + 1 < model.hooks.size() && model.hooks[i + 1].phase == hook.phase) continue;
    Case one{.group = model.run_name + ".hooks", .name = Name(hook.phase)};
    one.text = HookSentence(hook);
    if (!hook.ok()) {
      one.kind = CaseKind::kError;
      one.type = Name(hook.state);
    }
    cases.push_back(std::move(one));
  }
}

std::string_view Element(CaseKind kind) {
  return kind == CaseKind::kFailure ? "failure" : kind == CaseKind::kError ? "error" : "skipped";
}

std::string CaseText(const Case& one) {
  const std::string head = fmt::format("    <testcase classname=\"{}\" name=\"{}\"",
                                       XmlEscaped(one.group), XmlEscaped(one.name));
  if (one.kind == CaseKind::kPassed) {
    return fmt::format("{}>\n      <system-out>{}</system-out>\n    </testcase>\n", head,
                       XmlEscaped(one.text));
  }
  const std::string text = XmlEscaped(one.text);
  if (one.kind == CaseKind::kSkipped) {
    return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", head, text);
  }
  return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\">{}</{}>\n    </testcase>\n", head,
                     Element(one.kind), XmlEscaped(one.type), text, text, Element(one.kind));
}

std::string Property(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  return fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, XmlEscaped(value));
}

// "2026-01-01 22:00:00 UTC" as the form takes it; empty if it is none.
std::string Timestamp(const std::string& started) {
  constexpr std::size_t kBytes = sizeof("2026-01-01 22:00:00") - 1;
  if (started.size() < kBytes || started[10] != ' ') return {};
  std::string text = started.substr(0, kBytes);
  text[10] = 'T';
  return fmt::format(" timestamp=\"{}\"", XmlEscaped(text));
}

// What XML 1.0 allows of a well-formed character.
bool Allowed(std::string_view character) {
  if (character.size() == 1) {
    const auto c = static_cast<unsigned char>(character.front());
    return c >= 0x20 || c == '\t' || c == '\n' || c == '\r';
  }
  return character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
}

}  // namespace

std::string XmlEscaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = std::max<std::size_t>(Utf8CharacterBytes(text), 1);
    const std::string_view character = text.substr(0, bytes);
    text.remove_prefix(bytes);
    const bool broken = bytes == 1 && static_cast<unsigned char>(character.front()) >= 0x80;
    if (broken || !Allowed(character)) {
      escaped += kReplacement;
    } else if (character == "&") {
      escaped += "&amp;";
    } else if (character == "<") {
      escaped += "&lt;";
    } else if (character == ">") {
      escaped += "&gt;";
    } else if (character == "\"") {
      escaped += "&quot;";
    } else if (character == "'") {
      escaped += "&apos;";
    } else if (character == "\n" || character == "\r" || character == "\t") {
      // As they are, a reader of attributes would make spaces of them.
      escaped += fmt::format("&#{};", static_cast<int>(character.front()));
    } else {
      escaped += character;
    }
  }
  return escaped;
}

std::string JunitReport(const ReportModel& model) {
  std::vector<Case> cases = {VerdictCase(model)};
  for (std::size_t i = 0; i < model.steps.size(); ++i) AddStep(model, i, cases);
  AddHooks(model, cases);
  const auto count = [&cases](CaseKind kind) {
    return std::count_if(cases.begin(), cases.end(),
                         [kind](const Case& one) { return one.kind == kind; });
  };
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", cases.size(),
                  count(CaseKind::kFailure), count(CaseKind::kError), count(CaseKind::kSkipped));
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n  <testsuite name=\"{}\" "
      "{}{}>\n    <properties>\n",
      counts, XmlEscaped(model.run_name), counts, Timestamp(model.started_at));
  text += Property("run_id", model.run_id);
  text += Property("target_url", model.target_url);
  text += Property("model", model.model);
  text += Property("capacity", model.capacity.sentence);
  text += "    </properties>\n";
  for (const Case& one : cases) text += CaseText(one);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace plimsoll
