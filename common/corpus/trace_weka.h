// Reads one recorded session in the AgentX ("weka") form: calls and subagent entries as in v8, but
// without the kinds of turns, totals and prefix sizes, prompts in whole blocks, ids from 0, and
// most of the calls in subagents that run side by side. Pure: from a parsed document.
#pragma once

#include "common/base/status.h"
#include "common/corpus/json_value.h"
#include "common/corpus/trace_session.h"

namespace plimsoll {

// As ReadTraceV8(). The time of each subagent entry is decided by its content: inner times before
// the entry's are relative to the subagent's start, and a completed entry's time is then its end;
// else inner times are absolute and the entry's is the first one's. Parents and joins follow from
// the times.
StatusOr<ParsedTrace> ReadTraceWeka(const JsonValue& root);

}  // namespace plimsoll
