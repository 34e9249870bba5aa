// Reads one recorded session in the "v6" form and in the older "v1": every turn is there twice, a
// streamed try ("s") and the plain call that answered ("n"), with the same prompt. The turn is the
// plain call; the try says when the client asked, so that its delays are true. v1 has no durations.
// Pure: from a parsed document.
#pragma once

#include "common/base/status.h"
#include "common/corpus/json_value.h"
#include "common/corpus/trace_session.h"

namespace plimsoll {

// As ReadTraceV8(), with a note of the tries dropped. Tries and calls alone in their turn stay.
StatusOr<ParsedTrace> ReadTraceV6(const JsonValue& root);

}  // namespace plimsoll
