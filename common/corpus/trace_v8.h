// Reads one recorded session in the "v8" form (one JSON file a session) into a Session, with the
// corrections that the recordings need: true starts of subagents, client delays derived from times,
// imputed durations, joins. Pure: from bytes.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/status.h"
#include "common/corpus/json_value.h"
#include "common/corpus/trace_session.h"

namespace plimsoll {

// The largest known trace is 30 MB.
inline constexpr std::size_t kTraceBytesMax = std::size_t{256} << 20;

// InvalidArgument with one line that says what is wrong and where ("requests[12].in: …"): not JSON,
// cut, wrong types, another form, a broken prefix chain, lengths or totals that do not add up, time
// running backward, sizes beyond common/base/limits.h.
StatusOr<ParsedTrace> ParseTraceV8(std::string_view json);
// The same of a document that was parsed.
StatusOr<ParsedTrace> ReadTraceV8(const JsonValue& root);

}  // namespace plimsoll
