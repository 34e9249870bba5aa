#include "coordinator/cli/signals_text.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll {
namespace {

std::string KindOf(const MappingSpec& mapping) {
  return mapping.file.empty() ? mapping.kind : "mapping " + mapping.file;
}

std::string JudgeWords(JudgeMode mode) {
  switch (mode) {
    case JudgeMode::kClient:
      return "judge: client: the client's numbers decide, the servers' are kept beside them";
    case JudgeMode::kServer:
      return "judge: server: the servers' numbers decide, the client's say how much load was sent";
    case JudgeMode::kBoth:
      return "judge: both: where servers cannot say or decide, the client's verdict stands";
  }
  return {};
}

std::string PrometheusWords(const PrometheusSpec& spec) {
  std::vector<std::string> sources;
  for (const PrometheusSourceSpec& source : spec.sources) {
    if (!source.optional) {
      sources.push_back(fmt::format("{} ({})", source.source, KindOf(source.mapping)));
    }
  }
  return fmt::format(
      "Prometheus at {}, asked every {} for {}: pages as it read them, at its own interval, not at "
      "a block's edges",
      spec.url, ShortTime(spec.every),
      sources.empty() ? std::string("every kind that is built in")
                      : fmt::format("{}", fmt::join(sources, ", ")));
}

}  // namespace

std::string SignalsText(const SignalsSpec& signals) {
  std::string text;
  std::string label = "signals";
  for (const SignalTargetSpec& target : signals.targets) {
    const bool plain = target.url.find("//" + target.name + "/") != std::string::npos;
    text += LabelledLine(label, fmt::format("{}: {}{} ({})", target.source,
                                            plain ? std::string() : target.name + " at ",
                                            target.url, KindOf(target.mapping)));
    label.clear();
  }
  if (signals.prometheus.has_value()) {
    text += LabelledLine(label, PrometheusWords(*signals.prometheus));
    label.clear();
  }
  const std::string every = signals.targets.empty()
                                ? std::string()
                                : fmt::format("each page every {}, at most {} for an answer; ",
                                              ShortTime(signals.every), ShortTime(signals.timeout));
  return text + LabelledLine(label, every + JudgeWords(signals.judge));
}

std::string FirstReadText(const std::vector<Finding>& findings,
                          const std::vector<std::string>& decidability) {
  std::string text = "\nwhat the servers say now\n";
  for (const Finding& finding : findings) {
    const char* label = finding.level == FindingLevel::kOk        ? "read"
                        : finding.level == FindingLevel::kWarning ? "warning"
                                                                  : "blocks";
    text += LabelledLine(label, finding.text);
  }
  for (const std::string& line : decidability) text += LabelledLine("buckets", line);
  return text;
}

}  // namespace plimsoll
