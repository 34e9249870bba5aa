#include "coordinator/api/api_json.h"

#include <google/protobuf/util/json_util.h>

#include "common/base/text.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {

StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto printed = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (printed.ok()) return json;
  return absl::InternalError("an answer cannot be printed as JSON: " + printed.ToString());
}

std::string_view CodeName(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case absl::StatusCode::kNotFound:
      return "NOT_FOUND";
    case absl::StatusCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case absl::StatusCode::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case absl::StatusCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case absl::StatusCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case absl::StatusCode::kUnimplemented:
      return "UNIMPLEMENTED";
    case absl::StatusCode::kUnavailable:
      return "UNAVAILABLE";
    case absl::StatusCode::kDataLoss:
      return "DATA_LOSS";
    case absl::StatusCode::kInternal:
      return "INTERNAL";
    default:
      return "UNKNOWN";
  }
}

std::string ErrorJson(const Status& status) {
  v1::ErrorAnswer answer;
  answer.set_code(std::string(CodeName(status.code())));
  answer.set_message(ValidUtf8(MessageOf(status)));
  // Two texts of valid UTF-8 can always be printed.
  return ToJson(answer).value_or(R"({"code":"INTERNAL","message":"no words for this error"})") +
         "\n";
}

}  // namespace plimsoll
