#include "coordinator/rehearse/judge_row.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/json/json.h"

namespace plimsoll::rehearse {
namespace {

using Json = nlohmann::json;

// Members that may be missing, or of any kind.
const Json& At(const Json& json, const char* key) {
  static const Json none;
  if (!json.is_object()) return none;
  const auto found = json.find(key);
  return found == json.end() ? none : *found;
}
std::string Text(const Json& json) {
  return json.is_string() ? json.get<std::string>() : "";
}
const Json& List(const Json& json) {
  static const Json none = Json::array();
  return json.is_array() ? json : none;
}
std::uint64_t Count(const Json& json) {
  return json.is_number_unsigned() ? json.get<std::uint64_t>() : 0;
}

std::vector<std::string> VerdictsOf(const Json& report) {
  std::vector<std::string> verdicts;
  for (const Json& step : List(At(report, "steps"))) verdicts.push_back(Text(At(step, "verdict")));
  return verdicts;
}

std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

std::string CameTo(std::optional<int> exit_code, const std::vector<std::string>& verdicts,
                   std::string_view drain) {
  std::string words = fmt::format("{}", fmt::join(verdicts, ", then "));
  if (verdicts.empty()) words = exit_code == 4 ? "could not run" : "no step";
  if (!exit_code) words = "killed";
  if (drain == "not back") words += ", not back";
  if (exit_code) words += fmt::format(", exit {}", *exit_code);
  return words;
}

// The machine could not make the load: such a step says nothing about the fault.
bool VoidForTheMachine(const Json& report) {
  for (const Json& step : List(At(report, "steps"))) {
    for (const Json& reason : List(At(step, "reasons"))) {
      const std::string text = Text(reason);
      if (text.find("generator-limited") != std::string::npos ||
          text.find("of the planned load was offered") != std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

bool Met(const Json& report, const std::string& outcome) {
  const Json& steps = List(At(report, "steps"));
  return std::any_of(steps.begin(), steps.end(), [&](const Json& step) {
    return Count(At(At(step, "outcomes"), outcome.c_str())) > 0;
  });
}

std::string PartOf(const Json& report, const std::string& metric) {
  const Json& steps = List(At(report, "steps"));
  if (steps.empty()) return "";
  for (const Json& part : List(At(steps.back(), "parts"))) {
    if (Text(At(part, "metric")) == metric) return Text(At(part, "verdict"));
  }
  return "";
}

// The first thing that is not as it had to be; empty: all is.
std::string Difference(const Row& row, const RowFacts& facts, const Json& report,
                       const std::string& words) {
  const Expected& want = row.expect;
  if (!want.killed && !report.is_object()) return "it wrote no report: " + words.substr(0, 200);
  if (want.killed != !facts.exit_code || (!want.killed && facts.exit_code != want.exit_code)) {
    return "the exit code differs";
  }
  if (!want.killed && VerdictsOf(report) != want.verdicts) return "the steps' verdicts differ";
  for (const auto& [metric, verdict] : want.parts) {
    const std::string got = PartOf(report, metric);
    if (got != verdict) {
      return fmt::format("{} came to {}, not to {}", metric, got.empty() ? "nothing" : got,
                         verdict);
    }
  }
  for (const std::string& outcome : want.outcomes) {
    if (!Met(report, outcome)) return fmt::format("no call ended as {}", outcome);
  }
  const std::string drain = Text(At(At(report, "drain"), "state"));
  if (!want.drain.empty() && drain != want.drain) {
    return fmt::format("the drain came to '{}', not to '{}'", drain, want.drain);
  }
  for (const std::string& said : want.words) {
    if (words.find(said) == std::string::npos) return fmt::format("it never said '{}'", said);
  }
  for (const std::string& unsaid : want.unsaid) {
    if (words.find(unsaid) != std::string::npos) return fmt::format("it said '{}'", unsaid);
  }
  if (!row.rolled_back.empty() && !facts.rolled_back) return "nothing was rolled back";
  if (!facts.left_behind.empty()) {
    return fmt::format("left behind: {}", fmt::join(facts.left_behind, ", "));
  }
  return "";
}

// The run's own reason: of the first step that did not pass, of preflight, or of its end.
std::string OwnReason(const Json& report) {
  for (const Json& step : List(At(report, "steps"))) {
    const Json& reasons = List(At(step, "reasons"));
    if (Text(At(step, "verdict")) != "pass" && !reasons.empty()) return Text(reasons.front());
  }
  const std::string stopped = Text(At(report, "stopped_because"));
  return stopped.empty() ? Text(At(At(report, "verdict"), "reason")) : stopped;
}

std::string WhyAsExpected(const Row& row, const Json& report) {
  std::string why = OwnReason(report);
  const bool quoted =
      row.expect.words.empty() || why.find(row.expect.words.front()) != std::string::npos;
  if (!quoted) why += fmt::format("{}said: {}", why.empty() ? "" : "; ", row.expect.words.front());
  return why;
}

}  // namespace

const char* Name(RowState state) {
  switch (state) {
    case RowState::kAsExpected:
      return "ok";
    case RowState::kMismatch:
      return "WRONG";
    case RowState::kBusy:
      return "busy";
    case RowState::kNotRun:
      return "not run";
  }
  return "";
}

std::string ExpectedWords(const Expected& expected) {
  return CameTo(expected.killed ? std::nullopt : std::optional(expected.exit_code),
                expected.verdicts, expected.drain);
}

RowResult JudgeRow(const Row& row, const RowFacts& facts) {
  RowResult result{.name = row.name,
                   .fault = row.fault,
                   .expected = ExpectedWords(row.expect),
                   .took = facts.took};
  if (!facts.not_run.empty()) {
    result.why = "not run here: " + facts.not_run;
    return result;
  }
  result.state = RowState::kMismatch;
  if (!facts.trouble.empty()) {
    result.got = "did not end";
    result.why = facts.trouble;
    return result;
  }
  const Json report = Json::parse(facts.report, nullptr, false);
  const std::string words = OneLine(facts.words);
  result.got = CameTo(facts.exit_code, VerdictsOf(report), Text(At(At(report, "drain"), "state")));
  std::string difference = Difference(row, facts, report, words);
  if (difference.empty()) {
    result.state = RowState::kAsExpected;
    result.why = WhyAsExpected(row, report);
    return result;
  }
  if (VoidForTheMachine(report)) result.state = RowState::kBusy;
  const std::string reason = OwnReason(report);
  result.why = difference + (reason.empty() ? "" : "; the run says: " + reason);
  return result;
}

}  // namespace plimsoll::rehearse
