// One question to a live coordinator's HTTP interface, for the commands that ask it first.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

enum class AnswerForm : std::uint8_t { kText, kJson };

// The body of the page, "/api/v1/…". Unavailable: nobody answers there, or not in time; else what
// the coordinator said is wrong, in its words: NotFound, InvalidArgument or Internal.
StatusOr<std::string> AskCoordinator(const std::string& address, std::string_view target,
                                     AnswerForm form);

// Anything as one segment of a path.
std::string EscapeSegment(std::string_view text);

}  // namespace plimsoll
