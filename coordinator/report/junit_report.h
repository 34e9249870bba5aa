// A run as JUnit XML, for CI: a suite a run; its first case is the verdict, then a case for each
// step and for each limit of the bar in it. What fails the suite is what the exit code is about, no
// more (docs/ci.md): a sweep looks for the step that misses, so a miss beyond the target is
// skipped, with its reason. Too close to call is a failure, a missing measurement an error; neither
// passes.
#pragma once

#include <string>
#include <string_view>

#include "coordinator/report/report_model.h"

namespace plimsoll {

// A document of XML 1.0 in UTF-8, whatever bytes the run's texts hold. Pure.
std::string JunitReport(const ReportModel& model);

// `text` as it stands within a quoted attribute: markup and line breaks escaped, what XML 1.0
// forbids (most control characters, U+FFFE, U+FFFF, bytes that are no UTF-8) replaced by U+FFFD.
std::string XmlEscaped(std::string_view text);

}  // namespace plimsoll
