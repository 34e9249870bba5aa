// Any recording that Plimsoll can import: looks at the content, never at the name, decides on the
// form and reads all sessions in it. Pure: from bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/corpus/trace_session.h"

namespace plimsoll {

enum class TraceForm : std::uint8_t {
  kV8,
  kV6,
  kV1,
  kFlat,
  kWeka,
  kMooncake,
  kMessages,
  kShareGpt,
};

// "v8", "v6", "v1", "flat", "AgentX", "Mooncake", "messages", "ShareGPT".
const char* NameOf(TraceForm form);

struct Recording {
  TraceForm form = TraceForm::kV8;
  std::uint64_t lines = 0;  // Of a file with a document a line; 0: one document.
  std::vector<ParsedTrace> sessions;
  std::vector<ImportNote> notes;  // Of the sessions and of what became none.
};

// `name` stands in front of messages. InvalidArgument with one line, "NAME:LINE: what", for what no
// reader knows, documents of different forms in one file, and whatever the form's reader refuses.
StatusOr<Recording> ReadRecording(std::string_view name, std::string_view bytes);

}  // namespace plimsoll
