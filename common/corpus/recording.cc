#include "common/corpus/recording.h"

#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/corpus/json_value.h"
#include "common/corpus/messages.h"
#include "common/corpus/mooncake.h"
#include "common/corpus/trace_flat.h"
#include "common/corpus/trace_v6.h"
#include "common/corpus/trace_v8.h"
#include "common/corpus/trace_weka.h"

namespace plimsoll {
namespace {

constexpr char kKnown[] =
    "known are sessions with \"requests\" (v8, v6, v1, flat, AgentX), lines with \"input_length\" "
    "and \"hash_ids\" (Mooncake), and conversations with \"messages\" or \"conversations\"";

bool IsBlank(std::string_view text) {
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
}

// Of a document with "requests".
TraceForm TraceFormOf(const JsonValue& root) {
  bool plain = false;      // A call of type "n" or a subagent.
  bool described = false;  // A call that says what kind of turn it is.
  bool timed = false;
  bool tried = false;  // A streamed call.
  if (const auto requests = root.Elements("requests"); requests.ok()) {
    for (const JsonValue& request : *requests) {
      if (!request.Has("type")) continue;
      const StatusOr<std::string_view> type = request.Name("type");
      plain = plain || (type.ok() && (*type == "n" || *type == "subagent"));
      tried = tried || (type.ok() && *type == "s");
      described = described || request.Has("input_types");
      timed = timed || request.Has("api_time") || request.Has("think_time");
    }
  }
  if (!root.Has("hash_id_scope")) return timed ? TraceForm::kV6 : TraceForm::kV1;
  const StatusOr<std::string_view> scope = root.Name("hash_id_scope");
  if (scope.ok() && *scope == "global") {
    const StatusOr<std::uint64_t> tools =
        root.Has("tool_tokens") ? root.Count("tool_tokens", ~std::uint64_t{0}) : std::uint64_t{0};
    return plain || !tried || (tools.ok() && *tools > 0) ? TraceForm::kV6 : TraceForm::kFlat;
  }
  return described || root.Has("totals") || root.Has("tool_tokens") ? TraceForm::kV8
                                                                    : TraceForm::kWeka;
}

std::optional<TraceForm> FormOf(const JsonValue& value) {
  if (value.Has("requests")) return TraceFormOf(value);
  if (value.Has("conversations")) return TraceForm::kShareGpt;
  if (value.Has("messages") || value.Has("body")) return TraceForm::kMessages;
  if (value.Has("input_length") || (value.Has("timestamp") && value.Has("hash_ids"))) {
    return TraceForm::kMooncake;
  }
  return std::nullopt;
}

StatusOr<ParsedTrace> ReadTrace(TraceForm form, const JsonValue& root) {
  switch (form) {
    case TraceForm::kV6:
    case TraceForm::kV1:
      return ReadTraceV6(root);
    case TraceForm::kFlat:
      return ReadTraceFlat(root);
    case TraceForm::kWeka:
      return ReadTraceWeka(root);
    default:
      return ReadTraceV8(root);
  }
}

class Importer {
 public:
  // Reads one document of the file. Messages begin with the place in the document.
  Status Add(const JsonValue& root) {
    if (!root.IsList()) return AddOne(root);
    ASSIGN_OR_RETURN(const std::vector<JsonValue> elements, root.Elements());
    for (const JsonValue& element : elements) RETURN_IF_ERROR(AddOne(element));
    return absl::OkStatus();
  }

  StatusOr<Recording> Finish() {
    if (!form_) return absl::InvalidArgumentError("no session in it");
    recording_.form = *form_;
    if (*form_ == TraceForm::kMooncake) {
      ASSIGN_OR_RETURN(recording_.sessions, mooncake_.Take());
    }
    for (const ParsedTrace& session : recording_.sessions) {
      for (const ImportNote& note : session.notes) {
        AddNote(note.count, note.what, &recording_.notes);
      }
    }
    return std::move(recording_);
  }

 private:
  Status AddOne(const JsonValue& value) {
    if (!value.IsObject()) {
      return value.Expected("an object with a session's fields");
    }
    const std::optional<TraceForm> form = FormOf(value);
    if (!form) return value.Wrong(fmt::format("no recording that is known; {}", kKnown));
    if (form_ && *form_ != *form) {
      return value.Wrong(fmt::format("of the {} form, what came before is of the {} form",
                                     NameOf(*form), NameOf(*form_)));
    }
    form_ = form;
    if (*form == TraceForm::kMooncake) return mooncake_.Add(value);
    StatusOr<ParsedTrace> parsed = ParsedTrace();
    if (*form == TraceForm::kMessages || *form == TraceForm::kShareGpt) {
      parsed = ReadMessages(value, ++conversations_);
    } else {
      parsed = ReadTrace(*form, value);
    }
    if (!parsed.ok()) return parsed.status();
    if (parsed->session.calls.empty()) {
      for (const ImportNote& note : parsed->notes) {
        AddNote(note.count, note.what, &recording_.notes);
      }
      return absl::OkStatus();
    }
    recording_.sessions.push_back(*std::move(parsed));
    return absl::OkStatus();
  }

  std::optional<TraceForm> form_;
  std::uint64_t conversations_ = 0;
  MooncakeReader mooncake_;
  Recording recording_;
};

// "NAME:LINE: what", the line that of the place that the message begins with.
Status AtLine(const Status& status, std::string_view name, std::uint64_t first_line,
              std::string_view text) {
  const std::uint64_t line = first_line + LineOfPlace(text, MessageOf(status)) - 1;
  return Annotate(status, fmt::format("{}:{}", name, line));
}

// Whether the first line is a document and others follow it.
bool HasADocumentALine(std::string_view bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos || IsBlank(bytes.substr(end))) return false;
  const std::string_view first = bytes.substr(0, end);
  return !IsBlank(first) && JsonDocument::Parse(first).ok();
}

}  // namespace

const char* NameOf(TraceForm form) {
  switch (form) {
    case TraceForm::kV8:
      return "v8";
    case TraceForm::kV6:
      return "v6";
    case TraceForm::kV1:
      return "v1";
    case TraceForm::kFlat:
      return "flat";
    case TraceForm::kWeka:
      return "AgentX";
    case TraceForm::kMooncake:
      return "Mooncake";
    case TraceForm::kMessages:
      return "messages";
    case TraceForm::kShareGpt:
      return "ShareGPT";
  }
  return "unknown";
}

StatusOr<Recording> ReadRecording(std::string_view name, std::string_view bytes) {
  Importer importer;
  std::uint64_t lines = 0;
  if (!HasADocumentALine(bytes)) {
    const StatusOr<JsonDocument> document = JsonDocument::Parse(bytes);
    if (!document.ok()) return AtLine(document.status(), name, 1, bytes);
    const Status added = importer.Add(document->root());
    if (!added.ok()) return AtLine(added, name, 1, bytes);
  } else {
    for (std::uint64_t number = 1; !bytes.empty(); ++number) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size());
      const std::string_view line = bytes.substr(0, end);
      bytes.remove_prefix(std::min(end + 1, bytes.size()));
      if (IsBlank(line)) continue;
      ++lines;
      const StatusOr<JsonDocument> document = JsonDocument::Parse(line);
      if (!document.ok()) return AtLine(document.status(), name, number, "");
      const Status added = importer.Add(document->root());
      if (!added.ok()) return AtLine(added, name, number, "");
    }
  }
  StatusOr<Recording> recording = importer.Finish();
  if (!recording.ok()) return AtLine(recording.status(), name, 1, "");
  recording->lines = lines;
  return recording;
}

}  // namespace plimsoll
