// A run as GitHub-flavoured Markdown: for a job's summary ($GITHUB_STEP_SUMMARY) or a comment. It
// can be made of a run that goes on, and grows with it: a row a phase that is over, a row a step.
#pragma once

#include <string>
#include <string_view>

#include "coordinator/report/report_model.h"

namespace plimsoll {

// The verdict first, then the phases, the steps, and what decided each. Ends with a newline. Pure.
std::string MarkdownReport(const ReportModel& model);

// `text` within a line or a table's cell: one line, nothing in it is markup, a link or a mention.
std::string MarkdownEscaped(std::string_view text);

}  // namespace plimsoll
