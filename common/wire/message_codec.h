// The conversation of coordinator and agent as values (common/plan/messages.h) <-> plimsoll.v1
// messages (proto/plimsoll/v1/control.proto). Writing never fails; reading checks every field and
// refuses in words, so that a peer's bytes are never more than a Status.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/plan/messages.h"

namespace plimsoll::v1 {
class AgentMessage;
class CoordinatorMessage;
}  // namespace plimsoll::v1

namespace plimsoll {

// Overwrites what `out` held. Texts (Refuse, AgentFault) are cut to 4,096 bytes of valid UTF-8.
void ToProto(const AgentMessage& message, v1::AgentMessage* out);
void ToProto(const CoordinatorMessage& message, v1::CoordinatorMessage* out);

// InvalidArgument in words. A Hello of another protocol version or build is read like any other:
// the fleet refuses it, naming both.
StatusOr<AgentMessage> FromProto(const v1::AgentMessage& in);
StatusOr<CoordinatorMessage> FromProto(const v1::CoordinatorMessage& in);

// The same as bytes.
std::string EncodeMessage(const AgentMessage& message);
std::string EncodeMessage(const CoordinatorMessage& message);
StatusOr<AgentMessage> DecodeAgentMessage(std::string_view bytes);
StatusOr<CoordinatorMessage> DecodeCoordinatorMessage(std::string_view bytes);

}  // namespace plimsoll
