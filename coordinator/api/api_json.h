// Messages of the API as JSON, by protobuf's own mapping with the names of the fields as they stand
// in api.proto: 64-bit integers are strings, instants RFC 3339, enums their names, zeros are said,
// what is absent is left out.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace google::protobuf {
class Message;
}

namespace plimsoll {

// One line, without an end. Internal: a message that protobuf cannot print, which is a fault of
// ours.
StatusOr<std::string> ToJson(const google::protobuf::Message& message);

// "NOT_FOUND": the name that gRPC gives the code.
std::string_view CodeName(absl::StatusCode code);

// The body of an answer that is an error, one line and its end.
std::string ErrorJson(const Status& status);

}  // namespace plimsoll
