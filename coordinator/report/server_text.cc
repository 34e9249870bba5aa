#include "coordinator/report/server_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "coordinator/judge/server_words.h"

namespace plimsoll {

std::string ServerPartText(const ServerSummary& server, std::size_t part) {
  std::string text;
  for (const SourcePart& one : server.parts) {
    if (one.part != part) continue;
    // In these two modes the client's verdict is the part's own, or said in it.
    if (one.source == PartSource::kClient && server.mode != JudgeMode::kServer) continue;
    text += fmt::format("{}{} {}: {}", text.empty() ? "" : "; ", Name(one.source),
                        Name(one.verdict.verdict), one.verdict.reason);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> ServerLines(const ServerSummary& server) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const PartSource source : {PartSource::kEngines, PartSource::kGateway}) {
    const std::string figures = FiguresText(server, source);
    if (!figures.empty()) lines.emplace_back(Name(source), figures);
  }
  for (const TargetOutcome& outcome : server.outcomes) {
    const bool restarted = outcome.continuity == Continuity::kRestarted;
    lines.emplace_back(restarted ? "restarts" : "resets", Words(outcome));
  }
  for (const std::string& finding : server.findings) lines.emplace_back("counters", finding);
  if (!server.ends_why.empty()) {
    lines.emplace_back("sweep", "ends after this step: " + server.ends_why);
  }
  return lines;
}

std::vector<std::string> NotGotLines(const ReportModel& model) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;
  std::size_t asked = 0;
  for (const ReportedStep& step : model.steps) {
    if (!step.summary.server) continue;
    ++asked;
    for (const NotGotSignal& missing : step.summary.server->not_got) {
      const std::string words = Words(missing);
      auto known = std::find_if(lines.begin(), lines.end(),
                                [&](const auto& line) { return line.first == words; });
      if (known == lines.end()) known = lines.insert(lines.end(), {words, {}});
      known->second.push_back(fmt::format("{}", step.summary.plan.sessions));
    }
  }
  std::vector<std::string> out;
  out.reserve(lines.size());
  for (const auto& [words, steps] : lines) {
    out.push_back(steps.size() == asked
                      ? words
                      : fmt::format("{} (at {} sessions)", words, fmt::join(steps, ", ")));
  }
  return out;
}

}  // namespace plimsoll
