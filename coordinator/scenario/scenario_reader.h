// YAML text to Scenario. Pure over text: no file is opened, no variable of the environment read.
//
// Its keys and defaults are those of docs/scenario.md, which scenario_doc_test holds to this
// reader.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/config/problems.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

// `folder` is where the scenario file lies ("" for the working folder): relative paths in it are
// relative to that. All problems, cross-field rules included, are added to `problems`; if there is
// any, the result is not to be used.
Scenario ReadScenario(std::string_view text, std::string_view folder, Problems& problems);

// The same with the problems as a status: InvalidArgument, one "file:line: path: …" a line.
StatusOr<Scenario> ParseScenario(std::string_view text, const std::string& file,
                                 std::string_view folder);

}  // namespace plimsoll
