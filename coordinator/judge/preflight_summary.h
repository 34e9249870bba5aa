// What preflight found of a deployment, as values: kept with the run, printed in its report, used
// by the steps that follow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/plan/template_fit.h"

namespace plimsoll {

// Stored: never renumber.
enum class FindingLevel : std::uint8_t {
  kOk = 1,
  kWarning = 2,   // The run goes on; whoever reads its numbers must know.
  kBlocking = 3,  // The run does not begin.
};
// "ok", "warning", "blocking".
inline const char* Name(FindingLevel level) {
  return level == FindingLevel::kOk        ? "ok"
         : level == FindingLevel::kWarning ? "warning"
                                           : "blocking";
}

struct Finding {
  FindingLevel level = FindingLevel::kOk;
  std::string text;  // One line: what was found, and what to do if something is to be done.
  friend bool operator==(const Finding&, const Finding&) = default;
};

struct PreflightSummary {
  std::vector<Finding> findings;   // In the order in which they were made.
  std::optional<TemplateFit> fit;  // Absent: usage did not allow one.
  // Switches of the output's length that the deployment honours.
  bool min_tokens = false;
  bool ignore_eos = false;
  friend bool operator==(const PreflightSummary&, const PreflightSummary&) = default;
};

}  // namespace plimsoll
